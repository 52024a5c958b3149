// Outcomes that arrive when nobody waits for them any more: the call was given up because its runner was away, but the
// runner is alive. It may reconnect and report them, over the conversation's connection or, when another runner has
// that, over a connection of its own (`late-door.ts`). Each outcome becomes one event.

import { z } from 'zod'
import { cutMiddle } from '../../../../src/agent/observations.ts'
import type { RunnerCall } from '../../../../src/agent/runtime.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { messagesIn } from '../../../../src/mcp/process-session.ts'
import { cellOutputIn, plainOutput } from '../../../../src/runners/output.ts'
import { BROWSER_KIND } from '../../../../src/runners/page.ts'
import type { RpcPeer } from '../../../../src/runners/rpc.ts'
import { callIdOf, ServerMessages } from '../../../../src/runners/server-messages.ts'
import {
  type CallEnded,
  type CallOutcome,
  CELL_KINDS,
  type RunnerDescription,
  ServerCallState,
  type ServerMessage,
  type SessionHello,
  type TransferStored,
} from '../../../../src/runners/wire.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import type { RunnerCalls } from './runner-calls.ts'
import type { GivenUpCall } from './tool-processes.ts'

type LateCall = {
  readonly key: string
  readonly runner: { readonly id: string; readonly name: string }
  readonly kind: RunnerCall['kind'] | 'tool'
  /** For a tool call: its program, and the life of the runner process that got the call. */
  readonly server: { readonly id: string; readonly life: string } | null
  /** The beginning of the command, to show. */
  readonly what: string
  /** For its output: the number of the next piece, and the bytes that came since the call was given up. */
  readonly nextSeq: number
  readonly total: number
}
export type LateRecord = {
  calls: readonly LateCall[]
  /** Which runner got which ticket, by the hash of the ticket's secret, the newest last. */
  tickets: readonly { readonly runner: string; readonly hash: string }[]
}

export const NONE_LATE: LateRecord = { calls: [], tickets: [] }

/** Per conversation; the oldest are dropped. */
const MAX_LATE = 16
/** A runner that was asked several times may hold any of these. */
const MAX_TICKETS = 64
const SHOWN_CHARS = 200

export type LateDeps = {
  ctx: DurableObjectState
  record: StoredRecord<LateRecord>
  calls: RunnerCalls
  /** The runner that has the conversation. */
  runner(): RunnerDescription | null
  /** Adds an event to the conversation. Its text is masked where it is stored. */
  tell(text: string): void
  maskText(text: string): string
}

export class LateOutcomes {
  readonly #deps: LateDeps
  readonly #coming = new ServerMessages()

  constructor(deps: LateDeps) {
    this.#deps = deps
  }

  /** The runner was given this ticket, or is about to get it. */
  gave(runner: string, hash: string): void {
    const { tickets } = this.#deps.record.value
    if (tickets.some((one) => one.hash === hash)) return
    this.#deps.record.change({ tickets: [...tickets, { runner, hash }].slice(-MAX_TICKETS) })
  }

  /** Keeps the call, because it may still have an outcome; its waiters will forget it next. */
  gaveUp({ key, kind, text }: RunnerCall): void {
    const runner = this.#deps.runner()
    const begun = this.#deps.calls.get(key)
    if (begun === null || runner === null || begun.runner !== runner.id) return
    const { id, name } = runner
    const what = this.#deps.maskText(shownOf(text))
    this.#add({ key, runner: { id, name }, kind, what, server: null, nextSeq: begun.next_seq, total: 0 })
  }

  gaveUpTool({ key, server: id, life, message }: GivenUpCall): void {
    const runner = this.#deps.runner()
    if (runner === null) return
    const asked = message === null ? 'a call of a tool' : this.#deps.maskText(shownOf(paramsIn(message)))
    const of = { id: runner.id, name: runner.name }
    this.#add({ key, runner: of, kind: 'tool', what: asked, server: { id, life }, nextSeq: 0, total: 0 })
  }

  #add(late: LateCall): void {
    const calls = [...this.#deps.record.value.calls.filter(({ key }) => key !== late.key), late]
    this.#change(calls.slice(-MAX_LATE))
    for (const old of calls.slice(0, -MAX_LATE)) this.#deps.calls.forgetOutput(old.key)
  }

  /** The runner that got this ticket; null when none did. */
  holderOf(hash: string): string | null {
    return this.#deps.record.value.tickets.find((one) => one.hash === hash)?.runner ?? null
  }

  /** Whether the runner may have outcomes to report. */
  isAwaited(runner: string): boolean {
    return this.#deps.record.value.calls.some((late) => late.runner.id === runner)
  }

  /** Revokes all tickets. */
  forgetTickets(): void {
    if (this.#deps.record.value.tickets.length > 0) this.#deps.record.change({ tickets: [] })
  }

  /**
   * Stores a piece of output, from either connection. Null for a call that is not late, false when pieces before it are
   * missing.
   */
  output({ key, seq }: { key: string; seq: number }, bytes: Uint8Array, runner = this.#current): boolean | null {
    const late = this.#late(key)
    if (late?.runner.id !== runner || late.server !== null) return null
    if (seq > late.nextSeq) return false
    if (seq < late.nextSeq) return true
    this.#deps.calls.keep(key, bytes, { at: late.total, isCell: isStructured(late) })
    const now = { ...late, nextSeq: seq + 1, total: late.total + bytes.byteLength }
    this.#change(this.#deps.record.value.calls.map((one) => (one.key === key ? now : one)))
    return true
  }

  /**
   * A runner has connected and lists the calls that it knows. A call that it does not list is lost. For a tool call of
   * the same process life, its program is asked.
   */
  greeted({ runner, life, calls }: SessionHello, peer: RpcPeer): void {
    this.#coming.forget()
    const known = new Set(calls.map(({ key }) => key))
    for (const late of this.#deps.record.value.calls.filter((one) => one.runner.id === runner)) {
      if (late.server === null ? !known.has(late.key) : late.server.life !== life) this.#forget(late.key)
      else if (late.server !== null) this.#deps.ctx.waitUntil(this.#ask(peer, late.key, late.server.id))
    }
  }

  /** Asks what became of a tool call. Its answer arrives before this one, or later, when the program gives it. */
  async #ask(peer: RpcPeer, key: string, name: string): Promise<void> {
    try {
      const { state } = await peer.call('server/query', { name, id: callIdOf(key) }, ServerCallState)
      if (state === 'unknown') this.#tellTool(key, 'It never reached its program, so nothing of it was done.')
      if (state === 'ended') this.#tellTool(key, 'Its program ended in it, so the outcome is unknown.')
    } catch (error) {
      // The next connection asks again.
      log.info('runner.late_not_asked', errorFields(error))
    }
  }

  /** A message of a program on this runner. */
  heard(piece: ServerMessage, runner = this.#current): void {
    const asked = this.#deps.record.value.calls.filter(
      (late) => late.runner.id === runner && late.server?.id === piece.name,
    )
    if (asked.length === 0) return
    const message = this.#coming.add(piece)
    for (const { key } of message === null ? [] : asked) {
      const answer = messagesIn(message ?? '').find(({ id, method }) => id === callIdOf(key) && method === undefined)
      if (answer !== undefined) this.#tellTool(key, answerText(answer.result))
    }
  }

  #tellTool(key: string, outcome: string): void {
    const late = this.#late(key)
    if (late === undefined) return
    this.#forget(key)
    this.#deps.tell(`${headOf(late)} ${outcome} It was not called again.`)
  }

  /** The call has ended after all. `stored` is the answer to the runner; null when no files were taken. */
  ended<T extends TransferStored | null>({ key, outcome, transfer }: CallEnded, stored: T, runner = this.#current): T {
    const late = this.#late(key)
    if (late?.runner.id !== runner || late.server !== null) return stored
    const raw = this.#deps.calls.output(key, { isCell: isStructured(late) })
    this.#forget(key)
    const place = stored === null ? NOT_THERE : transfer === null ? '' : THERE
    this.#deps.tell(textOf(late, outcome, { output: outputOf(late, raw), place }))
    return stored
  }

  get #current(): string {
    return this.#deps.runner()?.id ?? ''
  }

  #late(key: string): LateCall | undefined {
    return this.#deps.record.value.calls.find((one) => one.key === key)
  }

  #change(calls: readonly LateCall[]): void {
    this.#deps.record.change({ calls })
  }

  #forget(key: string): void {
    this.#change(this.#deps.record.value.calls.filter((one) => one.key !== key))
    this.#deps.calls.forgetOutput(key)
  }
}

const isStructured = ({ kind }: LateCall): boolean => kind === BROWSER_KIND || CELL_KINDS.some((cell) => cell === kind)

function outputOf(late: LateCall, raw: string): string {
  if (late.kind === BROWSER_KIND) return ''
  return cutMiddle(plainOutput(isStructured(late) ? cellOutputIn(raw).text : raw)).trimEnd()
}

const ENDS: Readonly<Record<CallOutcome['state'], (outcome: CallOutcome) => string>> = {
  ended: ({ exitCode }) => `It has ended with exit code ${exitCode}`,
  killed: () => 'It was killed',
  quiet: () => 'It has not ended, and prints nothing',
  soft: () => 'It has not ended',
  refused: ({ text }) => text,
  lost: ({ text }) => `Its shell failed. ${text}`,
}

const THERE = ' What it changed is in the workspace, but for what was changed there since.'
const NOT_THERE = ' What it changed since then is not in the workspace, which went on without it.'

const shownOf = (text: string): string =>
  text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS).toWellFormed()} […]` : text

const headOf = ({ runner, what }: LateCall): string =>
  `The runner ${runner.name} is back and tells how this came out, which was given up: ${JSON.stringify(what)}.`

/** The tool's name and arguments. */
function paramsIn(message: string): string {
  const [asked] = messagesIn(message)
  return JSON.stringify(asked?.params ?? {})
}

const Answer = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })).default([]),
  isError: z.boolean().optional(),
})

function answerText(result: unknown): string {
  const { data } = Answer.safeParse(result)
  if (data === undefined) return 'It was answered with an error.'
  const text = cutMiddle(data.content.map((part) => part.text ?? `[${part.type}]`).join('\n'))
  return `${data.isError === true ? 'It failed' : 'It was answered'}: ${text}\n`
}

function textOf(late: LateCall, outcome: CallOutcome, { output, place }: { output: string; place: string }): string {
  return [
    `${headOf(late)} ${ENDS[outcome.state](outcome)}. It was not run again.${place}`,
    ...outcome.remarks.map((remark) => `[${remark}]`),
    ...(output === '' ? [] : [`It printed since then:\n${output}`]),
  ].join('\n')
}
