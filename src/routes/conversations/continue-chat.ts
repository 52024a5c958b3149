// Continues a talk about reports with files: a new conversation with all previous messages. The talk itself is not
// changed.

import { z } from '@hono/zod-openapi'
import { conversation, talkId } from '../../bindings.ts'
import { AppError, statusEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { sha256Hex } from '../../lib/crypto.ts'
import { isUnused } from './access.ts'
import { keepToLimit, withRoom } from './room-for.ts'
import { CONVERSATION_ID, ConversationResponse } from './schemas.ts'

const ContinueRequest = z.strictObject({ session_id: z.string().regex(CONVERSATION_ID) }).openapi('ContinueChatRequest')

const app = router(statusEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/conversations/continue-chat',
    scope: 'conversations',
    limit: 'starts',
    bodyLimit: 'standard',
    tag: 'Conversations',
    summary: 'Go on with a talk about reports as a conversation with files; asked again it names the same one',
    body: { schema: ContinueRequest, required: true },
    replies: {
      200: { description: 'The conversation; it waits for a message', schema: ConversationResponse },
      404: { description: 'No such talk' },
      409: { description: 'A message of the talk is being answered' },
      429: { description: 'The owner has as many conversations, or stored bytes, as there may be' },
    },
  },
  async (c, { body: { session_id: session } }) => {
    const { owner } = c.get('principal')
    const from = await talkId(owner, session)
    const event = (await isUnused(c.env, owner, from)) ? null : await conversation(c.env, owner, from).talkEnd()
    if (event === null) throw new AppError('not_found', 'There is no such talk')
    if (event === 'busy') throw new AppError('conflict', 'A message of the talk is being answered')
    // The same position in a talk creates the same conversation.
    const id = (await sha256Hex(JSON.stringify(['continued', owner, session, event]))).slice(0, 32)
    c.set('conversationId', id)
    const made = await withRoom(c, id, {
      prepare: async () => isoMicros(Date.now()),
      make: async (createdAt) =>
        await conversation(c.env, owner, id).fork({
          ...{ id, owner, createdAt, trigger: 'gui', title: null },
          from: { id: from, event },
        }),
      isMade: (outcome) => outcome === 'forked',
    })
    if (made !== 'forked' && made !== 'taken') throw new AppError('not_found', 'There is no such talk')
    if (made === 'forked') await keepToLimit(c, owner, id)
    return c.json({ status: 'ok', conversation_id: id, message: null, conversation_status: 'RUNNING' as const })
  },
)

export { app as continueChat }
