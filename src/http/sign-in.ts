// A key in exchange for a cookie that scripts cannot read and that stands for the key: one sign-in for the console and for the
// analysis page.

import type { Context } from 'hono'
import { generateCookie } from 'hono/cookie'
import { config } from '../config.ts'
import { type ApiKey, endSession } from '../db/keys.ts'
import { hexId } from '../lib/crypto.ts'
import type { AppEnv } from './app-env.ts'
import { SESSION_COOKIE, sessionOf } from './auth.ts'
import { AppError } from './errors.ts'
import { checkKey, forgetKey, signToken } from './keys.ts'
import { demandPatience, wrongKey } from './too-many.ts'

const SESSION_SECONDS = 30 * 24 * 3600

export type SignedIn = { key: ApiKey; cookie: string }

/**
 * Signs the browser in with the key, null where none could be read. One 401 for every text that is no valid key, and the 429
 * after too many of them; a 403 for a page of another origin.
 */
export async function signIn(c: Context<AppEnv>, text: string | null): Promise<SignedIn> {
  demandSameOrigin(c)
  const { secretsKey, keyCacheMs } = config(c.env)
  if (text !== null) demandPatience(c.env, c.req.raw, text)
  const key = text === null ? null : await checkKey(c.env, text, keyCacheMs)
  if (key === null || secretsKey === null) throw await wrongKey(c.env, c.req.raw, text ?? '')
  const until = Math.min(Date.now() + SESSION_SECONDS * 1000, Date.parse(key.expiresAt ?? '9999-12-31T00:00:00Z'))
  const token = signToken(secretsKey, 'bws', { key: key.id, session: hexId(), until })
  const maxAge = Math.floor((until - Date.now()) / 1000)
  return { key, cookie: generateCookie(SESSION_COOKIE, token, { ...cookieOptions(c), maxAge }) }
}

/** Ends the sign-in of the request, for every copy of its cookie; returns the cookie that takes it from the browser. */
export async function signOut(c: Context<AppEnv>): Promise<string> {
  const settings = config(c.env)
  if (settings.authMode === 'keys') demandSameOrigin(c)
  const session = sessionOf(c.req.raw, settings)
  if (session !== null) {
    await endSession(c.env.DB, session)
    forgetKey(session.key)
  }
  return generateCookie(SESSION_COOKIE, '', { ...cookieOptions(c), maxAge: 0 })
}

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
