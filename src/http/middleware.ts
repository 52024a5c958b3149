// What happens to every request before and after its route: a number, the headers of each answer, and the door.

import type { MiddlewareHandler } from 'hono'
import { type Config, config } from '../config.ts'
import type { Scope } from '../db/keys.ts'
import { demandScope, identify, isLoopback } from './auth.ts'
import { tooLarge } from './body.ts'
import type { AppEnv } from './router.ts'

/** Paths that answer without a key. Everything else that the Worker serves is closed. */
const OPEN = new Set(['/alive', '/health', '/api/health', '/api/v1/health', '/openapi.json', '/api/session'])
const CLOSED = /^\/(api|mcp|socket\.io)(\/|$)/

const NO_CACHE = 'no-cache, no-store, must-revalidate, max-age=0'

/** Numbers the request and gives every answer its headers. Outermost, so that failures get them too. */
export const finish: MiddlewareHandler<AppEnv> = async (c, next) => {
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  await next()
  const { res } = c
  if (res.status === 101) {
    c.res = new Response(null, { status: 101, webSocket: res.webSocket, headers: { 'x-request-id': requestId } })
    return
  }
  const headers = res.headers
  headers.set('x-request-id', requestId)
  headers.set('x-content-type-options', 'nosniff')
  headers.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  headers.set('referrer-policy', 'no-referrer')
  if (!headers.has('cache-control')) {
    headers.set('cache-control', NO_CACHE)
    headers.set('pragma', 'no-cache')
    headers.set('expires', '0')
  }
  const origin = allowedOrigin(c.req.raw, config(c.env))
  if (origin === null) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-allow-credentials', 'true')
  headers.set('access-control-expose-headers', 'x-request-id, retry-after')
  headers.append('vary', 'origin')
}

/** The door: preflights, who asks, whether they may, and whether the body is of a size that is read at all. */
export const guard: MiddlewareHandler<AppEnv> = async (c, next) => {
  const request = c.req.raw
  if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) {
    return preflight(request, config(c.env))
  }
  const { path } = c.req
  if (!OPEN.has(path) && CLOSED.test(path)) {
    const principal = await identify(request, c.env, new URL(request.url))
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
  return next()
}

/** The scope that a path needs; null for what any key may read. */
function scopeOf(path: string): Scope | null {
  if (path.startsWith('/api/v1/')) return 'analysis'
  if (path === '/api/keys' || path.startsWith('/api/keys/')) return 'admin'
  if (path.startsWith('/api/options/')) return null
  return 'conversations'
}

function allowedOrigin(request: Request, { authMode, corsOrigins }: Config): string | null {
  const origin = request.headers.get('origin')
  if (origin === null || !URL.canParse(origin)) return null
  if (authMode === 'local') return isLoopback(new URL(origin).hostname) ? origin : null
  return corsOrigins.includes(origin) ? origin : null
}

function preflight(request: Request, settings: Config): Response {
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
