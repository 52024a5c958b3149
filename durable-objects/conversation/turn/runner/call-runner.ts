// Sends a call to the runner and follows it to its end, over lost connections and restarts of this object. No call is
// sent twice to be executed: a call that the runner no longer knows has an unknown outcome.

import type { RunnerCall, RunnerResult } from '../../../../src/agent/runtime.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { unlessAborted, waitAtMost } from '../../../../src/lib/wait-at-most.ts'
import { CellTexts, cellOutputIn, plainOutput } from '../../../../src/runners/output.ts'
import { BROWSER_KIND, pageReportIn } from '../../../../src/runners/page.ts'
import { NoAnswer, RpcError, type RpcPeer } from '../../../../src/runners/rpc.ts'
import { CallState, CELL_KINDS, RPC_ERRORS, type RunnerDescription } from '../../../../src/runners/wire.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import { AwakeTime } from './awake-time.ts'
import { Breaks } from './breaks.ts'
import { type CallEnd, CallWaiters } from './call-waiters.ts'
import { remarkOn } from './remarks.ts'
import type { RunnerCalls } from './runner-calls.ts'
import type { RunnerLink } from './runner-link.ts'
import type { RunnerRecord } from './runner-record.ts'

/** How long a stopped command may take to end. */
const STOP_WITHIN_MS = 5_000
const QUIET_MS = 30_000
/** The longest timeout that a call may request, unless `softMs` is longer. */
const MOST_SOFT_MS = 600_000
/** After the time of a call the runner may stay silent for this long, then the call is given up. */
const OVERDUE_MS = 60_000
/** The browser has its own timeouts, and sends nothing until its actions have ended. */
const BROWSER_OVERDUE_MS = 180_000
const HARD_MS = 24 * 3600_000
const UNKNOWN = 'The runner does not know this command any more. Its outcome is unknown; it was not run again.'

type TimedCall = RunnerCall & { timeoutMs: number; quietMs: number }

type CallRunnerDeps = {
  calls: RunnerCalls
  record: StoredRecord<RunnerRecord>
  link(): RunnerLink
  /** Whether the runner of this id is connected again, within the time that a call waits for it. */
  comesBack(runner: string, signal: AbortSignal): Promise<boolean>
  /** Finds another runner for a call that none has begun; returns why there is none. */
  another(): Promise<string | null>
  /** The call ends without its outcome, which its runner may still report. */
  gaveUp(call: RunnerCall): void
  maskText(text: string): string
  /** A call without a timeout of its own returns the output so far after this time, even if it still prints. */
  softMs: number
}

export class CallRunner {
  readonly waiters = new CallWaiters()
  readonly #deps: CallRunnerDeps

  constructor(deps: CallRunnerDeps) {
    this.#deps = deps
  }

  async run(given: RunnerCall): Promise<RunnerResult> {
    // A call with a timeout waits that long, however quiet the command is.
    const timeoutMs =
      given.timeoutMs === null
        ? this.#deps.softMs
        : Math.min(given.timeoutMs, Math.max(MOST_SOFT_MS, this.#deps.softMs))
    const call = { ...given, timeoutMs, quietMs: given.timeoutMs === null ? QUIET_MS : QUIET_MS + timeoutMs }
    const begun = this.#deps.calls.get(call.key)
    const stop = () => void this.#stop(call.key)
    call.signal.addEventListener('abort', stop, { once: true })
    try {
      return await this.#untilEnded(call, begun?.runner ?? this.#deps.record.value.runner?.id ?? '')
    } catch (error) {
      // The step ends with this error, so nobody asks for the call again.
      this.#deps.calls.drop(call.key)
      throw error
    } finally {
      call.signal.removeEventListener('abort', stop)
      this.waiters.leave(call.key)
    }
  }

  /** Retries over the next connection when one breaks. */
  async #untilEnded(call: TimedCall, first: string): Promise<RunnerResult> {
    let runner = first
    const breaks = new Breaks()
    for (let tries = 0; ; tries++) {
      const isBegun = this.#deps.calls.get(call.key) !== null
      if ((isBegun || tries > 0) && !(await this.#deps.comesBack(runner, call.signal))) {
        const { runner: lost, barred } = this.#deps.record.value
        const why = lost !== null && barred === lost.id ? barredText(lost) : lostText(lost)
        if (call.signal.aborted) return this.#given(call, why, true)
        if (isBegun) return this.#givenUp(call, why)
        const missing = await this.#deps.another()
        if (missing !== null) return this.#given(call, notBegunText(lost, missing), call.signal.aborted)
        runner = this.#deps.record.value.runner?.id ?? ''
      }
      breaks.begin()
      try {
        return this.#result(call, await this.#attempt(call, runner))
      } catch (error) {
        if (call.signal.aborted) return this.#given(call, 'The command was stopped by the user.', true)
        if (error instanceof UnknownOutcome) return this.#given(call, UNKNOWN, false)
        if (error instanceof Overdue) return this.#givenUp(call, overdueText(this.#deps.record.value.runner))
        if (error instanceof RpcError && !mayPass(error)) return this.#given(call, error.message, false)
        if (!mayPass(error)) throw error
        const { isUp, hasBrokenRules } = this.#deps.link()
        const isNetworks = !isUp && !hasBrokenRules && !(error instanceof RpcError)
        if (breaks.isHopeless(isNetworks)) return this.#givenUp(call, brokenText(this.#deps.record.value.runner, error))
        log.info('runner.call_again', { key: call.key, ...errorFields(error) })
      }
    }
  }

  /**
   * Begins the call, or asks for its state, and waits for its end. A call that the runner does not know was never
   * begun, or is lost. It is sent again, and the runner's journal decides which: it never begins a key twice.
   */
  async #attempt(call: TimedCall, runner: string): Promise<CallEnd> {
    const textOf = liveTextOf(call)
    const ended = this.waiters.wait(call.key, (bytes) => show(call, textOf(bytes)))
    // It may fail before the start is answered.
    ended.catch(() => undefined)
    const peer = this.#deps.link().peer
    if (peer === null) throw new NoAnswer('the runner is gone')
    const isBegun = this.#deps.calls.get(call.key) !== null
    const isKnown = isBegun && (await peer.call('call/query', { key: call.key }, CallState)).state !== 'unknown'
    if (!isKnown) await this.#start(call, { peer, runner, isBegun })
    return call.signal.aborted ? ended : await unlessStopped(call.signal, this.#inTime(call, ended))
  }

  /**
   * A runner ends a call itself when its time is over. If it does not, and sends nothing either, the call is given up.
   */
  async #inTime(call: TimedCall, ended: Promise<CallEnd>): Promise<CallEnd> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const mostMs = call.timeoutMs + (isOfBrowser(call) ? BROWSER_OVERDUE_MS : OVERDUE_MS)
    const waited = new AwakeTime()
    let until = mostMs
    const look = () => {
      until = Math.max(until, waited.ms + OVERDUE_MS - (Date.now() - this.#deps.link().heardAt))
      const leftMs = until - waited.ms
      if (leftMs <= 0) reject(new Overdue('the runner did not end the call'))
      else timer = setTimeout(look, leftMs)
    }
    let timer = setTimeout(look, mostMs)
    try {
      return await Promise.race([ended, late])
    } finally {
      clearTimeout(timer)
      waited.end()
    }
  }

  async #start(
    call: TimedCall,
    { peer, runner, isBegun }: { peer: RpcPeer; runner: string; isBegun: boolean },
  ): Promise<void> {
    await this.#deps.link().sender.bringUp()
    const { epoch, revision } = this.#deps.record.value
    const { key, kind, text, cwd, env, timeoutMs, quietMs } = call
    if (!isBegun) this.#deps.calls.begin(key, runner, isOfNotebook(call) || isOfBrowser(call))
    const times = { quietMs, softMs: timeoutMs, hardMs: HARD_MS }
    const start = { key, kind, text, cwd, env: { ...env }, ...times, epoch, revision }
    try {
      const { state } = await peer.call('call/start', start, CallState)
      if (state === 'unknown') throw new UnknownOutcome('the runner has lost the call')
    } catch (error) {
      if (error instanceof RpcError) this.#refused(key, error)
      throw error
    }
  }

  /** The runner refused, so the call was not begun. */
  #refused(key: string, { code }: RpcError): void {
    this.#deps.calls.drop(key)
    this.#deps.calls.plan(key)
    if (code === RPC_ERRORS.wrongRevision) this.#deps.link().sender.needsWhole = true
  }

  #result(call: RunnerCall, { call: { outcome }, stored }: CallEnd): RunnerResult {
    const taken = this.#taken(call)
    const { exitCode } = outcome
    // A failed session has no folder.
    const workingDir = outcome.cwd === '' ? call.cwd : seen(outcome.cwd)
    const [user, host, interpreter] = [seen(outcome.user), seen(outcome.host), seen(outcome.interpreter)]
    const remark = remarkOn(outcome, stored.refused, call)
    const aborted = call.signal.aborted
    const isGoingOn = outcome.state === 'quiet' || outcome.state === 'soft'
    return { ...taken, exitCode, workingDir, user, host, interpreter, remark, isGoingOn, aborted, failure: null }
  }

  /** The runner may still report the end. */
  #givenUp(call: RunnerCall, why: string): RunnerResult {
    this.#deps.gaveUp(call)
    return this.#given(call, why, false)
  }

  /** The result of a call whose end is unknown. */
  #given(call: RunnerCall, why: string, aborted: boolean): RunnerResult {
    return {
      ...this.#taken(call),
      exitCode: -1,
      workingDir: call.cwd,
      user: '',
      host: '',
      interpreter: '',
      remark: '',
      isGoingOn: false,
      aborted,
      failure: why,
    }
  }

  /** The output of the call. It becomes an observation in the same write in which the call is forgotten here. */
  #taken(call: RunnerCall): Pick<RunnerResult, 'output' | 'pictures' | 'kernel' | 'page'> {
    const raw = this.#deps.calls.output(call.key, { isCell: isOfNotebook(call) || isOfBrowser(call) })
    this.#deps.calls.drop(call.key)
    // The texts are masked where the event is stored, as in every event.
    if (isOfBrowser(call)) return { output: '', pictures: [], kernel: null, page: pageReportIn(raw) }
    const { text, pictures, kernel } = isOfNotebook(call)
      ? cellOutputIn(raw)
      : { text: raw, pictures: [], kernel: null }
    return { output: this.#deps.maskText(plainOutput(text)), pictures, kernel, page: null }
  }

  /** Stores a piece of output; false when pieces before it are missing. */
  output(key: string, seq: number, bytes: Uint8Array): boolean {
    const isNew = this.#deps.calls.addOutput(key, seq, bytes)
    if (isNew === true) this.waiters.output(key, bytes)
    return isNew !== 'gap'
  }

  async #stop(key: string): Promise<void> {
    try {
      await this.#deps.link().peer?.call('call/stop', { key }, CallState.partial(), STOP_WITHIN_MS)
    } catch (error) {
      log.info('runner.not_stopped', errorFields(error))
    }
  }
}

class Overdue extends Error {
  override readonly name = 'Overdue'
}

class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome'
}

/** The connection was lost, or the copy had another revision than assumed: the next attempt can succeed. */
function mayPass(error: unknown): boolean {
  if (error instanceof NoAnswer) return true
  return error instanceof RpcError && (error.code === RPC_ERRORS.wrongRevision || error.code === RPC_ERRORS.internal)
}

/** The end of the call. After a stop it waits only a limited time. */
async function unlessStopped(signal: AbortSignal, ended: Promise<CallEnd>): Promise<CallEnd> {
  try {
    return await unlessAborted(signal, ended)
  } catch (error) {
    if (!signal.aborted) throw error
    let end: CallEnd | null = null
    await waitAtMost(
      STOP_WITHIN_MS,
      ended.then((came) => {
        end = came
      }),
    )
    if (end === null) throw error
    return end
  }
}

function isOfBrowser({ kind }: RunnerCall): boolean {
  return kind === BROWSER_KIND
}

function isOfNotebook({ kind }: RunnerCall): boolean {
  return CELL_KINDS.some((cell) => cell === kind)
}

/** Returns a function that converts output, as it comes, to the text for users. */
function liveTextOf(call: RunnerCall): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder()
  // A browser report has no live text.
  const cell = isOfNotebook(call) || isOfBrowser(call) ? new CellTexts() : null
  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    return cell === null ? text : cell.push(text)
  }
}

function show({ filter, onOutput }: RunnerCall, text: string): void {
  const shown = filter.push(text)
  if (shown !== '') onOutput(shown)
}

const nameOf = (runner: RunnerDescription | null): string =>
  runner === null ? 'The runner' : `The runner ${runner.name}`

function overdueText(runner: RunnerDescription | null): string {
  return `${nameOf(runner)} did not tell in time how this ended. Its outcome is unknown and it was not run again.`
}

/** The runner violated the protocol on every attempt. */
function brokenText(runner: RunnerDescription | null, error: unknown): string {
  const why = error instanceof Error ? error.message : 'the connection failed'
  return `${nameOf(runner)} cannot be relied on: its connection ended again and again (${why}). The outcome of this is unknown and it was not run again; its log and that of the service say more.`
}

function notBegunText(runner: RunnerDescription | null, missing: string): string {
  return `${nameOf(runner)} was lost before it began this, so nothing of it was run. ${missing}`
}

function lostText(runner: RunnerDescription | null): string {
  return `${nameOf(runner)} was lost while this ran. Its outcome is unknown and it was not run again; the files are as they were when the runner last reported. If it comes back and knows the outcome, that is told then.`
}

function barredText(runner: RunnerDescription): string {
  return `The key of the runner ${runner.name} ended while this ran, so the connection to it was closed. Its outcome is unknown and it was not run again; the files are as they were when the runner last reported.`
}

/**
 * Makes a text of a machine safe to show: replaces control characters and characters that change the text direction.
 */
const seen = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
