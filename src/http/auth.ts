// Authentication. Closed by default: a request needs a key, or a token or cookie that stands for a key; in local mode
// it must come from this machine and be addressed to it.

import type { Context } from 'hono'
import { generateCookie } from 'hono/cookie'
import { type Config, config } from '../config.ts'
import { type ApiKey, endSession, type Scope } from '../db/keys.ts'
import { noteOwnPort } from '../lib/address-policy.ts'
import { constantTimeEqual, hexId } from '../lib/crypto.ts'
import { portOf } from '../lib/ip-address.ts'
import { noteRightKey } from '../limits/limits.ts'
import type { AppEnv, Principal } from './app-env.ts'
import { AppError } from './errors.ts'
import { checkKey, forgetKey, keyInForce, readToken, rememberedKey, type SessionToken, signToken } from './keys.ts'
import { isOpenToLeavers, leaving, refuseLeavingOwner } from './leaving.ts'
import { bearerIn, cookieIn, queryKeyIn, SESSION_COOKIE } from './shown-key.ts'
import { demandPatience, unauthorized, wrongKey } from './too-many.ts'

/**
 * Browsers accept a cookie with this prefix only from this exact host, over TLS, for all paths: another host of the
 * domain cannot replace it.
 */
export const HOST_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`
const LOCAL_OWNER = 'local'
/** Well within the time that the deletion of an owner allows for running requests. */
const SLOW_BODY_MS = 5_000

const LOCAL: Principal = {
  owner: LOCAL_OWNER,
  scopes: ['conversations', 'analysis', 'admin'],
  keyId: null,
  until: null,
  via: 'local',
  isLeaving: false,
}

const ROOT: Principal = { owner: 'root', scopes: ['admin'], keyId: null, until: null, via: 'root', isLeaving: false }

/**
 * Not `x.localhost`, which every browser resolves to this machine: pages that an agent wrote may be served under such a
 * name.
 */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The client, or an AppError: 401 without a valid credential, 403 for a request that a web page must not make. Most
 * requests have a cached key: for these no promise is created.
 */
export function identify(request: Request, env: Env): Principal | Promise<Principal> {
  const known = identifyRemembered(request, env)
  return known === null ? identifyAny(request, env).then(demandMoreThanRunner) : demandMoreThanRunner(known)
}

function demandMoreThanRunner(principal: Principal): Principal {
  if (!principal.scopes.every((scope) => scope === 'runner') || principal.scopes.length === 0) return principal
  throw new AppError('forbidden', 'This key connects runners and opens nothing else')
}

/** The principal of the key in the header, if this isolate has it in its cache; null says nothing. */
function identifyRemembered(request: Request, env: Env): Principal | null {
  const { authMode, keyCacheMs } = config(env)
  const text = authMode === 'keys' ? bearer(request) : null
  if (text === null) return null
  const key = rememberedKey(text, keyCacheMs)
  if (key === null) return null
  demandPatience(env, request, text)
  noteRightKey(text)
  return principalOf(key, { via: 'header', until: null })
}

/** Like `identify`, for keys of every scope, including those that only connect runners. */
async function identifyAny(request: Request, env: Env): Promise<Principal> {
  const settings = config(env)
  if (settings.authMode === 'local') {
    const local = identifyLocal(request, settings)
    await refuseLeavingOwner(request, env, local.owner)
    return local
  }
  const header = bearer(request)
  const text = header ?? queryKey(request)
  if (text !== null) {
    demandPatience(env, request, text)
    const principal = await identifyText(text, env, request)
    if (principal === null) throw await wrongKey(env, request, text)
    noteRightKey(text)
    refuseLeaving(principal, request)
    return header === null && principal.via === 'header' ? { ...principal, via: 'query' } : principal
  }
  const principal = await identifyCookie(request, env, settings)
  if (principal === null) throw unauthorized()
  refuseLeaving(principal, request)
  const changes = !SAFE.has(request.method) || request.headers.get('upgrade') !== null
  if (changes && request.headers.get('origin') !== new URL(request.url).origin) {
    throw new AppError('forbidden', 'A signed-in browser may only change something from the same origin')
  }
  return principal
}

function refuseLeaving({ isLeaving }: Principal, request: Request): void {
  if (isLeaving && !isOpenToLeavers(request)) throw leaving()
}

/** Checks again after a slow body: the key may have been revoked meanwhile, or its owner deleted. */
export async function demandAnew(c: Context<AppEnv>): Promise<void> {
  if (isLongAdmitted(c)) await identify(c.req.raw, c.env)
}

export function isLongAdmitted(c: Context<AppEnv>): boolean {
  const admittedAt = c.get('admittedAt')
  return admittedAt !== undefined && Date.now() - admittedAt > SLOW_BODY_MS
}

/** Throws a 403 unless the key has the scope. */
export function demandScope({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): void {
  if (!scopes.includes(scope)) throw new AppError('forbidden', `This key lacks the scope "${scope}"`)
}

/** The owner, for resources of both families. Throws a 403 unless the key has the scopes of both. */
export function ownerOfBoth(c: Context<AppEnv>): string {
  const principal = c.get('principal')
  demandScope(principal, 'conversations')
  demandScope(principal, 'analysis')
  return principal.owner
}

/** Whether the credential that opened a stream is still valid. Throws when that cannot be determined now. */
export async function isStillAdmitted(c: Context<AppEnv>, scope: Scope): Promise<boolean> {
  try {
    const principal = await identify(c.req.raw, c.env)
    demandScope(principal, scope)
    return principal.owner === c.get('principal').owner
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/**
 * Whether pages of the request's origin may call: in local mode those of this service under any loopback name, and in
 * every mode those that the operator listed.
 */
export function isAllowedOrigin(request: Request, { authMode, corsOrigins }: Config): boolean {
  const origin = request.headers.get('origin')
  if (origin === null || !URL.canParse(origin)) return false
  if (corsOrigins.includes(origin)) return true
  const from = new URL(origin)
  return authMode === 'local' && LOOPBACK.test(from.hostname) && portOf(from) === hostOf(request).port
}

/** Throws a 403 for requests from web pages of another origin in local mode, where no key protects the service. */
export function demandOwnPage(request: Request, settings: Config): void {
  if (settings.authMode !== 'local' || !request.headers.has('origin') || isAllowedOrigin(request, settings)) return
  throw new AppError(
    'forbidden',
    'Local mode answers web pages of its own origin only; CORS_ORIGINS lists others that may call it',
  )
}

function identifyLocal(request: Request, settings: Config): Principal {
  const { host, port } = hostOf(request)
  if (!LOOPBACK.test(host) || !LOOPBACK.test(new URL(request.url).hostname)) {
    throw new AppError(
      'forbidden',
      'Local mode answers only at localhost, 127.0.0.1 and [::1]; use AUTH_MODE=keys to serve others',
    )
  }
  demandOwnPage(request, settings)
  noteOwnPort(port)
  return LOCAL
}

/** The name and port to which the client sent the request. */
function hostOf(request: Request): { host: string; port: string } {
  const url = new URL(request.url)
  const [, host = '', port = portOf(url)] = /^(.*?)(?::(\d+))?$/.exec(request.headers.get('host') ?? url.host) ?? []
  return { host, port }
}

/** The text of the key or token that came with a request, or null. */
export function presentedKey(request: Request): string | null {
  return bearer(request) ?? queryKey(request)
}

function bearer(request: Request): string | null {
  const key = request.headers.get('x-session-api-key')
  if (key !== null && key !== '') return key
  return bearerIn(request.headers.get('authorization'))
}

const queryKey = (request: Request): string | null => queryKeyIn(request.method, new URL(request.url))

/** The principal of a key or token on this path, or null. */
async function identifyText(text: string, env: Env, request: Request): Promise<Principal | null> {
  const { rootApiKey, secretsKey, keyCacheMs } = config(env)
  if (text.startsWith('bwc_')) {
    const token = secretsKey === null ? null : readToken(secretsKey, 'bwc', text)
    if (token === null || !belongsTo(new URL(request.url), token.conversation)) return null
    const key = await keyInForce(env, token.key, keyCacheMs)
    if (key === null || key.owner !== token.owner) return null
    const scopes = key.scopes.filter((scope) => scope === 'conversations')
    return { ...principalOf(key, { via: 'token', until: token.until }), scopes }
  }
  const key = await checkKey(env, text, keyCacheMs)
  if (key !== null) return principalOf(key, { via: 'header', until: null })
  return rootApiKey !== null && constantTimeEqual(text, rootApiKey) ? ROOT : null
}

/** The owner of a request's credential, only to tell owners apart: no failed attempt is counted and no access is granted. */
export async function ownerShown(request: Request, env: Env): Promise<string | null> {
  const settings = config(env)
  if (settings.authMode === 'local') return null
  const text = presentedKey(request)
  const principal =
    text === null ? await identifyCookie(request, env, settings) : await identifyText(text, env, request)
  return principal?.owner ?? null
}

async function identifyCookie(request: Request, env: Env, settings: Config): Promise<Principal | null> {
  const session = sessionOf(request, settings)
  const key = session === null ? null : await keyInForce(env, session.key, settings.keyCacheMs)
  return key === null || session === null || key.endedSessions.includes(session.session)
    ? null
    : principalOf(key, { via: 'cookie', until: session.until })
}

/** The session in the request's cookie; null without a valid, unexpired cookie. */
function sessionOf(request: Request, { secretsKey }: Config): SessionToken | null {
  const text = cookieIn(request.headers.get('cookie'), isSecure(request.url) ? HOST_SESSION_COOKIE : SESSION_COOKIE)
  return text === null || secretsKey === null ? null : readToken(secretsKey, 'bws', text)
}

/** A token or cookie is valid as long as it and the key behind it are. */
function principalOf(key: ApiKey, by: Pick<Principal, 'via' | 'until'>): Principal {
  const ends = [key.expiresAt === null ? null : Date.parse(key.expiresAt), by.until].filter((end) => end !== null)
  return {
    owner: key.owner,
    scopes: key.scopes,
    keyId: key.id,
    until: ends.length === 0 ? null : Math.min(...ends),
    via: by.via,
    isLeaving: key.isLeaving,
  }
}

/** A conversation's token opens that conversation's routes and sockets only. */
function belongsTo(url: URL, conversationId: string): boolean {
  const prefix = `/api/conversations/${conversationId}`
  if (url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)) return true
  return url.pathname.startsWith('/socket.io') && url.searchParams.get('conversation_id') === conversationId
}

// How a runner authenticates. Its key has the scope `runner`; in local mode, where other callers on the machine need no
// key, it sends the token from the state folder. A request with an Origin comes from a web page and is refused in every
// mode: no page may act as a runner.

export type RunnerPrincipal = Pick<Principal, 'owner' | 'keyId' | 'until'>

/** Throws a 401 without a valid key or token, and a 403 for a web page and for a key of another scope. */
export async function identifyRunner(request: Request, env: Env): Promise<RunnerPrincipal> {
  await refusePages(request, env)
  const { authMode, runnerToken } = config(env)
  const { owner, keyId, until, scopes } = await identifyAny(request, env)
  if (authMode !== 'local') {
    if (!scopes.includes('runner')) throw new AppError('forbidden', 'This key lacks the scope "runner"')
    return { owner, keyId, until }
  }
  const shown = bearerOf(request)
  if (shown === null || runnerToken === null) throw unauthorized()
  demandPatience(env, request, shown)
  if (!constantTimeEqual(shown, runnerToken)) throw await wrongKey(env, request, shown)
  return { owner, keyId, until }
}

/** Throws a 403 for a request from a web page, and in local mode for a request to a foreign host name. */
export async function refusePages(request: Request, env: Env): Promise<void> {
  if (request.headers.has('origin')) throw new AppError('forbidden', 'Runners are no web pages: send no Origin')
  if (config(env).authMode === 'local') await identifyAny(request, env)
}

export function bearerOf(request: Request): string | null {
  return bearerIn(request.headers.get('authorization'))
}

// Exchanges a key for a cookie that scripts cannot read and that stands for the key: one sign-in for the console and
// for the analysis page.

const SESSION_SECONDS = 30 * 24 * 3600

export type SignedIn = { key: ApiKey; cookie: string }

/**
 * Signs the browser in with the key; null when no key could be read. The same 401 for every text that is not a valid
 * key, and a 429 after too many of them; a 403 for a page of another origin.
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

/** Ends the session of the request, for every copy of its cookie; returns the header that deletes the cookie in the browser. */
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

const isSecure = (url: string): boolean => new URL(url).protocol === 'https:'

const cookieOptions = (c: Context<AppEnv>) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Strict' as const,
  ...(isSecure(c.req.url) ? { secure: true, prefix: 'host' as const } : {}),
})

function demandSameOrigin(c: Context<AppEnv>): void {
  const origin = c.req.header('origin')
  if (origin !== undefined && origin !== new URL(c.req.url).origin) {
    throw new AppError('forbidden', 'Sign in from the console itself')
  }
}
