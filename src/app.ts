// Assembles the one Hono app: the middleware for every request, the two families of endpoints, the document, and the
// answers for unknown paths.

import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from './http/app-env.ts'
import { AppError, envelopeFor, renderError } from './http/errors.ts'
import { KeptText } from './http/kept-text.ts'
import { requestMiddleware } from './http/middleware.ts'
import { documentFor } from './http/openapi.ts'
import { RememberingRouter } from './http/remembering-router.ts'
import { serve } from './http/router.ts'
import { analysisRoutes } from './routes/analysis/index.ts'
import { audit } from './routes/audit.ts'
import { budget } from './routes/budget.ts'
import { conversationRoutes } from './routes/conversations/index.ts'
import { exported } from './routes/export.ts'
import { health } from './routes/health.ts'
import { imported } from './routes/import.ts'
import { keys } from './routes/keys.ts'
import { mcpServer } from './routes/mcp-server.ts'
import { metrics } from './routes/metrics.ts'
import { owner } from './routes/owner.ts'
import { portView } from './routes/port-view.ts'
import { runners } from './routes/runners.ts'
import { session } from './routes/session.ts'
import { setup } from './routes/setup.ts'
import { shared } from './routes/shared.ts'
import { usage } from './routes/usage.ts'

export const app = new OpenAPIHono<AppEnv>({ router: new RememberingRouter() })

app.use(requestMiddleware)
const toolServer = mcpServer((request, env, ctx) => app.fetch(request, env, ctx))
for (const family of [
  health,
  metrics,
  session,
  keys,
  audit,
  usage,
  owner,
  exported,
  imported,
  budget,
  setup,
  runners,
  shared,
  conversationRoutes,
  analysisRoutes,
  toolServer,
])
  app.route('/', family)

/** Answers every request to the service: for the server of a workspace, for a file of the console, or for the app. */
export function answer(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
  const view = portView(request, env)
  if (view !== null) return view
  return PLAIN_CALL.test(request.url) ? app.fetch(request, env, ctx) : fileOrAnswer(request, env, ctx)
}

async function fileOrAnswer(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
  return (await consoleFile(request, env)) ?? app.fetch(request, env, ctx)
}

/** Paths that the app serves. No file of the console has such a path. */
const OF_APP =
  /^\/(api|mcp|\.well-known|socket\.io)(\/|$)|^\/(alive|health|metrics|openapi\.json|server_info|stocks\.index\.json)$/

/** An ordinary API address, in a form that every URL parser reads the same way. */
const PLAIN_CALL = /^https?:\/\/[\w.:[\]-]+\/api\/[\w/-]*(\?|$)/

/** Null when the path is neither a file nor a page of the console. */
async function consoleFile(request: Request, env: Env): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  if (OF_APP.test(pathname) || (request.method !== 'GET' && request.method !== 'HEAD')) return null
  const file = await env.ASSETS.fetch(request)
  if (file.status !== 404) return file
  // The address of a page that the console renders in the browser.
  const isPage = request.headers.get('sec-fetch-mode') === 'navigate'
  return isPage ? env.ASSETS.fetch(new Request(new URL('/', request.url), request)) : null
}

const document = new KeptText()

serve(
  app,
  { method: 'get', path: '/openapi.json', scope: 'open', limit: 'uncounted', bodyLimit: 'standard' },
  async (c) => {
    const { WORDS } = await import('./routes/words/all.ts')
    const how = { request: c.req.raw, contentType: 'application/json' }
    return document.answer(() => JSON.stringify(documentFor(app, WORDS)), how)
  },
)

app.notFound((c) => {
  const { path } = c.req
  const methods = methodsOf(path)
  const error =
    methods.length > 0
      ? new AppError('method_not_allowed', 'Method Not Allowed', { headers: { allow: methods.join(', ') } })
      : new AppError('not_found', 'Not Found', path.startsWith('/api/v1/') ? { word: 'http_error' } : {})
  return renderError(error, c, envelopeFor(path))
})

app.onError((error, c) => renderError(error, c, envelopeFor(c.req.path)))

let served: { pattern: RegExp; method: string }[] | undefined

/** The methods served at this path. If there are any, a miss is a wrong method, not an unknown path. */
function methodsOf(path: string): string[] {
  served ??= app.openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== 'route') return []
    const { route } = definition
    return [
      {
        pattern: new RegExp(
          `^${route.path.replace(/\{(\w+)\}/g, (_, name) => (name === 'repository_name' ? '.+' : '[^/]+'))}$`,
        ),
        method: route.method.toUpperCase(),
      },
    ]
  })
  if (path === '/openapi.json') return ['GET']
  return served.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
}
