// The metrics for Prometheus. They require the operator's token; if none is configured, nobody can read them.

import { z } from '@hono/zod-openapi'
import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { connections, metricTotals, storeCounts } from '../db/metrics.ts'
import { bearerOf, identify } from '../http/auth.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { constantTimeEqual } from '../lib/crypto.ts'
import { EXPOSITION_TYPE, exposition } from '../lib/metrics.ts'

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/metrics',
    scope: 'itself',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag: 'Health',
    summary: 'Counts for Prometheus, for who shows METRICS_TOKEN',
    replies: {
      200: { description: 'The text format 0.0.4', contentType: 'text/plain', schema: z.string() },
    },
  },
  async (c) => {
    await demandToken(c.req.raw, c.env)
    await storeCounts(c.env.DB)
    const series = new Map([...(await metricTotals(c.env.DB)), ...(await gauges(c.env))])
    return c.body(exposition(series), 200, { 'content-type': EXPOSITION_TYPE })
  },
)

export { app as metrics }

/** Every other key is refused, the root key included. In local mode the request must also come from this machine. */
async function demandToken(request: Request, env: Env): Promise<void> {
  const { metricsToken, authMode } = config(env)
  if (authMode === 'local') await identify(request, env)
  const shown = bearerOf(request)
  if (metricsToken !== null && shown !== null && constantTimeEqual(shown, metricsToken)) return
  await identify(request, env)
  throw new AppError('forbidden', 'Only METRICS_TOKEN, as a bearer token, opens this')
}

/** The current values. */
async function gauges(env: Env): Promise<[string, number][]> {
  const [queue, open] = await Promise.all([taskQueue(env).statistics(''), connections(env.DB)])
  return [
    ['bellwether_tasks_waiting', queue.pending],
    ['bellwether_tasks_running', queue.running],
    ['bellwether_task_oldest_wait_seconds', (queue.oldestPendingMs ?? 0) / 1000],
    ['bellwether_sockets_open', open.sockets],
    ['bellwether_runners_connected', open.runners],
  ]
}
