import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { liveFlow, readFlowEvents } from '../../analysis/flow/live.ts'
import { reviewOf, withChartAddresses } from '../../analysis/market-review/record.ts'
import { resultOf } from '../../analysis/report/diagnostics.ts'
import { diagnosticsOf, reportOf, skillsOf } from '../../analysis/report/record.ts'
import { REVIEW_CODE, type Task, taskInfo } from '../../analysis/task.ts'
import { taskQueue } from '../../bindings.ts'
import { findByQueryId, type StoredAnalysis } from '../../db/analyses.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { liveResult } from './awaited.ts'
import { flowOf } from './history-record.ts'
import { type AnalysisResultResponse, RunFlowSnapshot, TaskListResponse, TaskStatus } from './schemas.ts'

const app = router(analysisEnvelope)
const common = {
  method: 'get',
  scope: 'analysis',
  limit: 'reads',
  bodyLimit: 'standard',
  tag: 'Analysis tasks',
} as const
const params = z.object({ task_id: z.string() })

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/analysis/tasks',
    summary: 'The newest tasks, with the counts of all of them',
    query: z.object({
      status: z.string().optional().describe('States to show, separated by commas, in any case'),
      limit: laxInt({ min: 1, max: 100 }).default(20),
      filter_first: laxBool()
        .default(false)
        .describe('Filter before the limit is applied, instead of within the newest `limit` tasks'),
    }),
    replies: {
      200: { description: 'Tasks, newest first', schema: TaskListResponse },
      422: { description: 'A value of the wrong type or outside its range' },
    },
  },
  async (c, { query }) => {
    const statuses = (query.status ?? '').toLowerCase().split(',')
    const named = statuses.map((status) => status.trim()).filter((status) => status !== '')
    const list = await taskQueue(c.env).list(c.get('principal').owner, {
      statuses: named.length === 0 ? null : named,
      limit: query.limit,
      filterFirst: query.filter_first,
    })
    return c.json({ ...list, tasks: list.tasks.map(taskInfo) })
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/analysis/status/{task_id}',
    summary: 'The state of a task, with its result once there is one',
    params,
    replies: {
      200: { description: 'The task, from the queue or from the stored history', schema: TaskStatus },
      404: { description: 'No such task' },
      500: { description: 'The lookup failed' },
    },
  },
  async (c, { params: { task_id } }) => {
    const { owner } = c.get('principal')
    const task = await taskQueue(c.env).get(owner, task_id)
    if (task !== null) {
      const stored = task.status === 'completed' ? await findByQueryId(c.env.DB, owner, task_id) : null
      return c.json(statusOfTask(task, stored))
    }
    return c.json(statusOfStored(await storedOrNotFound(c, task_id)))
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/analysis/tasks/{task_id}/flow',
    summary: 'Where the figures of a task came from and what became of them',
    params,
    replies: {
      200: { description: 'The flow as a graph', schema: RunFlowSnapshot },
      404: { description: 'No such task' },
      500: { description: 'The lookup failed' },
    },
  },
  async (c, { params: { task_id } }) => {
    const { owner } = c.get('principal')
    const live = await taskQueue(c.env).flow(owner, task_id)
    if (live === null) return c.json(flowOf(await storedOrNotFound(c, task_id)))
    const stored = live.task.status === 'completed' ? await findByQueryId(c.env.DB, owner, task_id) : null
    return c.json(stored === null ? liveFlow(live.task, readFlowEvents(live.events)) : flowOf(stored))
  },
)

/** The same bytes for an unknown id and for another owner's: they cannot be distinguished, and the id is not in the answer. */
async function storedOrNotFound(c: Context<AppEnv>, queryId: string): Promise<StoredAnalysis> {
  const stored = await findByQueryId(c.env.DB, c.get('principal').owner, queryId)
  if (stored === null) throw new AppError('not_found', 'The task does not exist or has expired')
  return stored
}

function statusOfTask(task: Task, stored: StoredAnalysis | null): TaskStatus {
  const { request } = task
  const isReview = request.kind === 'market_review'
  return {
    task_id: task.id,
    trace_id: task.id,
    status: task.status,
    progress: task.progress,
    result: isReview ? null : stored && liveResult(stored, task),
    ...reviewFields(stored),
    region: request.region,
    error: task.error,
    stock_name: task.stockName,
    original_query: request.originalQuery,
    reading: request.reading,
    selection_source: request.selectionSource,
    analysis_phase: request.analysisPhase,
    skills: request.skills,
  }
}

function statusOfStored(stored: StoredAnalysis): TaskStatus {
  return {
    task_id: stored.queryId,
    trace_id: stored.queryId,
    status: 'completed',
    progress: 100,
    result: stored.key === REVIEW_CODE ? null : storedResult(stored),
    ...reviewFields(stored),
    region: stored.region,
    error: null,
    stock_name: stored.stockName,
    original_query: stored.originalQuery,
    reading: storedResult(stored)?.report.meta.reading ?? null,
    selection_source: stored.selectionSource,
    analysis_phase: stored.analysisPhase,
    skills: skillsOf(stored),
  }
}

function reviewFields(stored: StoredAnalysis | null) {
  if (stored === null) return { market_review_report: null, market_review_payload: null }
  const { text, payload } = reviewOf(stored)
  return withChartAddresses({ market_review_report: text, market_review_payload: payload }, stored)
}

export { app as tasks }

/** The result in the form of the history, or null if the stored report cannot be read. */
function storedResult(stored: StoredAnalysis): AnalysisResultResponse | null {
  const report = reportOf(stored)
  return report && resultOf(report, diagnosticsOf(stored))
}
