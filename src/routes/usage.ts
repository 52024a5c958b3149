// The owner's usage of all limited resources, and the limits.

import { z } from '@hono/zod-openapi'
import { owner as ownerObject, taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { countAllFeedback } from '../db/feedback.ts'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'

const DAY_MS = 24 * 3600 * 1000

const Limit = z
  .object({
    limit: z.string(),
    used: z.int(),
    allowed: z.int(),
    unit: z.enum(['count', 'bytes']),
    resets_at: z.iso.datetime().nullable(),
  })
  .openapi('UsageLimit')

const Usage = z.object({ owner: z.string(), limits: z.array(Limit) }).openapi('Usage')

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/usage',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Usage',
    summary: 'What you have of everything that is limited, and how much it may be',
    replies: { 200: { description: 'Every limit of the owner', schema: Usage } },
  },
  async (c) => {
    const { owner, keyId } = c.get('principal')
    const { quotas } = config(c.env)
    const [kept, asked, feedback] = await Promise.all([
      ownerObject(c.env, owner).usage(owner),
      taskQueue(c.env).usage(owner, keyId),
      countAllFeedback(c.env.DB, owner),
    ])
    const midnight = isoMicros((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS)
    return c.json({
      owner,
      limits: [
        count('conversations', kept.conversations, quotas.conversations),
        bytes('stored_bytes', kept.storedBytes, quotas.storedBytes),
        count('sockets', kept.sockets, quotas.sockets),
        count('streams', asked.streams, quotas.streams),
        // A caller without a key has no limit of this kind.
        ...(keyId === null ? [] : [count('streams_per_key', asked.streamsOfKey, quotas.streamsPerKey)]),
        count('open_analyses', asked.openAnalyses, quotas.openAnalyses),
        { ...count('analyses_per_day', asked.analysesToday, quotas.analysesPerDay), resets_at: midnight },
        count('feedback', feedback, quotas.feedback),
        bytes('large_body_bytes', kept.bodyBytes, quotas.bytesInFlight),
      ],
    })
  },
)

const limitOf =
  (unit: 'count' | 'bytes') =>
  (limit: string, used: number, allowed: number): z.infer<typeof Limit> => ({
    limit,
    used,
    allowed,
    unit,
    resets_at: null,
  })
const count = limitOf('count')
const bytes = limitOf('bytes')

export { app as usage }
