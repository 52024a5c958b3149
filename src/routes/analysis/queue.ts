// The queue itself: how long it is, and how one of its tasks is stopped.

import { z } from '@hono/zod-openapi'
import { taskInfo } from '../../analysis/task.ts'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { findByQueryId } from '../../db/analyses.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { TaskInfo } from './schemas.ts'

const app = router(analysisEnvelope)

const age = z.number().nullable().describe('Seconds; null when nothing waits')

const QueueState = z
  .object({
    pending: z.int(),
    running: z.int(),
    oldest_pending_seconds: age,
    max_running: z.int(),
    max_running_per_owner: z.int(),
    finished_per_minute: z.number().describe('Over the last five minutes'),
    own: z.object({ pending: z.int(), running: z.int(), oldest_pending_seconds: age }),
  })
  .openapi('QueueState')

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/analysis/queue',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Analysis tasks',
    summary: 'How long the queue is, how old its oldest task, what runs and how fast it goes',
    replies: {
      200: { description: 'The queue of everybody, in numbers, and your own part of it', schema: QueueState },
    },
  },
  async (c) => {
    const settings = config(c.env)
    const state = await taskQueue(c.env).statistics(c.get('principal').owner)
    return c.json({
      pending: state.pending,
      running: state.running,
      oldest_pending_seconds: seconds(state.oldestPendingMs),
      max_running: settings.maxRunningTasks,
      max_running_per_owner: settings.tasks.maxRunningPerOwner,
      finished_per_minute: state.finishedPerMinute,
      own: {
        pending: state.ownPending,
        running: state.ownRunning,
        oldest_pending_seconds: seconds(state.ownOldestPendingMs),
      },
    })
  },
)

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 100) / 10)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/analysis/tasks/{task_id}/cancel',
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag: 'Analysis tasks',
    summary: 'Stop a task: at once while it waits, at its next stage or request while it runs',
    params: z.object({ task_id: z.string() }),
    replies: {
      200: { description: 'The task, `cancelled` or `cancel_requested`', schema: TaskInfo },
      404: { description: 'No such task' },
      409: { description: 'The task is finished' },
    },
  },
  async (c, { params: { task_id } }) => {
    const { owner } = c.get('principal')
    const answer = await taskQueue(c.env).cancel(owner, task_id)
    if (answer.ok) return c.json(taskInfo(answer.task))
    if (answer.reason === 'finished') throw finished(answer.status)
    // The queue forgets a finished task long before the history does.
    if ((await findByQueryId(c.env.DB, owner, task_id)) !== null) throw finished('completed')
    throw new AppError('not_found', 'The task does not exist or has expired')
  },
)

const finished = (status: string) =>
  new AppError('conflict', `The task is finished: ${status}`, { word: 'task_finished', extra: { status } })

export { app as queue }
