import { z } from '@hono/zod-openapi'
import { owner } from '../bindings.ts'
import { isLeaving } from '../db/erasures.ts'
import { type ApiKey, findKey, insertKey, listKeys, makeKey, Scope } from '../db/keys.ts'
import { actorOf } from '../http/app-env.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { forgetKey } from '../http/keys.ts'
import { leaving } from '../http/leaving.ts'
import { endpoint } from '../http/openapi.ts'
import { encodeCursor, PAGE_QUERY, pageOf, positionOf } from '../http/paging.ts'
import { router } from '../http/router.ts'
import { valueError } from '../http/validation.ts'
import { isoMicros } from '../lib/clock.ts'

const OWNER = /^[A-Za-z0-9_.@-]{1,64}$/

const KeyInfo = z
  .object({
    id: z.string(),
    owner: z.string(),
    name: z.string(),
    scopes: z.array(Scope),
    created_at: z.string(),
    expires_at: z.string().nullable(),
  })
  .openapi('ApiKeyInfo')

const NewKey = KeyInfo.extend({ key: z.string() }).openapi('NewApiKey')

const KeyList = z.object({ keys: z.array(KeyInfo), next_page_id: z.string().nullable() }).openapi('ApiKeyList')

const CreateKey = z
  .object({
    owner: z.string().regex(OWNER),
    name: z.string().min(1).max(100),
    scopes: z
      .array(Scope)
      .min(1)
      .refine((scopes) => !scopes.includes('runner') || scopes.length === 1, 'the scope "runner" stands alone'),
    expires_at: z.iso.datetime({ offset: true }).nullish(),
  })
  .openapi('CreateApiKey')

const app = router(detailEnvelope)
const common = { tag: 'Keys' } as const

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: '/api/keys',
    scope: 'admin',
    limit: 'writes',
    bodyLimit: 'standard',
    summary: 'Issue a key; the only answer that shows it',
    body: { schema: CreateKey, required: true },
    replies: { 201: { description: 'The new key', schema: NewKey }, 403: { description: 'Not an admin key' } },
  },
  async (c, { body }) => {
    const now = Date.now()
    const expiresAt = body.expires_at ? Date.parse(body.expires_at) : null
    if (expiresAt !== null && expiresAt <= now) {
      throw valueError(['body', 'expires_at'], 'the time has already passed', body.expires_at)
    }
    const { id, text, secretHash } = await makeKey()
    const key: ApiKey = {
      id,
      owner: body.owner,
      name: body.name,
      scopes: [...new Set(body.scopes)],
      secretHash,
      createdAt: isoMicros(now),
      expiresAt: expiresAt === null ? null : isoMicros(expiresAt),
      revokedAt: null,
      endedSessions: [],
      isLeaving: false,
    }
    if (await isLeaving(c.env.DB, body.owner)) throw leaving()
    await insertKey(c.env.DB, key, actorOf(c.get('principal')))
    return c.json({ ...keyInfo(key), key: text }, 201)
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/keys',
    scope: 'admin',
    limit: 'reads',
    bodyLimit: 'standard',
    summary: 'List the keys that were issued and not revoked, newest first',
    query: z.object({
      owner: z.string().optional(),
      ...PAGE_QUERY,
    }),
    replies: {
      200: { description: 'The keys, without their secrets', schema: KeyList },
      400: { description: 'A page_id that is not one of ours' },
      403: { description: 'Not an admin key' },
    },
  },
  async (c, { query }) => {
    const { limit, owner = null, page_id } = query
    const found = await listKeys(c.env.DB, { limit: limit + 1, owner, after: positionOf(page_id) })
    const { page, next_page_id } = pageOf(found, limit, encodeCursor)
    return c.json({ keys: page.map(keyInfo), next_page_id })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'delete',
    path: '/api/keys/{id}',
    scope: 'admin',
    limit: 'writes',
    bodyLimit: 'standard',
    summary: 'Revoke a key, and close whatever is open on it',
    params: z.object({ id: z.string() }),
    replies: {
      200: { description: 'Revoked', schema: z.object({ message: z.string() }) },
      403: { description: 'Not an admin key' },
      404: { description: 'No such key in force' },
    },
  },
  async (c, { params }) => {
    const key = await findKey(c.env.DB, params.id)
    const by = { actor: actorOf(c.get('principal')), at: isoMicros(Date.now()) }
    // The owner's object knows the sockets of the key, and completes a revocation that was started.
    const revoked = key?.revokedAt === null && (await owner(c.env, key.owner).revokeKey(key.id, by))
    forgetKey(params.id)
    if (!revoked) throw new AppError('not_found', 'No key with this id is in force')
    return c.json({ message: 'Key revoked' })
  },
)

const keyInfo = (key: ApiKey) => ({
  id: key.id,
  owner: key.owner,
  name: key.name,
  scopes: key.scopes,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
})

export { app as keys }
