// The queue with a way to fill it that no client has, and a runner that does no analysis: one that is done at once, so that
// what is measured is the queue, or one that holds its task for ever.

import { TaskQueue } from '../../../durable-objects/task-queue/task-queue.ts'
import { AnalysisRunner } from '../../../src/analysis/run.ts'
import type { RunOrder, TaskRequest } from '../../../src/analysis/task.ts'

const REQUEST: TaskRequest = {
  ...{ kind: 'analysis', key: 'AAPL', stockCode: 'AAPL', stockName: 'Apple', reportType: 'detailed' },
  ...{ analysisPhase: 'auto', language: 'en', reportLanguage: null, skills: null, originalQuery: null, reading: null },
  ...{ selectionSource: null, forceRefresh: false, notify: true, region: null },
  ...{ priority: 'batch', batch: null, channels: null },
}

export class SeededQueue extends TaskQueue {
  /** Finished tasks of the owner, one a second up to now. */
  seed(owner: string, count: number): void {
    const now = Date.now()
    this.ctx.storage.sql.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO tasks (id, owner, request, status, progress, message, stock_name, created_at, started_at, completed_at)
       SELECT printf('%032x', i), ?2, ?3, 'completed', 100, 'Apple：analysis finished', 'Apple',
         ?4 + i * 1000, ?4 + i * 1000 + 5, ?4 + i * 1000 + 900 FROM n`,
      count,
      owner,
      JSON.stringify(REQUEST),
      now - count * 1000,
    )
  }
}

const REPORT_EVERY_MS = 3_000

/** `BENCH_RUNNER` is `instant` or `hold`; without it analyses are made as ever. */
export class BenchRunner extends AnalysisRunner {
  override async run(order: RunOrder): Promise<void> {
    const { BENCH_RUNNER: mode } = this.env as Env & { BENCH_RUNNER?: string }
    if (mode === undefined) return super.run(order)
    const { queueId, taskId, token } = order
    const queue = this.env.TASK_QUEUE.get(this.env.TASK_QUEUE.idFromString(queueId))
    if (mode === 'instant') return void (await queue.finish({ taskId, token, outcome: { ok: true, stockName: null } }))
    const step = { progress: 10, message: 'held', stage: 'held', stockName: null, flowEvents: [] }
    while ((await queue.progress({ taskId, token, ...step })).ok) {
      await new Promise((resolve) => setTimeout(resolve, REPORT_EVERY_MS))
    }
  }
}
