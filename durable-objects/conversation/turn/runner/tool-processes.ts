// The tool servers of a conversation that are programs on its runner. They live as long as the runner keeps the conversation:
// a program is started once, and asked by one turn after the other, over evictions of this object and lost connections.

import { z } from 'zod'
import { sha256Hex } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { messagesIn, type ProcessSession, type ToolProcesses } from '../../../../src/mcp/process-session.ts'
import type { ProcessServer } from '../../../../src/mcp/remote-server.ts'
import { McpFailure } from '../../../../src/mcp/wire.ts'
import { RpcError, type RpcPeer } from '../../../../src/runners/rpc.ts'
import { piecesOf, ServerMessages } from '../../../../src/runners/server-messages.ts'
import { MAX_SERVER_MESSAGE_BYTES, type ServerExited, type ServerMessage } from '../../../../src/runners/wire.ts'
import type { StoredRecord } from '../../../stored-record.ts'

/** What was started in which life of the runner. `program`: a hash, because variables and arguments may hold keys. */
export type ProcessRecord = {
  life: string
  servers: Record<string, { program: string; greeting: unknown }>
}

export const NO_PROCESSES: ProcessRecord = { life: '', servers: {} }

export type ProcessLink = { readonly peer: RpcPeer; readonly life: string }

type Deps = {
  record: StoredRecord<ProcessRecord>
  /** Resolves when the runner is there; throws an `McpFailure` that says why none is. */
  ready(): Promise<void>
  /** Null while no runner is connected. */
  link(): ProcessLink | null
  /** Brings the runner's copy of the workspace up to date. */
  bringUp(): Promise<void>
  maskText(text: string): string
}

type Session = { id: string; life: string; receive: (message: string) => void; fail: (why: string) => void }

const GONE = 'The runner was lost in the call. What the call did is not known; it was not made again.'
const SHOWN_STDERR_CHARS = 600
const METHOD_NOT_FOUND = { code: -32601, message: 'not taken here' }

export class ConversationProcesses implements ToolProcesses {
  readonly #deps: Deps
  readonly #sessions = new Set<Session>()
  readonly #coming = new ServerMessages()
  /** One after the other for each server: only one may start and initialise it. */
  readonly #turns = new Map<string, Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async open(server: ProcessServer): Promise<ProcessSession> {
    await this.#deps.ready()
    const { id } = server
    const before = this.#turns.get(id) ?? Promise.resolve()
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    this.#turns.set(id, over)
    await before
    try {
      const life = await this.#started(server)
      const session = this.#session(id, life, end)
      if (session.greeting !== null) end()
      return session
    } catch (error) {
      end()
      throw error instanceof McpFailure ? error : new McpFailure(whyNotStarted(error))
    }
  }

  /** A message of a program, or a piece of one. */
  received(piece: ServerMessage): void {
    const message = this.#coming.add(piece)
    if (message === null) return
    const sessions = [...this.#sessions].filter(({ id }) => id === piece.name)
    for (const { receive } of sessions) receive(message)
    if (sessions.length === 0) this.#answerAlone(piece.name, message)
  }

  exited({ name, code, signal, stderr }: ServerExited): void {
    this.#coming.forget(name)
    const { [name]: _ended, ...servers } = this.#deps.record.value.servers
    this.#deps.record.change({ servers })
    const how = signal === null ? (code === null ? '' : ` (exit code ${code})`) : ` (${signal})`
    const last = this.#deps.maskText(stderr.trim()).slice(-SHOWN_STDERR_CHARS)
    this.#fail(({ id }) => id === name, `The program ended${how}${last === '' ? '' : `: ${last}`}`)
  }

  /** A runner has said hello, or its connection is gone: programs of another life are gone, those of this one still run. */
  linkChanged(): void {
    this.#coming.forget()
    const link = this.#deps.link()
    if (link !== null) this.#fail(({ life }) => life !== link.life, GONE)
  }

  /** Stops the programs that are none of these servers. */
  only(servers: readonly ProcessServer[]): void {
    const { life, servers: started } = this.#deps.record.value
    const link = this.#deps.link()
    const kept = Object.entries(started).filter(([id]) => servers.some((server) => server.id === id))
    if (kept.length === Object.keys(started).length || link === null || link.life !== life) return
    for (const id of Object.keys(started)) if (!kept.some(([name]) => name === id)) void this.#stop(link.peer, id)
    this.#deps.record.change({ servers: Object.fromEntries(kept) })
  }

  async #stop(peer: RpcPeer, name: string): Promise<void> {
    try {
      await peer.call('server/stop', { name }, z.unknown())
    } catch (error) {
      log.info('tool_server.not_stopped', errorFields(error))
    }
  }

  /** The life of the runner in which it runs. */
  async #started({ id, program }: ProcessServer): Promise<string> {
    const { name: _label, ...started } = program
    const hash = await sha256Hex(JSON.stringify(started))
    const { peer, life } = this.#linked()
    const { record } = this.#deps
    const known = record.value.life === life ? record.value.servers : {}
    if (known[id]?.program === hash) return life
    await this.#deps.bringUp()
    const { args, env, command } = program
    await peer.call('server/start', { name: id, command, args: [...args], env: { ...env } }, z.unknown())
    const others = record.value.life === life ? record.value.servers : {}
    record.change({ life, servers: { ...others, [id]: { program: hash, greeting: null } } })
    return life
  }

  #linked(): ProcessLink {
    const link = this.#deps.link()
    if (link === null) throw new McpFailure('The runner is not connected')
    return link
  }

  #session(id: string, life: string, end: () => void): ProcessSession {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const session: Session = { id, life, receive: () => {}, fail: (why) => reject(new McpFailure(why)) }
    this.#sessions.add(session)
    const greeting = this.#deps.record.value.servers[id]?.greeting ?? null
    return {
      greeting,
      ended,
      greeted: (answer) => {
        const { servers } = this.#deps.record.value
        const started = servers[id]
        if (started !== undefined)
          this.#deps.record.change({ servers: { ...servers, [id]: { ...started, greeting: answer } } })
        end()
      },
      listen: (receive) => {
        session.receive = receive
      },
      send: (message) => this.#send(id, message),
      close: () => {
        this.#sessions.delete(session)
        end()
      },
    }
  }

  #send(name: string, message: string): void {
    if (message.length > MAX_SERVER_MESSAGE_BYTES)
      throw new McpFailure(`A message to a tool server has at most ${MAX_SERVER_MESSAGE_BYTES} characters`)
    const { peer } = this.#linked()
    for (const piece of piecesOf(name, message)) peer.tell('server/message', piece)
  }

  /** Programs ask too, whether anybody is there for one. */
  #answerAlone(name: string, text: string): void {
    const link = this.#deps.link()
    for (const { id, method } of messagesIn(text)) {
      if (id === undefined || method === undefined || link === null) continue
      const answer = method === 'ping' ? { result: {} } : { error: METHOD_NOT_FOUND }
      for (const piece of piecesOf(name, JSON.stringify({ jsonrpc: '2.0', id, ...answer })))
        link.peer.tell('server/message', piece)
    }
  }

  #fail(isOne: (session: Session) => boolean, why: string): void {
    for (const session of [...this.#sessions].filter(isOne)) session.fail(why)
  }
}

function whyNotStarted(error: unknown): string {
  if (error instanceof RpcError) return `The runner does not start it: ${error.message}`
  return 'The runner did not answer'
}
