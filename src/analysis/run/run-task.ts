// One run of a queued task, from the order to the word that it is finished. It ends in exactly one of five ways: with a
// report, with a reason, at a deadline, cancelled, or silently because the task is no longer its own.

import { errorFields, log } from '../../lib/log.ts'
import { type Bounded, within } from '../deadline.ts'
import type { RunHooks } from '../flow/steps.ts'
import type { Finish, Outcome, RunOrder, TaskState } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import { Reporter, type ReportPort } from './reporter.ts'

export type Saved = { stockName: string | null }

export type RunDeps = {
  report: ReportPort
  finish: (finish: Finish) => Promise<{ ok: true; status: TaskState } | { ok: false; reason: string }>
  /** What the history has of this task; null when a report of it was not saved. */
  saved: () => Promise<Saved | null>
  /** Takes a saved report back. */
  withdraw: () => Promise<void>
  /** Makes and saves the report. */
  work: (hooks: RunHooks) => Promise<Outcome>
}

const RETRY_DELAYS_MS = [200, 1_000, 3_000]
/** How long a cancelled run may take to let go before what it saved is taken back. */
const LET_GO_MS = 2_000

export async function runTask(order: RunOrder, deps: RunDeps): Promise<void> {
  const reporter = new Reporter(order, deps.report)
  try {
    const outcome = await outcomeOf(order, deps, reporter)
    if (outcome === null) return
    await conclude({ taskId: order.taskId, token: order.token, outcome }, deps)
  } finally {
    reporter.stop()
  }
}

/** How the run came out; null when that is nobody's business any more. */
async function outcomeOf(order: RunOrder, deps: RunDeps, reporter: Reporter): Promise<Outcome | null> {
  if (order.attempt > 1) {
    const saved = await deps.saved()
    if (saved !== null) return { ok: true, stockName: saved.stockName }
  }
  const clock = new StageClock(order.stageTimeoutMs)
  let working: Promise<Outcome> | undefined
  const hooks = (signal: AbortSignal): RunHooks => ({
    signal,
    onStage: (...stage) => {
      clock.restart()
      return reporter.stageReached(...stage)
    },
    onSteps: (steps) => reporter.stepsTaken(steps),
  })
  const bound = { timeoutMs: order.timeoutMs, signal: AbortSignal.any([reporter.lost, clock.expired]) }
  try {
    const bounded = await within(bound, (signal) => {
      working = deps.work(hooks(signal))
      return working
    })
    if (reporter.isCancelled) await letGo(order, working, deps)
    return reporter.isCancelled ? { ok: false, cancelled: true } : judged(bounded, { order, reporter, clock })
  } finally {
    clock.stop()
  }
}

type Circumstances = { order: RunOrder; reporter: Reporter; clock: StageClock }

function judged(bounded: Bounded<Outcome>, { order, reporter, clock }: Circumstances): Outcome | null {
  if (reporter.lost.aborted) return null
  if (bounded.ok) return bounded.value
  const say = textsOf(order.request.language).task
  const seconds = (ms: number) => Math.round(ms / 1000)
  if (clock.expired.aborted) {
    return { ok: false, error: say.stageTimedOut(reporter.stage, seconds(order.stageTimeoutMs)) }
  }
  return { ok: false, error: say.timedOut(reporter.stage, seconds(order.timeoutMs)) }
}

/** Waits until a cancelled run does no more harm, then takes back what it may have saved in its last moment. */
async function letGo({ taskId }: RunOrder, working: Promise<unknown> | undefined, deps: RunDeps): Promise<void> {
  const settled = working?.then(
    () => undefined,
    // It was told to stop; in which words it does so is not of interest.
    () => undefined,
  )
  await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, LET_GO_MS))])
  await patiently('runner.withdraw_failed', taskId, deps.withdraw)
}

/** Tells the queue. A result that it does not want any more is taken back first, so that a cancelled task leaves nothing. */
async function conclude(finish: Finish, deps: RunDeps): Promise<void> {
  const { taskId } = finish
  const tell = (told: Finish) => patiently('runner.finish_failed', taskId, () => deps.finish(told))
  const answer = await tell(finish)
  if (!answer?.ok || !finish.outcome.ok) return
  if (answer.status !== 'cancel_requested' && answer.status !== 'cancelled') return
  await patiently('runner.withdraw_failed', taskId, deps.withdraw)
  if (answer.status === 'cancel_requested') await tell({ ...finish, outcome: { ok: false, cancelled: true } })
}

/** Tries again if need be. Should the queue never hear, the lease lapses and the next run finds what was done. */
async function patiently<T>(event: string, taskId: string, work: () => Promise<T>): Promise<T | undefined> {
  for (const delayMs of [...RETRY_DELAYS_MS, null]) {
    try {
      return await work()
    } catch (error) {
      log.warn(event, { taskId, ...errorFields(error) })
      if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  return undefined
}

/** Expires when nothing has got further for so long. */
export class StageClock {
  readonly #timeoutMs: number
  readonly #expired = new AbortController()
  #timer: ReturnType<typeof setTimeout>

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#timer = this.#wind()
  }

  get expired(): AbortSignal {
    return this.#expired.signal
  }

  /** Something got further. */
  restart(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#wind()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #wind(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#expired.abort(new Error('stage deadline')), this.#timeoutMs)
  }
}
