import { z } from '@hono/zod-openapi'
import { forTrajectory } from '../../agent/trajectory.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../lib/lax.ts'
import { foundOr404, ownConversation } from './access.ts'
import { jsonArray, streamOf } from './event-walk.ts'
import { ConversationPath } from './schemas.ts'

const app = router(errorEnvelope)
const tag = 'Conversation extras'

const StoredEvent = z.looseObject({ id: z.int() })

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/trajectory',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Every event that is not hidden, as a file to keep or to replay',
    params: ConversationPath,
    replies: {
      200: { description: 'The events in order', schema: z.object({ trajectory: z.array(StoredEvent) }) },
      404: { description: 'No such conversation' },
      500: { description: 'The events cannot be read' },
    },
  },
  async (c, { params }) => {
    const stub = ownConversation(c, params.conversation_id)
    const first = await firstBatch(() => stub.readEvents(-1))
    const events = { stub, first: foundOr404(first, params.conversation_id), pick: forTrajectory }
    const body = streamOf(jsonArray(events, ['{"trajectory":', '}']))
    return c.body(body, 200, { 'content-type': 'application/json' })
  },
)

/** Before the first byte is sent, a failure can still be reported; this call has its own text for it. */
async function firstBatch<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new AppError('declared_failure', 'The events cannot be read', { cause, extra: { trajectory: null } })
  }
}

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/remember-prompt',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'An instruction to keep in memory what happened around an event',
    params: ConversationPath,
    query: z.object({ event_id: laxInt() }),
    replies: {
      200: {
        description: 'The instruction',
        schema: z.object({ status: z.literal('success'), prompt: z.string() }),
      },
      404: { description: 'No such conversation, or no such event in it' },
    },
  },
  async (c, { params, query }) => {
    const answer = await ownConversation(c, params.conversation_id).rememberPrompt(query.event_id)
    const { prompt } = foundOr404(answer, params.conversation_id)
    if (prompt === null) throw new AppError('not_found', `Event ${query.event_id} not found`)
    return c.json({ status: 'success' as const, prompt })
  },
)

export { app as trajectory }
