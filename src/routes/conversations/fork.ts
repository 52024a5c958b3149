import { z } from '@hono/zod-openapi'
import { conversation } from '../../bindings.ts'
import { AppError, statusEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { keepToLimit, withRoom } from './room-for.ts'
import { CONVERSATION_ID, ConversationPath, ConversationResponse } from './schemas.ts'

const ForkRequest = z
  .strictObject({
    event_id: laxInt({ min: 0 }),
    title: z.string().trim().min(1).max(200).nullish(),
    conversation_id: z.string().regex(CONVERSATION_ID).optional(),
  })
  .openapi('ForkConversationRequest')

const forking = router(statusEnvelope)

endpoint(
  forking,
  {
    method: 'post',
    path: '/api/conversations/{conversation_id}/fork',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag: 'Conversations',
    summary: 'Make a new conversation from this one as it was at an event: its events until then, and its workspace',
    params: ConversationPath,
    body: { schema: ForkRequest, required: true },
    replies: {
      200: { description: 'Forked; the new conversation waits for a message', schema: ConversationResponse },
      400: { description: 'No such event, or one whose workspace is no longer known' },
      404: { description: 'No such conversation' },
      409: { description: 'The given id is taken' },
      429: { description: 'The owner has as many conversations, or stored bytes, as there may be' },
    },
  },
  async (c, { params, body }) => {
    const { owner } = c.get('principal')
    const from = { id: params.conversation_id, event: body.event_id }
    const id = body.conversation_id ?? hexId()
    const mayBeThere = CONVERSATION_ID.test(from.id) && c.get('isUnusedId') !== true
    const forked = mayBeThere
      ? await withRoom(c, id, {
          prepare: async () => isoMicros(Date.now()),
          make: async (createdAt) =>
            await conversation(c.env, owner, id).fork({
              id,
              owner,
              createdAt,
              trigger: 'gui',
              title: body.title ?? null,
              from,
            }),
          isMade: (made) => made === 'forked',
        })
      : null
    if (forked === null) {
      throw new AppError('not_found', 'Conversation not found', { msgId: 'CONVERSATION$NOT_FOUND' })
    }
    if (forked === 'taken') throw new AppError('conflict', 'A conversation with this id exists')
    if (forked !== 'forked') {
      const why =
        forked.reason === 'unknown-event'
          ? `There is no event ${from.event} in this conversation`
          : `The workspace at event ${from.event} is no longer known; the first event that can be forked at is ${forked.from}`
      throw new AppError('bad_request', why)
    }
    await keepToLimit(c, owner, id)
    return c.json({ status: 'ok', conversation_id: id, message: null, conversation_status: 'RUNNING' as const })
  },
)

export { forking }
