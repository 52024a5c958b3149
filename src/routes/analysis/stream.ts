import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { credentialQuery, taskQueue } from '../../bindings.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { demandScope, identify } from '../../http/auth.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { streamOf } from '../../http/sse.ts'
import { quotaReached, unauthorized } from '../../http/too-many.ts'

const app = router(analysisEnvelope)

endpoint(
  app,
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
    return streamOf(socket, { signal: c.req.raw.signal, mayStay: () => mayStay(c) })
  },
)

/** The number of an event; anything else means a start from the beginning. */
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

/** Whether the credential that opened the stream is still good for it. */
async function mayStay(c: Context<AppEnv>): Promise<boolean> {
  try {
    const principal = await identify(c.req.raw, c.env)
    demandScope(principal, 'analysis')
    return principal.owner === c.get('principal').owner
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

export { app as stream }
