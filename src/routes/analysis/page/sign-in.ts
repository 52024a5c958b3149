// The sign-in of the analysis page: its password is an access key, its cookie is the console's. Only these bodies are
// in camelCase.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { demandScope, identify, signIn, signOut } from '../../../http/auth.ts'
import { readBytes } from '../../../http/body.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)
const tag = 'Session'

const AuthStatus = z
  .object({
    authEnabled: z.boolean(),
    loggedIn: z.boolean(),
    passwordSet: z.boolean().describe('Never false where keys are needed: the page would offer to choose a password'),
    passwordChangeable: z.boolean(),
    setupState: z.enum(['enabled', 'password_retained', 'no_password']),
  })
  .openapi('AuthStatus')

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/auth/status',
    scope: 'itself',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag,
    summary: 'Whether the analysis page needs a sign-in, and has one',
    replies: { 200: { description: 'The state of the sign-in', schema: AuthStatus } },
  },
  async (c) => {
    if (config(c.env).authMode === 'local') {
      await identify(c.req.raw, c.env)
      return c.json({
        ...{ authEnabled: false, loggedIn: false, passwordSet: false, passwordChangeable: false },
        setupState: 'no_password' as const,
      })
    }
    const state = { authEnabled: true, passwordSet: true, passwordChangeable: false, setupState: 'enabled' as const }
    return c.json({ ...state, loggedIn: await isSignedIn(c) })
  },
)

async function isSignedIn(c: Context<AppEnv>): Promise<boolean> {
  try {
    await identify(c.req.raw, c.env)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return false
    throw error
  }
}

const PasswordLogin = z
  .object({ password: z.string().max(1000).nullish(), passwordConfirm: z.string().nullish() })
  .openapi('PasswordLogin')

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/auth/login',
    scope: 'itself',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag,
    summary: 'Sign in at the analysis page: the password is an access key of the scope `analysis`',
    rawBody: { contentType: 'application/json', schema: PasswordLogin },
    replies: {
      200: { description: 'Signed in; the cookie is set', schema: z.object({ ok: z.literal(true) }) },
      400: { description: 'No password, or a service that needs none' },
      401: { description: 'Not a valid key' },
      403: { description: 'Asked from another origin, or with a key of another scope' },
    },
  },
  async (c) => {
    const say = pageTexts(callerLanguage(c))
    if (config(c.env).authMode === 'local') {
      await identify(c.req.raw, c.env)
      throw new AppError('bad_request', say.authDisabled, { word: 'auth_disabled' })
    }
    const password = await passwordOf(c)
    if (password === '') throw new AppError('bad_request', say.passwordRequired, { word: 'password_required' })
    const { key, cookie } = await signedIn(c, password)
    demandScope(key, 'analysis')
    return c.json({ ok: true as const }, 200, { 'set-cookie': cookie })
  },
)

/** The same message for every text that is not a valid key. */
async function signedIn(c: Context<AppEnv>, password: string) {
  try {
    return await signIn(c, password)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
    throw new AppError('unauthorized', pageTexts(callerLanguage(c)).wrongKey, { word: 'invalid_password' })
  }
}

/** Empty if the body has none. It is read after the check of the origin. */
async function passwordOf(c: Context<AppEnv>): Promise<string> {
  const text = new TextDecoder().decode(await readBytes(c.req.raw, config(c.env).maxBodyBytes))
  try {
    return PasswordLogin.safeParse(JSON.parse(text)).data?.password?.trim() ?? ''
  } catch {
    // Not JSON: there is no password in it.
    return ''
  }
}

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/auth/logout',
    scope: 'open',
    limit: 'uncounted',
    bodyLimit: 'standard',
    tag,
    summary: 'Sign out of the analysis page: this sign-in ends, and no other one',
    replies: {
      204: { description: 'Signed out' },
      403: { description: 'Asked from another origin' },
      503: { description: 'The database cannot be reached, so the sign-in still holds' },
    },
  },
  async (c) => {
    if (config(c.env).authMode === 'local') await identify(c.req.raw, c.env)
    return new Response(null, { status: 204, headers: { 'set-cookie': await signOut(c) } })
  },
)

const managed = {
  method: 'post',
  scope: 'analysis',
  limit: 'writes',
  bodyLimit: 'standard',
  tag,
  replies: { 403: { description: 'Keys are made and revoked elsewhere, and the text says where' } },
} as const

const refuse = (c: Context<AppEnv>): never => {
  const say = pageTexts(callerLanguage(c))
  const message = config(c.env).authMode === 'local' ? say.localMode : say.managedKeys
  throw new AppError('forbidden', message, { word: 'managed_by_operator' })
}

endpoint(
  app,
  { ...managed, path: '/api/v1/auth/settings', summary: 'Refused: whether keys are needed is set by the operator' },
  refuse,
)

endpoint(
  app,
  { ...managed, path: '/api/v1/auth/change-password', summary: 'Refused: there is no password, only keys' },
  refuse,
)

export { app as pageSignIn }
