import { z } from '@hono/zod-openapi'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'

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

export { app as queue }
