// One conversation for anyone with a link to it. The token is sent in a header; it comes from the fragment of the
// page's URL, which browsers do not send. It opens the three calls below and nothing else: it is not a key, and no key
// can replace it.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { conversation } from '../bindings.ts'
import { config } from '../config.ts'
import { type Share, shareOf } from '../db/shares.ts'
import type { AppEnv } from '../http/app-env.ts'
import { identify } from '../http/auth.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { admit, demandPatience, unauthorized, wrongKey } from '../http/too-many.ts'
import { valueError } from '../http/validation.ts'
import { laxInt } from '../lib/lax.ts'

const app = router(detailEnvelope)

const HEADER = 'x-share-token'
const common = {
  method: 'get',
  scope: 'itself',
  limit: 'uncounted',
  bodyLimit: 'standard',
  tag: 'Conversations',
} as const
const refused = {
  401: { description: 'No link in force has this token' },
  429: { description: 'Too many requests by this link, or too many wrong tokens from this address' },
}
const noFiles = { 403: { description: 'The link shows no files' } }

/** The link of the request's token; each link has its own rate limit. */
async function presented(c: Context<AppEnv>): Promise<Share> {
  // In local mode, requests to a foreign host name or from a foreign page are refused; the identity is not used here.
  if (config(c.env).authMode === 'local') await identify(c.req.raw, c.env)
  const token = c.req.header(HEADER) ?? ''
  if (token === '') throw unauthorized()
  demandPatience(c.env, c.req.raw, token)
  const share = await shareOf(c.env.DB, token)
  if (share === null) throw await wrongKey(c.env, c.req.raw, token)
  const { owner, id } = share
  await admit(c.env, { owner, scopes: [], keyId: `share ${id}`, until: null, via: 'token', isLeaving: false }, 'reads')
  return share
}

/** A link to a deleted conversation is treated like a missing link. */
function there<T>(answer: T | null): T {
  if (answer === null) throw unauthorized()
  return answer
}

const SharedConversation = z
  .object({
    title: z.string(),
    created_at: z.string(),
    expires_at: z.string().describe('When the link ends'),
    last_event_id: z.int().describe('The id of the newest event; -1 for none'),
    with_files: z.boolean(),
    with_hidden: z.boolean(),
  })
  .openapi('SharedConversation')

endpoint(
  app,
  {
    ...common,
    path: '/api/shared',
    summary: 'The conversation that a link shows, by the token in the header `X-Share-Token`',
    replies: { 200: { description: 'What it is', schema: SharedConversation }, ...refused },
  },
  async (c) => {
    const share = await presented(c)
    const shown = there(await conversation(c.env, share.owner, share.conversationId).sharedSummary(share.incarnation))
    return c.json({
      title: shown.title,
      created_at: shown.createdAt,
      expires_at: share.expiresAt,
      last_event_id: shown.lastEventId,
      with_files: share.withFiles,
      with_hidden: share.withHidden,
    })
  },
)

const SharedEvents = z
  .object({ events: z.array(z.record(z.string(), z.unknown())), has_more: z.boolean() })
  .openapi('SharedEvents')

endpoint(
  app,
  {
    ...common,
    path: '/api/shared/events',
    summary: 'The events that a link shows, oldest first',
    query: z.object({
      start_id: laxInt({ min: 0 }).default(0),
      end_id: laxInt({ min: 0 }).optional(),
      reverse: z.enum(['true', 'false']).default('false').describe('Newest first'),
      limit: laxInt({ min: 1, max: 100 }).default(50),
    }),
    replies: { 200: { description: 'One page', schema: SharedEvents }, ...refused },
  },
  async (c, { query }) => {
    const share = await presented(c)
    const page = {
      startId: query.start_id,
      endId: query.end_id ?? null,
      reverse: query.reverse === 'true',
      limit: query.limit,
    }
    const stub = conversation(c.env, share.owner, share.conversationId)
    const text = await stub.sharedEvents(share.incarnation, { ...page, withHidden: share.withHidden })
    return c.get('jsonText')(there(text))
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/shared/files',
    summary: 'One level of the workspace, or with `file` the text of a file, where the link shows files',
    query: z.object({ path: z.string().default(''), file: z.string().optional() }),
    replies: {
      200: {
        description: 'Names in the folder, or the text of the file',
        schema: z.object({
          names: z
            .array(z.string())
            .nullable()
            .describe('Folders first, each with a trailing slash; null beside a text'),
          text: z.string().nullable().describe('What is in the file; null beside names'),
        }),
      },
      ...noFiles,
      404: { description: 'No such text file' },
      ...refused,
    },
  },
  async (c, { query: { path, file } }) => {
    const share = await presented(c)
    if (!share.withFiles) throw new AppError('forbidden', 'This link shows no files')
    const stub = conversation(c.env, share.owner, share.conversationId)
    const answer = there(await stub.sharedFiles(share.incarnation, file === undefined ? { path } : { file }))
    if (answer === 'outside') throw valueError(['query', 'file'], 'The path leads out of the workspace', file ?? path)
    if (answer === 'missing') throw new AppError('not_found', 'No such text file')
    return c.json(answer)
  },
)

export { app as shared }
