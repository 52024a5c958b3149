// Assembles the one Hono app: what happens to every request, the two families, the document, and the answers for paths
// that nobody serves.

import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError, envelopeFor, renderError } from './http/errors.ts'
import { finish, guard } from './http/middleware.ts'
import { documentFor } from './http/openapi.ts'
import type { AppEnv } from './http/router.ts'
import { analysisRoutes } from './routes/analysis/index.ts'
import { conversationRoutes } from './routes/conversations/index.ts'
import { health } from './routes/health.ts'
import { keys } from './routes/keys.ts'
import { session } from './routes/session.ts'

export const app = new OpenAPIHono<AppEnv>()

app.use(finish)
app.use(guard)
for (const family of [health, session, keys, conversationRoutes, analysisRoutes]) app.route('/', family)

let document: string | undefined

app.get('/openapi.json', (c) => {
  document ??= JSON.stringify(documentFor(app))
  return c.body(document, 200, { 'content-type': 'application/json' })
})

app.notFound((c) => {
  const { path } = c.req
  const error = pathExists(path)
    ? new AppError('method_not_allowed', 'Method Not Allowed')
    : new AppError('not_found', 'Not Found', path.startsWith('/api/v1/') ? { word: 'http_error' } : {})
  return renderError(error, c, envelopeFor(path))
})

app.onError((error, c) => renderError(error, c, envelopeFor(c.req.path)))

let patterns: RegExp[] | undefined

/** Whether any method is served at this path: then a miss is a wrong method, not an unknown path. */
function pathExists(path: string): boolean {
  patterns ??= app.openAPIRegistry.definitions.flatMap((definition) =>
    definition.type === 'route' ? [new RegExp(`^${definition.route.path.replace(/\{\w+\}/g, '[^/]+')}$`)] : [],
  )
  return path === '/openapi.json' || patterns.some((pattern) => pattern.test(path))
}
