import { z } from '@hono/zod-openapi'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { queueTrouble } from './queue-health.ts'

const HealthStatus = z.object({ status: z.string(), timestamp: z.string() }).openapi('HealthStatus')

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/alive',
    tag: 'Health',
    summary: 'Whether the service answers at all',
    open: true,
    replies: { 200: { description: 'It does', schema: z.object({ status: z.literal('ok') }) } },
  },
  (c) => c.json({ status: 'ok' as const }),
)

endpoint(
  app,
  {
    method: 'get',
    path: '/health',
    tag: 'Health',
    summary: 'The state of the service, as a bare string',
    open: true,
    example: { reply: 'OK' },
    replies: { 200: { description: '`OK`, or `DEGRADED: ` and why', schema: z.string() } },
  },
  async (c) => {
    const trouble = await queueTrouble(c.env)
    return c.json(trouble === null ? 'OK' : `DEGRADED: ${trouble}`)
  },
)

// The console of the analysis family asks for an object where the other family's clients want the bare string.
for (const path of ['/api/health', '/api/v1/health']) {
  endpoint(
    app,
    {
      method: 'get',
      path,
      tag: 'Health',
      summary: 'The state of the service, as an object',
      open: true,
      replies: { 200: { description: 'The state and the time', schema: HealthStatus } },
    },
    async (c) => {
      const status = (await queueTrouble(c.env)) === null ? 'ok' : 'degraded'
      return c.json({ status, timestamp: isoMicros(Date.now()) })
    },
  )
}

export { app as health }
