// Runs analyses outside the queue's object, in any free isolate.

import { WorkerEntrypoint } from 'cloudflare:workers'
import { config } from '../config.ts'
import { findByQueryId, withdrawAnalysis } from '../db/analyses.ts'
import { storeCounts } from '../db/metrics.ts'
import { giveWay } from '../lib/give-way.ts'
import { loggedAs } from '../lib/log.ts'
import { isStoreDue } from '../lib/metrics.ts'
import { COST_MS, charged } from '../limits/share.ts'
import type { Notice } from '../notify/delivery.ts'
import type { NotifyResult } from '../notify/run.ts'
import { analyzeDirectly, type DirectAnswer, notifyDepsOf, workOn } from './compose.ts'
import type { Consultation, Consulted } from './consult.ts'
import { withTimeout } from './ctx.ts'
import { runTask } from './run/run-task.ts'
import { ReportLanguage } from './schemas.ts'
import type { RunJob, RunOrder } from './task.ts'
import { textsOf } from './texts/book.ts'

export class AnalysisRunner extends WorkerEntrypoint<Env> {
  /** Runs the order and reports to the queue that sent it. Returns when the run is over. */
  async run(order: RunOrder): Promise<void> {
    const { env } = this
    const queue = env.TASK_QUEUE.get(env.TASK_QUEUE.idFromString(order.queueId))
    const { owner, taskId, request, attempt } = order
    const run = () =>
      runTask(order, {
        report: (report) => queue.progress(report),
        finish: (finish) => queue.finish(finish),
        saved: async () => {
          const stored = await findByQueryId(env.DB, owner, taskId)
          return stored && { stockName: stored.stockName }
        },
        withdraw: () => withdrawAnalysis(env.DB, taskId),
        giveWay: () => charged(owner, COST_MS.report) ?? giveWay(),
        work: (hooks) => workOn(env, { owner, queryId: taskId, taskId, attempt, request }, hooks),
      })
    await loggedAs({ ids: { taskId, attempt } }, run)
    await this.#storeCounts()
  }

  /** Makes an analysis that is not a task, for a waiting caller, and saves its report. */
  async analyze(job: RunJob): Promise<DirectAnswer> {
    const { taskTimeoutMs } = config(this.env)
    let stage = ''
    const never = new AbortController().signal
    const bounded = await withTimeout({ timeoutMs: taskTimeoutMs, signal: never }, (signal) =>
      analyzeDirectly(this.env, job, {
        signal,
        onStage: async (_progress, _message, name) => {
          stage = name
        },
        onSteps: async () => {},
      }),
    )
    if (bounded.ok) return bounded.value
    return { ok: false, message: textsOf(job.request.language).task.timedOut(stage, taskTimeoutMs / 1000) }
  }

  /** Runs a tool call for a talk about reports. */
  async consult(consultation: Consultation): Promise<Consulted> {
    const { consult } = await import('./consult.ts')
    return consult(this.env, consultation)
  }

  /** An answer of a talk with a mark at everything that no result of the talk supports, followed by its sources. */
  async checkAnswer(given: {
    text: string
    results: { text: string; record: string }[]
    language: string
  }): Promise<string> {
    const { checkAnswer } = await import('./chat/check-answer.ts')
    return checkAnswer(given.text, given.results, ReportLanguage.parse(given.language))
  }

  /** Creates deliveries for the notices and continues those that are due. Returns when nothing is due any more. */
  async notify(notices: Notice[]): Promise<NotifyResult> {
    const { notify } = await import('../notify/run.ts')
    const result = await notify(notices, notifyDepsOf(this.env))
    await this.#storeCounts()
    return result
  }

  async #storeCounts(): Promise<void> {
    if (isStoreDue()) await storeCounts(this.env.DB)
  }
}
