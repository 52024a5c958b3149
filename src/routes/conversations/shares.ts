// The links to a conversation: its owner creates, lists and revokes them.

import { z } from '@hono/zod-openapi'
import { insertShare, listShares, makeShareToken, revokeShare, type Share, shareId } from '../../db/shares.ts'
import { actorOf } from '../../http/app-env.ts'
import { AppError, detailEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { foundOr404, ownConversation } from './access.ts'
import { ConversationPath } from './schemas.ts'

const app = router(detailEnvelope)

const PATH = '/api/conversations/{conversation_id}/shares'
const MOST_SHARES = 20
const WEEK_HOURS = 7 * 24
const MOST_HOURS = 90 * 24
const HOUR_MS = 3_600_000

const ShareInfo = z
  .object({
    share_id: z.string().describe('To take the link back by'),
    created_at: z.string(),
    expires_at: z.string().describe('When the link ends'),
    with_files: z.boolean(),
    with_hidden: z.boolean(),
  })
  .openapi('ShareInfo')

const MadeShare = ShareInfo.extend({
  token: z.string().describe('Shown this once'),
  path: z
    .string()
    .describe("The page of this service that shows the conversation; browsers do not send what follows '#'"),
}).openapi('MadeShare')

const ShareRequest = z
  .strictObject({
    expires_in_hours: laxInt({ min: 1, max: MOST_HOURS }).default(WEEK_HOURS),
    with_files: laxBool().default(false),
    with_hidden: laxBool().default(false),
  })
  .openapi('ShareRequest')

const wire = ({ id, createdAt, expiresAt, withFiles, withHidden }: Share) => ({
  share_id: id,
  created_at: createdAt,
  expires_at: expiresAt,
  with_files: withFiles,
  with_hidden: withHidden,
})

const missing = { 404: { description: 'No such conversation' } }
const common = { scope: 'conversations', bodyLimit: 'standard', tag: 'Conversations' } as const

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: PATH,
    limit: 'writes',
    summary: 'Make a link by which whoever has it reads the conversation until the link ends',
    params: ConversationPath,
    body: { schema: ShareRequest, required: true },
    replies: {
      201: { description: 'The link', schema: MadeShare },
      400: { description: 'The conversation has as many links in force as it may' },
      ...missing,
    },
  },
  async (c, { params: { conversation_id: id }, body }) => {
    const principal = c.get('principal')
    const incarnation = foundOr404(await ownConversation(c, id).incarnation(), id)
    const now = Date.now()
    const share: Share = {
      id: shareId(),
      owner: principal.owner,
      conversationId: id,
      incarnation,
      withFiles: body.with_files,
      withHidden: body.with_hidden,
      createdAt: isoMicros(now),
      expiresAt: isoMicros(now + body.expires_in_hours * HOUR_MS),
    }
    const token = makeShareToken()
    const isMade = await insertShare(c.env.DB, share, { token, most: MOST_SHARES, actor: actorOf(principal) })
    if (!isMade) {
      throw new AppError('bad_request', `This conversation has ${MOST_SHARES} links in force; take one back first`)
    }
    return c.json({ ...wire(share), token, path: `/shared#${token}` }, 201)
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: PATH,
    limit: 'reads',
    summary: 'The links to the conversation that are in force, newest first, without their tokens',
    params: ConversationPath,
    replies: {
      200: { description: 'The links', schema: z.object({ shares: z.array(ShareInfo).describe('Those in force') }) },
      ...missing,
    },
  },
  async (c, { params: { conversation_id: id } }) => {
    const incarnation = foundOr404(await ownConversation(c, id).incarnation(), id)
    const shares = await listShares(c.env.DB, c.get('principal').owner, id)
    return c.json({ shares: shares.filter((share) => share.incarnation === incarnation).map(wire) })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    path: `${PATH}/{share_id}`,
    limit: 'writes',
    summary: 'Take a link back: it opens nothing any more',
    params: ConversationPath.extend({ share_id: z.string().describe('What it was made with, not its token') }),
    replies: {
      200: { description: 'Taken back', schema: z.boolean() },
      404: { description: 'No such conversation, or no such link in force' },
    },
  },
  async (c, { params: { conversation_id: conversationId, share_id: id } }) => {
    const principal = c.get('principal')
    const { owner } = principal
    const isRevoked = await revokeShare(c.env.DB, { owner, conversationId, id, actor: actorOf(principal) })
    if (!isRevoked) throw new AppError('not_found', 'No link with this id is in force')
    return c.json(true)
  },
)

export { app as shares }
