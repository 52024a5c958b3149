// One run of a queued task, from its lease to the report of its end. It ends in exactly one of five ways: with a
// report, with a reason, at a deadline, cancelled, or silently because the task belongs to another run now.

import { errorFields, log } from '../../lib/log.ts'
import { type Bounded, withTimeout } from '../ctx.ts'
import type { RunHooks } from '../flow/live.ts'
import type { FlowEvent } from '../flow/run-flow.ts'
import type { Finish, Outcome, Progress, RunOrder, TaskState } from '../task.ts'
import { textsOf } from '../texts/book.ts'

export type Saved = { stockName: string | null }

export type RunDeps = {
  report: ReportPort
  finish: (finish: Finish) => Promise<{ ok: true; status: TaskState } | { ok: false; reason: string }>
  /** The saved report of this task; null when there is none. */
  saved: () => Promise<Saved | null>
  /** Deletes a saved report. */
  withdraw: () => Promise<void>
  /** Lets other work run before the next part of the run. */
  giveWay: () => Promise<void>
  /** Makes and saves the report. */
  work: (hooks: RunHooks) => Promise<Outcome>
}

const RETRY_DELAYS_MS = [200, 1_000, 3_000]
/** How long a cancelled run may take to stop before its saved report is deleted. */
const LET_GO_MS = 2_000

export async function runTask(order: RunOrder, deps: RunDeps): Promise<void> {
  const reporter = new Reporter(order, deps)
  try {
    const outcome = await outcomeOf(order, deps, reporter)
    if (outcome === null) return
    await conclude({ taskId: order.taskId, token: order.token, outcome }, deps)
  } finally {
    reporter.stop()
  }
}

/** The outcome of the run; null when the task belongs to another run now. */
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
    const bounded = await withTimeout(bound, (signal) => {
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

/** Waits until a cancelled run has stopped, then deletes a report that it may have saved at the last moment. */
async function letGo({ taskId }: RunOrder, working: Promise<unknown> | undefined, deps: RunDeps): Promise<void> {
  const settled = working?.then(
    () => undefined,
    // It was told to stop, so its error does not matter.
    () => undefined,
  )
  await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, LET_GO_MS))])
  await patiently('runner.withdraw_failed', taskId, deps.withdraw)
}

/** Reports to the queue. A result that is not wanted any more is deleted first, so that a cancelled task leaves nothing. */
async function conclude(finish: Finish, deps: RunDeps): Promise<void> {
  const { taskId } = finish
  const tell = (told: Finish) => patiently('runner.finish_failed', taskId, () => deps.finish(told))
  const answer = await tell(finish)
  if (!answer?.ok || !finish.outcome.ok) return
  if (answer.status !== 'cancel_requested' && answer.status !== 'cancelled') return
  await patiently('runner.withdraw_failed', taskId, deps.withdraw)
  if (answer.status === 'cancel_requested') await tell({ ...finish, outcome: { ok: false, cancelled: true } })
}

/** Retries. If the queue never gets the report, the lease expires and the next run finds what was done. */
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

/** Fires when there was no progress for this long. */
class StageClock {
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

  /** There was progress. */
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

// Keeps the queue informed about one run: its progress, its steps, and that it is alive. One report is sent at a time;
// later events go with the next one. An unreachable queue does not stop the run; an answer that the task belongs to
// another run, or is cancelled, does.

export type ReportPort = (report: Progress) => Promise<{ ok: true } | { ok: false; reason: string }>

class Reporter {
  readonly #order: RunOrder
  readonly #deps: Pick<RunDeps, 'report' | 'giveWay'>
  readonly #lost = new AbortController()
  readonly #timer: ReturnType<typeof setInterval>
  #progress = 0
  #message = ''
  #stage = ''
  #flowEvents: FlowEvent[] = []
  #isCancelled = false
  #dirty = false
  #sending: Promise<void> | null = null

  constructor(order: RunOrder, deps: Pick<RunDeps, 'report' | 'giveWay'>) {
    this.#order = order
    this.#deps = deps
    this.#timer = setInterval(() => this.#renew(), order.renewEveryMs)
  }

  /** Aborted when the task belongs to another run, or nobody wants it any more. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** The task still belongs to this run, but must stop. */
  get isCancelled(): boolean {
    return this.#isCancelled
  }

  /** The name of the last stage that was reported. */
  get stage(): string {
    return this.#stage
  }

  /** Reports a stage and waits until the queue has it: so every stage is visible, and a lost run stops at the next one. */
  stageReached(progress: number, message: string, stage: string): Promise<void> {
    this.#progress = progress
    this.#message = message
    this.#stage = stage
    return this.#send()
  }

  stepsTaken(flowEvents: readonly FlowEvent[]): Promise<void> {
    this.#flowEvents.push(...flowEvents)
    return this.#send()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #renew(): void {
    // Before the first stage there is nothing to report, and the lease is new.
    if (this.#message !== '') void this.#send()
  }

  #send(): Promise<void> {
    this.#dirty = true
    this.#sending ??= this.#drain()
    return this.#sending
  }

  async #drain(): Promise<void> {
    while (this.#dirty && !this.#lost.signal.aborted) {
      this.#dirty = false
      await this.#sendOnce()
      await this.#deps.giveWay()
    }
    this.#sending = null
  }

  async #sendOnce(): Promise<void> {
    const { taskId, token } = this.#order
    const flowEvents = this.#flowEvents
    this.#flowEvents = []
    try {
      const answer = await this.#deps.report({
        taskId,
        token,
        progress: this.#progress,
        message: this.#message,
        stage: this.#stage,
        stockName: null,
        flowEvents: flowEvents.map((event) => JSON.stringify(event)),
      })
      if (answer.ok) return
      this.#isCancelled = answer.reason === 'cancel_requested'
      this.#lost.abort(new Error(answer.reason))
    } catch (error) {
      this.#flowEvents = [...flowEvents, ...this.#flowEvents]
      log.warn('runner.report_failed', { taskId, ...errorFields(error) })
    }
  }
}
