// The console's sign-in: exchanges a key for a cookie that scripts cannot read and that represents the key.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../config.ts'
import { Scope } from '../db/keys.ts'
import type { AppEnv } from '../http/app-env.ts'
import { identify, signIn, signOut } from '../http/auth.ts'
import { readBytes } from '../http/body.ts'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'

const SessionInfo = z
  .object({ owner: z.string(), scopes: z.array(Scope), auth_mode: z.enum(['keys', 'local']) })
  .openapi('SessionInfo')

const SignIn = z.object({ key: z.string() }).openapi('SignIn')

const app = router(detailEnvelope)
const signedIn = { 200: { description: 'Who is signed in', schema: SessionInfo }, 401: { description: 'Nobody is' } }

endpoint(
  app,
  {
    method: 'get',
    path: '/api/session',
    scope: 'itself',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag: 'Session',
    summary: 'Who the browser is signed in as',
    replies: signedIn,
  },
  async (c) => {
    const { owner, scopes } = await identify(c.req.raw, c.env)
    return c.json({ owner, scopes: [...scopes], auth_mode: config(c.env).authMode })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/session',
    scope: 'itself',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag: 'Session',
    summary: 'Sign in with a key',
    rawBody: { contentType: 'application/json', schema: SignIn },
    replies: { ...signedIn, 403: { description: 'Asked from another origin' } },
  },
  async (c) => {
    const { authMode } = config(c.env)
    if (authMode === 'local') {
      const { owner, scopes } = await identify(c.req.raw, c.env)
      return c.json({ owner, scopes: [...scopes], auth_mode: authMode })
    }
    // The same answer for every body without a valid key, including unreadable ones.
    const { key, cookie } = await signIn(c, await keyOf(c))
    return c.json({ owner: key.owner, scopes: key.scopes, auth_mode: authMode }, 200, { 'set-cookie': cookie })
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path: '/api/session',
    scope: 'open',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag: 'Session',
    summary: 'Sign out: this sign-in ends, for every copy of its cookie',
    replies: {
      200: { description: 'Signed out', schema: z.object({ message: z.string() }) },
      403: { description: 'Asked from another origin' },
      503: { description: 'The database cannot be reached, so the sign-in still holds' },
    },
  },
  async (c) => {
    const cookie = await signOut(c)
    return c.json({ message: 'Signed out' }, 200, { 'set-cookie': cookie })
  },
)

async function keyOf(c: Context<AppEnv>): Promise<string | null> {
  const text = new TextDecoder().decode(await readBytes(c.req.raw, config(c.env).maxBodyBytes))
  try {
    return SignIn.safeParse(JSON.parse(text)).data?.key ?? null
  } catch {
    // Not JSON, so it has no key; answered like a wrong one.
    return null
  }
}

export { app as session }
