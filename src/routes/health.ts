import { z } from '@hono/zod-openapi'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { diskTrouble } from '../lib/state-keeper.ts'
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
    const found = await trouble(c.env)
    return c.json(found === null ? 'OK' : `DEGRADED: ${found}`)
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
      const status = (await trouble(c.env)) === null ? 'ok' : 'degraded'
      return c.json({ status, timestamp: isoMicros(Date.now()) })
    },
  )
}

/** What is wrong, or null. A disk that takes nothing more is why everything else fails as well. */
async function trouble(env: Env): Promise<string | null> {
  return (await diskTrouble(env)) ?? (await queueTrouble(env))
}

export { app as health }
