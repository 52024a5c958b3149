// The tool servers of a conversation that run as programs on its runner. They live as long as the runner keeps the
// conversation: a program is started once and serves one turn after the other, over evictions of this object and lost
// connections. A tool call is an effect with a key: it is stored before it is sent, and after a restart the runner is
// asked for its outcome.

import { errorFields, log } from '../../../../src/lib/log.ts'
import { waitAtMost } from '../../../../src/lib/wait-at-most.ts'
import { messagesIn, type ProcessSession, type ToolProcesses } from '../../../../src/mcp/process-session.ts'
import type { ProcessServer } from '../../../../src/mcp/remote-server.ts'
import { McpFailure, NotAsked } from '../../../../src/mcp/wire.ts'
import { NoAnswer, RpcError } from '../../../../src/runners/rpc.ts'
import { callIdOf, isAnswerTo, piecesOf, ServerMessages } from '../../../../src/runners/server-messages.ts'
import {
  MAX_SERVER_MESSAGE_BYTES,
  RPC_ERRORS,
  ServerCallState,
  type ServerExited,
  type ServerMessage,
} from '../../../../src/runners/wire.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import { linked, NewestCall, type ProcessLink, type ProcessRecord, StartedPrograms } from './tool-programs.ts'

type Deps = {
  record: StoredRecord<ProcessRecord>
  /** Resolves when the runner is connected; throws an `McpFailure` with the reason when none is. */
  ready(): Promise<void>
  /** Whether the runner that a call was sent to is connected again, within the time that a call waits for it. */
  comesBack(): Promise<boolean>
  /** The call ends without its outcome, which its runner may still report. */
  gaveUp(call: GivenUpCall): void
  /** Null while no runner is connected. */
  link(): ProcessLink | null
  /** Brings the runner's copy of the workspace up to date. */
  bringUp(): Promise<void>
  maskText(text: string): string
}

/** `message`: the request to the program; null when only an earlier instance of this object knew it. */
export type GivenUpCall = { key: string; server: string; life: string; message: string | null }

type Session = {
  readonly id: string
  readonly life: string
  receive: (message: string) => void
  readonly fail: (why: string) => void
  /** The open call, as it was sent to the program. */
  asked: { readonly key: string; readonly message: string } | null
  /** Called when the connection is lost and no call is open: the session can safely begin again. */
  readonly again?: (why: string) => void
}

const LOST = 'The connection to the runner was lost'
const GONE =
  'The runner was lost in the call. What the call did is not known; it was not made again. If the runner comes back and knows the outcome, that is told then.'
const SHOWN_STDERR_CHARS = 600
/** A program that does not answer a ping within this time, after a call was abandoned, counts as hanging. */
const ALIVE_WITHIN_MS = 5_000
const METHOD_NOT_FOUND = { code: -32601, message: 'not taken here' }

export class ConversationProcesses implements ToolProcesses {
  readonly call: NewestCall
  readonly programs: StartedPrograms
  readonly #deps: Deps
  readonly #sessions = new Set<Session>()
  readonly #coming = new ServerMessages()
  /** One at a time for each server: only one caller may start and initialise it. */
  readonly #turns = new Map<string, Promise<void>>()
  /** Servers whose last call was abandoned, by a stop or a timeout: they may hang. */
  readonly #left = new Set<string>()
  #isReturnAwaited = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.call = new NewestCall(deps.record)
    this.programs = new StartedPrograms(deps)
  }

  async #ready(server: string, effect: string | null): Promise<void> {
    const life = this.call.lifeOf(effect)
    if (life === null || effect === null) return this.#deps.ready()
    const isBack = await this.#deps.comesBack()
    if (isBack && this.#deps.link()?.life === life) return
    if (!isBack) this.#deps.gaveUp({ key: effect, server, life, message: null })
    this.call.over()
    throw new McpFailure(GONE)
  }

  async open(server: ProcessServer, effect: string | null): Promise<ProcessSession> {
    const { id } = server
    await this.#ready(id, effect)
    const before = this.#turns.get(id) ?? Promise.resolve()
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    this.#turns.set(id, over)
    await before
    try {
      if (this.#left.delete(id)) await this.#endHung(id)
      const life = await this.programs.start(server)
      const session = this.#session({ id, life, effect }, end)
      if (session.greeting !== null) end()
      return session
    } catch (error) {
      end()
      throw error instanceof McpFailure ? error : new McpFailure(whyNotStarted(error))
    }
  }

  /** A message of a program, or a part of one. */
  received(piece: ServerMessage): void {
    const message = this.#coming.add(piece)
    if (message === null) return
    const sessions = [...this.#sessions].filter(({ id }) => id === piece.name)
    for (const { receive } of sessions) receive(message)
    if (sessions.length === 0) this.#answerAlone(piece.name, message)
  }

  exited({ name, code, signal, stderr }: ServerExited): void {
    this.#coming.forget(name)
    this.programs.forget(name)
    const why = this.#endText({ code, signal, stderr })
    for (const session of [...this.#sessions].filter(({ id }) => id === name)) {
      // It was killed before it got a call, so another one is started.
      if (signal !== null && session.asked === null && session.again !== undefined) session.again(why)
      else session.fail(why)
    }
  }

  #endText({ code, signal, stderr }: Omit<ServerExited, 'name'>): string {
    const how = signal === null ? (code === null ? '' : ` (exit code ${code})`) : ` (${signal})`
    const last = this.#deps.maskText(stderr.trim()).slice(-SHOWN_STDERR_CHARS)
    return `The program ended${how}${last === '' ? '' : `: ${last}`}`
  }

  /**
   * A runner has said hello, or its connection is lost. Programs of an earlier runner process are gone; those of this
   * process still run.
   */
  linkChanged(): void {
    this.#coming.forget()
    const link = this.#deps.link()
    if (link === null) return void this.#awaitReturn()
    this.#gone(({ life }) => life !== link.life)
    // Messages that were sent when the connection was lost did not arrive.
    for (const session of this.#sessions) {
      if (session.asked !== null) void this.#ask(session)
      else session.again?.(LOST)
    }
  }

  /** A restarted runner has no ticket: it must be asked to connect while a session waits for one of its programs. */
  async #awaitReturn(): Promise<void> {
    if (this.#sessions.size === 0 || this.#isReturnAwaited) return
    this.#isReturnAwaited = true
    try {
      // Sessions that were added meanwhile waited for the same runner.
      if (!(await this.#deps.comesBack())) this.#goneWithout()
    } catch (error) {
      log.warn('tool_server.runner_not_asked', errorFields(error))
    } finally {
      this.#isReturnAwaited = false
    }
  }

  #session(of: { id: string; life: string; effect: string | null }, end: () => void): ProcessSession {
    const { id, life, effect } = of
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const fail = (why: string) => {
      session.asked = null
      reject(new McpFailure(why))
    }
    const again = (why: string) => reject(new NotAsked(why))
    const session: Session = { id, life, receive: () => {}, fail, asked: null, again }
    this.#sessions.add(session)
    return {
      greeting: this.programs.greetingOf(id),
      ended,
      callId: effect === null ? null : callIdOf(effect),
      sendCall: (message) => this.#sendCall(session, { key: effect ?? '', message }),
      answered: () => {
        session.asked = null
        this.call.over()
      },
      greeted: (answer) => {
        this.programs.greeted(id, answer)
        end()
      },
      listen: (receive) => {
        session.receive = receive
      },
      send: (message) => this.#send(id, message),
      close: () => {
        this.#sessions.delete(session)
        if (session.asked !== null) this.#left.add(id)
        if (effect !== null) this.call.passed('')
        end()
      },
    }
  }

  #sendCall(session: Session, asked: { key: string; message: string }): void {
    session.asked = asked
    if (this.call.lifeOf(asked.key) !== null) return void this.#ask(session)
    this.call.sent(asked.key, session.life)
    const link = this.#deps.link()
    // If the connection was lost meanwhile, the state of the call is asked for over the next one.
    if (link !== null && link.life === session.life) this.#send(session.id, asked.message)
  }

  /** Asks what became of the call; sends it again if it never arrived. */
  async #ask(session: Session): Promise<void> {
    const link = this.#deps.link()
    const { asked } = session
    if (link === null || asked === null || link.life !== session.life) return
    const query = { name: session.id, id: callIdOf(asked.key) }
    try {
      const { state, end } = await link.peer.call('server/query', query, ServerCallState)
      if (session.asked !== asked) return
      if (state === 'unknown') this.#send(session.id, asked.message)
      if (state === 'ended') session.fail(this.#endText(end ?? { code: null, signal: null, stderr: '' }))
    } catch (error) {
      // The next connection asks again. If the connection is still the same, the machine was only slow, so it is asked
      // again now.
      const isLate = error instanceof NoAnswer && this.#deps.link()?.peer === link.peer
      if (isLate && this.#sessions.has(session)) return this.#ask(session)
      if (error instanceof NoAnswer || error instanceof McpFailure) return
      // A runner of an earlier release does not know this method; it may have made the call.
      const isOlder = error instanceof RpcError && error.code === RPC_ERRORS.methodNotFound
      if (!isOlder) log.warn('tool_server.not_asked', errorFields(error))
      session.fail(GONE)
    }
  }

  /**
   * After an abandoned call a program may still work, or it hangs. If it hangs, it is stopped, so that it is started
   * again.
   */
  async #endHung(name: string): Promise<void> {
    const link = this.#deps.link()
    if (link === null || !this.programs.has(name)) return
    const id = `alive:${crypto.randomUUID()}`
    const { promise: alive, resolve } = Promise.withResolvers<void>()
    let isAlive = false
    const receive = (message: string) => {
      if (!isAnswerTo(id, message)) return
      isAlive = true
      resolve()
    }
    const listener: Session = { id: name, life: link.life, receive, fail: () => resolve(), asked: null }
    this.#sessions.add(listener)
    this.#send(name, JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }))
    await waitAtMost(ALIVE_WITHIN_MS, alive)
    this.#sessions.delete(listener)
    if (isAlive) return
    log.info('tool_server.hung', { name })
    await this.programs.stop(link.peer, name)
  }

  #send(name: string, message: string): void {
    if (message.length > MAX_SERVER_MESSAGE_BYTES)
      throw new McpFailure(`A message to a tool server has at most ${MAX_SERVER_MESSAGE_BYTES} characters`)
    const { peer } = linked(this.#deps.link())
    for (const piece of piecesOf(name, message)) peer.tell('server/message', piece)
  }

  /** Answers requests of programs for which there is no session. */
  #answerAlone(name: string, text: string): void {
    const link = this.#deps.link()
    for (const { id, method } of messagesIn(text)) {
      if (id === undefined || method === undefined || link === null) continue
      const answer = method === 'ping' ? { result: {} } : { error: METHOD_NOT_FOUND }
      for (const piece of piecesOf(name, JSON.stringify({ jsonrpc: '2.0', id, ...answer })))
        link.peer.tell('server/message', piece)
    }
  }

  /** The runner did not come back: it may be dead, or only disconnected. */
  #goneWithout(): void {
    for (const { id: server, life, asked } of this.#sessions)
      if (asked !== null) this.#deps.gaveUp({ server, life, ...asked })
    this.#gone(() => true)
  }

  /** The program is gone with its runner: open calls are lost, sessions without an open call begin again. */
  #gone(isOne: (session: Session) => boolean): void {
    for (const session of [...this.#sessions].filter(isOne)) {
      if (session.asked === null && session.again !== undefined) session.again(LOST)
      else session.fail(GONE)
    }
  }
}

function whyNotStarted(error: unknown): string {
  if (error instanceof RpcError) return `The runner does not start it: ${error.message}`
  return 'The runner did not answer'
}
