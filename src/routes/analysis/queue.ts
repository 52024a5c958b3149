// The queue itself: its length, and how to stop one of its tasks.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { taskInfo } from '../../analysis/task.ts'
import { credentialQuery, taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { findByQueryId } from '../../db/analyses.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { isStillAdmitted } from '../../http/auth.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { streamOf } from '../../http/sse.ts'
import { quotaReached, unauthorized } from '../../http/too-many.ts'
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
    // The queue removes a finished task long before the history does.
    if ((await findByQueryId(c.env.DB, owner, task_id)) !== null) throw finished('completed')
    throw new AppError('not_found', 'The task does not exist or has expired')
  },
)

const finished = (status: string) =>
  new AppError('conflict', `The task is finished: ${status}`, { word: 'task_finished', extra: { status } })

export { app as queue }

const stream = router(analysisEnvelope)

endpoint(
  stream,
  {
    method: 'get',
    path: '/api/v1/analysis/tasks/stream',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Analysis tasks',
    summary: 'What happens to your tasks, as it happens',
    example: { reply: 'event: connected\ndata: {"message":"connected"}\n\n' },
    query: z.object({
      after: z.string().optional().describe('Resume behind this event; the header `Last-Event-ID` does the same'),
      session_api_key: z.string().optional().describe('The key, where no header can be sent'),
    }),
    replies: {
      200: {
        description: 'Server-sent events: `connected`, `task_created`, `task_started`, `task_progress`, …',
        schema: z.string(),
        contentType: 'text/event-stream',
      },
      429: { description: 'Too many streams of this owner or key are open' },
      503: { description: 'Too many streams of everybody are open' },
    },
  },
  async (c, { query }) => {
    const socket = await openSocket(c, place(c.req.header('last-event-id')) ?? place(query.after))
    return streamOf(socket, { signal: c.req.raw.signal, mayStay: () => isStillAdmitted(c, 'analysis') })
  },
)

/** The number of an event; any other value starts from the beginning. */
function place(text: string | undefined): string | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? text : null
}

/** Why the queue opens no stream. */
const Refusal = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('ended') }),
  z.object({ reason: z.literal('full'), limit: z.string(), used: z.number(), allowed: z.number() }),
  z.object({ reason: z.literal('crowded') }),
])

async function openSocket(c: Context<AppEnv>, after: string | null): Promise<WebSocket> {
  const { owner, keyId, until } = c.get('principal')
  const credential = credentialQuery({ key: keyId, until })
  const query = new URLSearchParams({ owner, ...credential, ...(after === null ? {} : { after }) })
  const url = `http://task-queue/stream?${query}`
  const answer = await taskQueue(c.env).fetch(url, { headers: { upgrade: 'websocket' } })
  if (answer.webSocket !== null) return answer.webSocket
  const refusal = Refusal.parse(await answer.json())
  if (refusal.reason === 'ended') throw unauthorized()
  if (refusal.reason === 'full') throw quotaReached(refusal, 'Close a stream that nobody reads any more.')
  throw new AppError('unavailable', 'Too many streams are open; try again in a while')
}

export { stream }
