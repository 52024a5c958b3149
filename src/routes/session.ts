// The console's sign-in: a key in exchange for a cookie that scripts cannot read and that stands for the key.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { generateCookie } from 'hono/cookie'
import { config } from '../config.ts'
import { endSession, Scope } from '../db/keys.ts'
import type { AppEnv } from '../http/app-env.ts'
import { identify, SESSION_COOKIE, sessionOf } from '../http/auth.ts'
import { readBytes } from '../http/body.ts'
import { AppError, detailEnvelope } from '../http/errors.ts'
import { checkKey, forgetKey, signToken } from '../http/keys.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { demandPatience, wrongKey } from '../http/too-many.ts'
import { hexId } from '../lib/crypto.ts'

const SESSION_SECONDS = 30 * 24 * 3600

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
    const { authMode, secretsKey, keyCacheMs } = config(c.env)
    if (authMode === 'local') {
      const { owner, scopes } = await identify(c.req.raw, c.env)
      return c.json({ owner, scopes: [...scopes], auth_mode: authMode })
    }
    demandSameOrigin(c)
    const text = await keyOf(c)
    if (text !== null) demandPatience(c.env, c.req.raw, text)
    const key = text === null ? null : await checkKey(c.env, text, keyCacheMs)
    // One answer for every body without a valid key, an unreadable one included.
    if (key === null || secretsKey === null) throw await wrongKey(c.env, c.req.raw, text ?? '')
    const until = Math.min(Date.now() + SESSION_SECONDS * 1000, Date.parse(key.expiresAt ?? '9999-12-31T00:00:00Z'))
    const cookie = generateCookie(
      SESSION_COOKIE,
      signToken(secretsKey, 'bws', { key: key.id, session: hexId(), until }),
      {
        ...cookieOptions(c),
        maxAge: Math.floor((until - Date.now()) / 1000),
      },
    )
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
    const settings = config(c.env)
    if (settings.authMode === 'keys') demandSameOrigin(c)
    const session = sessionOf(c.req.raw, settings)
    if (session !== null) {
      await endSession(c.env.DB, session)
      forgetKey(session.key)
    }
    const cookie = generateCookie(SESSION_COOKIE, '', { ...cookieOptions(c), maxAge: 0 })
    return c.json({ message: 'Signed out' }, 200, { 'set-cookie': cookie })
  },
)

const cookieOptions = (c: Context<AppEnv>) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Strict' as const,
  secure: new URL(c.req.url).protocol === 'https:',
})

function demandSameOrigin(c: Context<AppEnv>): void {
  const origin = c.req.header('origin')
  if (origin !== undefined && origin !== new URL(c.req.url).origin) {
    throw new AppError('forbidden', 'Sign in from the console itself')
  }
}

async function keyOf(c: Context<AppEnv>): Promise<string | null> {
  const text = new TextDecoder().decode(await readBytes(c.req.raw, config(c.env).maxBodyBytes))
  try {
    return SignIn.safeParse(JSON.parse(text)).data?.key ?? null
  } catch {
    // Not JSON, so no key in it; answered like a wrong one.
    return null
  }
}

export { app as session }
