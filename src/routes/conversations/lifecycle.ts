import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { conversation, conversationPlace, conversationPrefix, deleteFiles } from '../../bindings.ts'
import { recordAudit } from '../../db/audit.ts'
import { deleteConversationRows } from '../../db/conversations.ts'
import { type AppEnv, actorOf } from '../../http/app-env.ts'
import { AppError, detailEnvelope, statusEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxInt } from '../../lib/lax.ts'
import { log } from '../../lib/log.ts'
import { objectDamage, removeDamaged } from '../../lib/state-keeper.ts'
import { objectOf } from './access.ts'
import { keepToLimit, withRoom } from './room-for.ts'
import { CONVERSATION_ID, ConversationPath, ConversationResponse, ProviderType } from './schemas.ts'

const UpdateConversationRequest = z
  .strictObject({ title: z.string().min(1).max(200) })
  .openapi('UpdateConversationRequest')

const ProvidersSetModel = z.object({ providers_set: z.array(ProviderType).nullish() }).openapi('ProvidersSetModel')

const changing = router(statusEnvelope)
const running = router(detailEnvelope)
const tag = 'Conversations'

endpoint(
  changing,
  {
    method: 'patch',
    path: '/api/conversations/{conversation_id}',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Change the title; a blank one brings back the default',
    example: { reply: true },
    params: ConversationPath,
    body: { schema: UpdateConversationRequest, required: true },
    replies: {
      200: { description: 'Changed', schema: z.boolean() },
      404: { description: 'No such conversation' },
    },
  },
  async (c, { params, body }) => {
    const id = params.conversation_id
    const stub = CONVERSATION_ID.test(id) ? objectOf(c, id) : null
    const renamed = (await stub?.rename(body.title.trim())) ?? null
    if (renamed === null) {
      throw new AppError('not_found', 'Conversation not found', { msgId: 'CONVERSATION$NOT_FOUND' })
    }
    return c.json(true)
  },
)

endpoint(
  running,
  {
    method: 'delete',
    path: '/api/conversations/{conversation_id}',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Delete the conversation with everything in it',
    example: { reply: true },
    params: ConversationPath,
    replies: { 200: { description: 'Whether there was one', schema: z.boolean() } },
  },
  async (c, { params }) => {
    const id = params.conversation_id
    if (!CONVERSATION_ID.test(id)) return c.json(false)
    const principal = c.get('principal')
    const { owner } = principal
    const deleted = await deletedSomehow(c, id)
    if (deleted) {
      const entry = { owner, actor: actorOf(principal), action: 'conversation.deleted', subject: id } as const
      c.executionCtx.waitUntil(recordAudit(c.env.DB, entry))
    }
    return c.json(deleted)
  },
)

endpoint(
  running,
  {
    method: 'post',
    path: '/api/conversations/{conversation_id}/start',
    scope: 'conversations',
    limit: 'starts',
    bodyLimit: 'standard',
    tag,
    summary: 'Start the agent loop, or return the one that runs',
    params: ConversationPath,
    body: { schema: ProvidersSetModel, required: true },
    replies: {
      200: { description: 'It runs', schema: ConversationResponse },
      404: { description: 'No such conversation', schema: ConversationResponse },
    },
  },
  async (c, { params }) => {
    const id = params.conversation_id
    const { owner } = c.get('principal')
    const outcome = CONVERSATION_ID.test(id) ? await objectOf(c, id).start() : null
    // The 404 of this call has the form of its normal answer, without a message.
    if (outcome === null) return c.json({ status: 'error', conversation_id: id }, 404)
    if (outcome.started) await keepToLimit(c, owner, id)
    return c.json({ status: 'ok', conversation_id: id, message: null, conversation_status: outcome.status })
  },
)

endpoint(
  running,
  {
    method: 'post',
    path: '/api/conversations/{conversation_id}/stop',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Close the session and stop the conversation',
    params: ConversationPath,
    replies: { 200: { description: 'It does not run', schema: ConversationResponse } },
  },
  async (c, { params }) => {
    const id = params.conversation_id
    const stopped = CONVERSATION_ID.test(id) && (await objectOf(c, id).stop())
    const message = stopped ? 'Conversation stopped successfully' : 'Conversation was not running'
    return c.json({ status: 'ok', conversation_id: id, message, conversation_status: 'STOPPED' as const })
  },
)

/** Also deletes one that cannot be opened any more. */
async function deletedSomehow(c: Context<AppEnv>, id: string): Promise<boolean> {
  try {
    return await objectOf(c, id).delete()
  } catch (error) {
    if (await deleteDamaged(c.env, c.get('principal').owner, id)) return true
    throw error
  }
}

export { changing, running }

/**
 * Deletes a conversation if its object cannot, because its file is damaged; false if the file is not damaged. The file
 * is deleted last: until then all of this can be repeated.
 */
async function deleteDamaged(env: Env, owner: string, id: string): Promise<boolean> {
  const place = conversationPlace(env, owner, id)
  const damaged = await objectDamage(env, place)
  if (damaged === null) return false
  await deleteFiles(env, conversationPrefix(owner, id))
  await deleteConversationRows(env.DB, owner, id)
  const removed = await removeDamaged(env, place)
  log.warn('conversation.damaged_deleted', { owner, conversation: id, file: damaged.file, damage: damaged.damage })
  return removed
}

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
