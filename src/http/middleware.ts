// What happens to every request before and after its route: a number, the headers of each answer, and the door.

import type { Context, MiddlewareHandler } from 'hono'
import { type Config, config } from '../config.ts'
import type { Scope } from '../db/keys.ts'
import { MARKER_HEADER } from '../lib/outbound-marker.ts'
import { kindOf } from '../limits/kinds.ts'
import type { AppEnv } from './app-env.ts'
import { demandScope, identify, isLoopback } from './auth.ts'
import { tooLarge } from './body.ts'
import { AppError } from './errors.ts'
import { takingIn } from './large-bodies.ts'
import { admit } from './too-many.ts'

/** Paths that answer without a key. Everything else that the Worker serves is closed. */
const OPEN = new Set(['/alive', '/health', '/api/health', '/api/v1/health', '/openapi.json', '/api/session'])
/** Socket.IO is closed too, but refuses inside the socket, where its clients can show why. */
const CLOSED = /^\/((api|mcp)(\/|$)|stocks\.index\.json$)/

/** What every answer carries. API answers are never kept by caches unless their route says so itself. */
const STANDARD = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
const UNCACHED = { 'cache-control': 'no-cache, no-store, must-revalidate, max-age=0', pragma: 'no-cache', expires: '0' }
const EXPOSED = 'x-request-id, x-provider-errors, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset'

/** Made once: the runtime copies ready headers in a fraction of the time that it needs to read them from an object. */
const JSON_HEADERS = new Headers({ 'content-type': 'application/json', ...STANDARD, ...UNCACHED })

/**
 * Numbers the request, asks who comes and whether they may, and gives every answer its headers. Most answers are JSON:
 * those get their headers when they are made, for each one that is set afterwards is a call into the runtime of its own.
 */
export const door: MiddlewareHandler<AppEnv> = async (c, next) => {
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  const own = { 'x-request-id': requestId, ...originHeaders(c.req.raw, c.env) }
  let made: Response | null = null
  const jsonText = (text: string, status?: number, more?: Record<string, string>): Response => {
    made = new Response(text, { status: status ?? 200, headers: JSON_HEADERS })
    for (const [name, value] of Object.entries(more === undefined ? own : { ...own, ...more })) {
      made.headers.set(name, value)
    }
    return made
  }
  const json = (value: unknown, status?: number, more?: Record<string, string>): Response =>
    jsonText(JSON.stringify(value), status, more)
  c.json = json as typeof c.json
  c.set('jsonText', jsonText)
  const preflight = await admitted(c)
  if (preflight === null) await takingIn(c, next)
  else c.res = preflight
  if (c.res !== made) addHeaders(c, { ...STANDARD, ...own })
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
    // A page of its own says itself what it may load.
    else if (name !== 'content-security-policy' || !res.headers.has(name)) res.headers.set(name, value)
  }
}

/** Sets who asks, or throws why they may not; the answer itself where the request is only a preflight. */
async function admitted(c: Context<AppEnv>): Promise<Response | null> {
  const request = c.req.raw
  refuseOwn(request, c.env)
  if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) {
    return preflightAnswer(request, config(c.env))
  }
  const { path } = c.req
  if (!OPEN.has(path) && CLOSED.test(path)) {
    const principal = await identify(request, c.env)
    const counted = admit(c.env, principal, kindOf(request.method, path))
    if (counted !== null) await counted
    const scope = scopeOf(path)
    if (scope !== null) demandScope(principal, scope)
    c.set('principal', principal)
  }
  const announced = request.headers.get('content-length')
  if (announced !== null) {
    const { maxBodyBytes, maxUploadBytes } = config(c.env)
    const limit = path.endsWith('/upload-files') ? maxUploadBytes : maxBodyBytes
    if (Number(announced) > limit) throw tooLarge(limit)
  }
  return null
}

/** What this service sent itself on somebody else's word, whichever way it came back, has nobody's rights here. */
function refuseOwn(request: Request, env: Env): void {
  const mark = request.headers.get(MARKER_HEADER)
  if (mark === null || config(env).addressPolicy.marker?.isOurs(mark) !== true) return
  throw new AppError('forbidden', 'This service does not answer what it sends itself for an agent or a setting')
}

/** Without an Origin the configuration is not even looked at: a faulty one must not cost the answer its headers. */
function originHeaders(request: Request, env: Env): Record<string, string> {
  const origin = request.headers.has('origin') ? allowedOrigin(request, config(env)) : null
  if (origin === null) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
    vary: 'origin',
  }
}

/** The scope that a path needs; null for what any key may read. */
function scopeOf(path: string): Scope | null {
  if (path.startsWith('/api/v1/') || path === '/stocks.index.json') return 'analysis'
  if (path === '/api/keys' || path.startsWith('/api/keys/')) return 'admin'
  if (path.startsWith('/api/options/') || path === '/api/usage') return null
  return 'conversations'
}

function allowedOrigin(request: Request, { authMode, corsOrigins }: Config): string | null {
  const origin = request.headers.get('origin')
  if (origin === null || !URL.canParse(origin)) return null
  if (authMode === 'local') return isLoopback(new URL(origin).hostname) ? origin : null
  return corsOrigins.includes(origin) ? origin : null
}

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
