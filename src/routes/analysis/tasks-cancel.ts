import { z } from '@hono/zod-openapi'
import { taskInfo } from '../../analysis/task.ts'
import { taskQueue } from '../../bindings.ts'
import { findByQueryId } from '../../db/analyses.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { TaskInfo } from './schemas.ts'

const app = router(analysisEnvelope)

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

export { app as tasksCancel }
