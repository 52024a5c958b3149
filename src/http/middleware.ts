// What happens to every request before and after its route: its request id, authentication, and the headers of each
// answer.

import type { Context, MiddlewareHandler, Next } from 'hono'
import { type Config, config } from '../config.ts'
import { storeCounts } from '../db/metrics.ts'
import { MARKER_HEADER } from '../lib/address-policy.ts'
import { isWritten, log, loggedAs } from '../lib/log.ts'
import { count, isCounted, isStoreDue, observe } from '../lib/metrics.ts'
import { shares } from '../limits/share.ts'
import type { AppEnv } from './app-env.ts'
import { demandScope, identify, isAllowedOrigin } from './auth.ts'
import { refuseEncoded, takingIn, tooLarge } from './body.ts'
import { AppError, envelopeFor, renderError } from './errors.ts'
import { admissionOf, declaredPath } from './router.ts'
import { admit } from './too-many.ts'

/** The headers of every answer. API answers are never cached unless their route sets another header. */
const STANDARD = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
const UNCACHED = { 'cache-control': 'no-cache, no-store, must-revalidate, max-age=0', pragma: 'no-cache', expires: '0' }
const EXPOSED = 'x-request-id, x-provider-errors, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset'

/** Created once: the runtime copies ready headers in a fraction of the time that it needs to read them from an object. */
const JSON_HEADERS = new Headers({ 'content-type': 'application/json', ...STANDARD, ...UNCACHED })

/**
 * Assigns a request id, authenticates the client, checks its rights, and sets the headers of every answer. Most answers
 * are JSON: these get their headers when they are created, because each header that is set later is a separate call
 * into the runtime.
 */
export const requestMiddleware: MiddlewareHandler<AppEnv> = (c, next) => {
  const requestId = ownId(c.req.raw) ?? crypto.randomUUID()
  c.set('requestId', requestId)
  return loggedAs({ ids: { requestId } }, () => answered(c, next, requestId))
}

/** Allowed request ids of clients: short, and harmless wherever they are shown. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** The id that the client, or a proxy before this service, gave the request. */
function ownId(request: Request): string | null {
  const id = request.headers.get('x-request-id')
  return id !== null && REQUEST_ID.test(id) ? id : null
}

async function answered(c: Context<AppEnv>, next: Next, requestId: string): Promise<void> {
  const startedAt = Date.now()
  const ofOrigin = originHeaders(c.req.raw, c.env)
  let made: Response | null = null
  const jsonText = (text: string, status = 200, more: Record<string, string> | null = null): Response => {
    made = new Response(text, { status, headers: JSON_HEADERS })
    const { headers } = made
    headers.set('x-request-id', requestId)
    if (ofOrigin !== null) setAll(headers, ofOrigin)
    if (more !== null) setAll(headers, more)
    return made
  }
  const json = (value: unknown, status?: number, more?: Record<string, string>): Response =>
    jsonText(JSON.stringify(value), status, more)
  c.json = json as typeof c.json
  c.set('jsonText', jsonText)
  try {
    const preflight = await admitted(c)
    if (preflight === null) await takingIn(c, next)
    else c.res = preflight
  } catch (error) {
    // Errors of handlers were answered by their router; this one was thrown before a handler.
    c.res = await renderError(error, c, envelopeFor(c.req.path))
  }
  if (c.res !== made) addHeaders(c, { ...STANDARD, 'x-request-id': requestId, ...ofOrigin })
  const ms = Date.now() - startedAt
  if (isCounted()) noteAnswer(c, ms)
  if (isWritten('debug')) {
    log.debug('http.answered', { method: c.req.method, path: declaredPath(c), status: c.res.status, ms })
  }
}

function setAll(headers: Headers, values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) headers.set(name, value)
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function noteAnswer(c: Context<AppEnv>, ms: number): void {
  const { method } = c.req
  const limit = c.get('limitClass') ?? 'none'
  count('bellwether_http_requests_total', {
    class: limit,
    method: METHODS.has(method) ? method : 'other',
    status: c.res.status,
  })
  observe('bellwether_http_request_duration_seconds', { class: limit }, ms / 1_000)
  if (isStoreDue()) c.executionCtx.waitUntil(storeCounts(c.env.DB))
}

function addHeaders(c: Context<AppEnv>, standard: Record<string, string>): void {
  const { res } = c
  if (res.status === 101) {
    c.res = new Response(null, { status: 101, webSocket: res.webSocket, headers: standard })
    return
  }
  const isCached = res.headers.has('cache-control')
  for (const [name, value] of Object.entries(isCached ? standard : { ...standard, ...UNCACHED })) {
    if (name === 'vary') res.headers.append(name, value)
    // Pages set their own content security policy.
    else if (name !== 'content-security-policy' || !res.headers.has(name)) res.headers.set(name, value)
  }
}

/** Sets the principal, or throws the 401 or 403; returns the answer of a preflight request. */
async function admitted(c: Context<AppEnv>): Promise<Response | null> {
  const request = c.req.raw
  refuseOwn(request, c.env)
  if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) {
    return preflightAnswer(request, config(c.env))
  }
  const { scope, limit, bodyLimit } = admissionOf(c)
  c.set('limitClass', limit)
  if (limit !== 'uncounted') {
    const known = identify(request, c.env)
    const principal = known instanceof Promise ? await known : known
    const counted = admit(c.env, principal, limit)
    if (counted !== null) await counted
    if (scope !== 'any') demandScope(principal, scope)
    c.set('principal', principal)
    shares.seen(principal.owner)
    c.set('admittedAt', Date.now())
  }
  c.set('bodyLimit', bodyLimit)
  const announced = request.headers.get('content-length')
  if (announced !== null) {
    const { maxBodyBytes, maxUploadBytes } = config(c.env)
    const most = bodyLimit === 'upload' ? maxUploadBytes : maxBodyBytes
    if (Number(announced) > most) throw tooLarge(most)
  }
  refuseEncoded(request)
  return null
}

/**
 * A request that this service sent itself, because a user or model chose an address that leads back to it, has no
 * rights here.
 */
function refuseOwn(request: Request, env: Env): void {
  const mark = request.headers.get(MARKER_HEADER)
  if (mark === null || config(env).addressPolicy.marker?.isOurs(mark) !== true) return
  throw new AppError('forbidden', 'This service does not answer what it sends itself for an agent or a setting')
}

/** Without an Origin the configuration is not read, so that answers get their headers even if it is invalid. */
function originHeaders(request: Request, env: Env): Record<string, string> | null {
  const origin = request.headers.has('origin') ? allowedOrigin(request, config(env)) : null
  if (origin === null) return null
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
    vary: 'origin',
  }
}

const allowedOrigin = (request: Request, settings: Config): string | null =>
  isAllowedOrigin(request, settings) ? request.headers.get('origin') : null

function preflightAnswer(request: Request, settings: Config): Response {
  if (allowedOrigin(request, settings) === null) return new Response(null, { status: 403 })
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': request.headers.get('access-control-request-headers') ?? '*',
      'access-control-max-age': '600',
    },
  })
}
