// Keeps the queue informed about one run: how far it is, which steps it took, that it is still alive. One report is on its
// way at a time; what happens meanwhile goes with the next. A queue that cannot be reached does not stop the run; one that
// says the task is no longer this run's, or is cancelled, does.

import { errorFields, log } from '../../lib/log.ts'
import type { FlowEvent } from '../flow/run-flow.ts'
import type { Progress, RunOrder } from '../task.ts'

export type ReportPort = (report: Progress) => Promise<{ ok: true } | { ok: false; reason: string }>

export class Reporter {
  readonly #order: RunOrder
  readonly #report: ReportPort
  readonly #lost = new AbortController()
  readonly #timer: ReturnType<typeof setInterval>
  #progress = 0
  #message = ''
  #stage = ''
  #flowEvents: FlowEvent[] = []
  #isCancelled = false
  #dirty = false
  #sending: Promise<void> | null = null

  constructor(order: RunOrder, report: ReportPort) {
    this.#order = order
    this.#report = report
    this.#timer = setInterval(() => this.#renew(), order.renewEveryMs)
  }

  /** Aborted once the task is no longer this run's, or nobody wants it any more. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** The task is still this run's, but shall stop. */
  get isCancelled(): boolean {
    return this.#isCancelled
  }

  /** The name of the last stage that was reported. */
  get stage(): string {
    return this.#stage
  }

  /** Tells of a stage and waits until the queue has it: so every stage is seen, and a lost run stops at the next one. */
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
    // Before the first stage there is nothing to say, and the lease is young.
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
    }
    this.#sending = null
  }

  async #sendOnce(): Promise<void> {
    const { taskId, token } = this.#order
    const flowEvents = this.#flowEvents
    this.#flowEvents = []
    try {
      const answer = await this.#report({
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
