// One run of a queued task, from the order to the word that it is finished. It ends in exactly one of four ways: with a
// report, with a reason, at its deadline, or silently because the task is no longer its own.

import { errorFields, log } from '../lib/log.ts'
import { within } from './deadline.ts'
import type { RunHooks } from './run-analysis.ts'
import { Reporter, type ReportPort } from './run-reporter.ts'
import type { Finish, Outcome, RunOrder } from './task.ts'
import { taskMessages } from './task-messages.ts'

export type RunPorts = {
  report: ReportPort
  finish: (finish: Finish) => Promise<{ ok: boolean }>
  /** The name on the report that an earlier run of this task has saved already; undefined when there is none. */
  savedName: () => Promise<string | null | undefined>
  /** Makes and saves the report. */
  analyse: (hooks: RunHooks) => Promise<Outcome>
}

const FINISH_DELAYS_MS = [200, 1_000, 3_000]

export async function runTask(order: RunOrder, ports: RunPorts): Promise<void> {
  const reporter = new Reporter(order, ports.report)
  try {
    const outcome = await outcomeOf(order, ports, reporter)
    if (outcome !== null) await finish({ taskId: order.taskId, token: order.token, outcome }, ports)
  } finally {
    reporter.stop()
  }
}

/** How the run came out; null when that is nobody's business any more. */
async function outcomeOf(order: RunOrder, ports: RunPorts, reporter: Reporter): Promise<Outcome | null> {
  if (order.attempt > 1) {
    const stockName = await ports.savedName()
    if (stockName !== undefined) return { ok: true, stockName }
  }
  const bounded = await within({ timeoutMs: order.timeoutMs, signal: reporter.lost }, (signal) =>
    ports.analyse({
      signal,
      onStage: (...stage) => reporter.stageReached(...stage),
      onSteps: (steps) => reporter.stepsTaken(steps),
    }),
  )
  if (reporter.lost.aborted) return null
  if (bounded.ok) return bounded.value
  const seconds = Math.round(order.timeoutMs / 1000)
  return { ok: false, error: taskMessages(order.request.language).timedOut(reporter.stage, seconds) }
}

/** Tells the queue, again if need be. Should it never hear, the lease lapses and the next run finds the saved report. */
async function finish(finish: Finish, ports: RunPorts): Promise<void> {
  for (const delayMs of [...FINISH_DELAYS_MS, null]) {
    try {
      await ports.finish(finish)
      return
    } catch (error) {
      log.warn('runner.finish_failed', { taskId: finish.taskId, ...errorFields(error) })
      if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
}
