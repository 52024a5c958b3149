// Answers a client that waits for the tasks of its request. The tasks continue whether or not a client waits.

import type { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { resultOf } from '../../analysis/report/diagnostics.ts'
import { diagnosticsOf, reportOf } from '../../analysis/report/record.ts'
import { isOpen, type Task, taskInfo } from '../../analysis/task.ts'
import { taskQueue } from '../../bindings.ts'
import { findByQueryId, type StoredAnalysis } from '../../db/analyses.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { laxInt } from '../../lib/lax.ts'
import type { AnalysisResultResponse, BatchTaskAcceptedResponse, TaskAccepted } from './schemas.ts'

const MAX_WAIT_SECONDS = 60
/** The first interval between two reads: a run takes about a second, and shows progress at least every three. */
const FIRST_LOOK_MS = 200
const MOST_BETWEEN_MS = 1_000

export const waitSeconds = laxInt({ min: 0, max: MAX_WAIT_SECONDS })
  .optional()
  .describe('With `async_mode`: answer when the tasks have ended, but after so many seconds at the latest: 0 to 60')

type AcceptedTask = z.infer<typeof TaskAccepted>
type Batch = z.infer<typeof BatchTaskAcceptedResponse>

/** The answer that the tasks were accepted, or their results if they finish in time. */
export async function awaitTasks(c: Context<AppEnv>, accepted: Response, seconds: number): Promise<Response> {
  const body: AcceptedTask | Batch = await accepted.json()
  const until = Date.now() + seconds * 1000
  if ('task_id' in body) return ofOne(c, body, await lookUntil(c, body.task_id, until))
  const tasks: Task[] = []
  for (const { task_id } of body.accepted) {
    const task = await lookUntil(c, task_id, until)
    if (task !== null) tasks.push(task)
  }
  const finished = tasks.length === body.accepted.length && !tasks.some(({ status }) => isOpen(status))
  return c.json({ ...body, finished, tasks: tasks.map(taskInfo) }, 202)
}

async function ofOne(c: Context<AppEnv>, body: AcceptedTask, task: Task | null): Promise<Response> {
  if (task === null || isOpen(task.status)) {
    return c.json({ ...body, finished: false, progress: task?.progress ?? 0 }, 202)
  }
  const stored = await findByQueryId(c.env.DB, c.get('principal').owner, task.id)
  const result = stored && liveResult(stored, task)
  if (task.status === 'completed' && result !== null) return c.json(result)
  throw new AppError('analysis_failed', task.error ?? task.message ?? task.status, { extra: { task_id: task.id } })
}

/** The task when it has ended, or its current state when the time is over or the client has disconnected. */
async function lookUntil(c: Context<AppEnv>, id: string, until: number): Promise<Task | null> {
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, MOST_BETWEEN_MS)) {
    const task = await taskQueue(c.env).get(c.get('principal').owner, id)
    const leftMs = until - Date.now()
    if (task === null || !isOpen(task.status) || leftMs <= 0 || c.req.raw.signal.aborted) return task
    await scheduler.wait(Math.min(pauseMs, leftMs))
  }
}

/** The result of a task that is still in the queue: with the type given in the request and without a row id. */
export function liveResult(stored: StoredAnalysis, task: Task): AnalysisResultResponse | null {
  const report = reportOf(stored)
  if (report === null) return null
  const meta = { ...report.meta, id: null, report_type: task.request.reportType }
  return resultOf({ ...report, meta }, diagnosticsOf(stored))
}
