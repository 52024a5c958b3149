import { z } from '@hono/zod-openapi'
import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { diskTrouble } from '../lib/state-keeper.ts'
import { inTime, noAnswerWithin } from '../lib/wait-at-most.ts'

const HealthStatus = z.object({ status: z.string(), timestamp: z.string() }).openapi('HealthStatus')

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/alive',
    scope: 'open',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag: 'Health',
    summary: 'Whether the service answers at all',
    replies: { 200: { description: 'It does', schema: z.object({ status: z.literal('ok') }) } },
  },
  (c) => c.json({ status: 'ok' as const }),
)

endpoint(
  app,
  {
    method: 'get',
    path: '/health',
    scope: 'open',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag: 'Health',
    summary: 'The state of the service, as a bare string',
    example: { reply: 'OK' },
    replies: { 200: { description: '`OK`, or `DEGRADED: ` and why', schema: z.string() } },
  },
  async (c) => {
    const found = await trouble(c.env)
    return c.json(found === null ? 'OK' : `DEGRADED: ${found}`)
  },
)

// The console of the analysis family expects an object, the clients of the other family a plain string.
for (const path of ['/api/health', '/api/v1/health']) {
  endpoint(
    app,
    {
      method: 'get',
      path,
      scope: 'open',
      limit: 'uncounted',
      bodyLimit: 'standard',
      tag: 'Health',
      summary: 'The state of the service, as an object',
      replies: { 200: { description: 'The state and the time', schema: HealthStatus } },
    },
    async (c) => {
      const status = (await trouble(c.env)) === null ? 'ok' : 'degraded'
      return c.json({ status, timestamp: isoMicros(Date.now()) })
    },
  )
}

/** The problem, or null. A full disk is checked too, because it makes everything else fail. */
async function trouble(env: Env): Promise<string | null> {
  return (await diskTrouble(env)) ?? (await queueTrouble(env))
}

export { app as health }

// Whether the queue makes progress. The call needs no key, so an isolate checks at most every five seconds, one check
// at a time.

const LOOK_EVERY_MS = 5_000
const PATIENCE_MS = 500

type Look = { at: number; trouble: string | null }

const looks = new WeakMap<object, Look>()

/** The problem of the queue, or null. */
export async function queueTrouble(env: Env, now = Date.now()): Promise<string | null> {
  const last = looks.get(env.TASK_QUEUE) ?? { at: Number.NEGATIVE_INFINITY, trouble: null }
  if (now - last.at < LOOK_EVERY_MS) return last.trouble
  // Requests during a check get the last result, because a pending answer belongs to the request that started it.
  looks.set(env.TASK_QUEUE, { at: now, trouble: last.trouble })
  const trouble = await look(env)
  looks.set(env.TASK_QUEUE, { at: now, trouble })
  return trouble
}

async function look(env: Env): Promise<string | null> {
  try {
    const ageMs = await inTime(PATIENCE_MS, taskQueue(env).oldestPendingMs(), noAnswerWithin(PATIENCE_MS))
    if (ageMs <= config(env).tasks.maxQueueAgeMs) return null
    return `the oldest pending task has waited ${Math.round(ageMs / 1000)} s`
  } catch (error) {
    log.warn('health.queue_unreachable', errorFields(error))
    return 'the task queue does not answer'
  }
}
