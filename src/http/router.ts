import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, Handler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { METHOD_NAME_ALL } from 'hono/router'
import { must } from '../lib/assert.ts'
import type { Admission, AppEnv } from './app-env.ts'
import { type Envelope, renderError } from './errors.ts'

export type Router = OpenAPIHono<AppEnv>

const envelopes = new WeakMap<Router, Envelope>()

/** A router whose failures, expected or not, are answered in the given envelope. */
export function router(envelope: Envelope): Router {
  const app: Router = new OpenAPIHono<AppEnv>()
  envelopes.set(app, envelope)
  app.onError((error, c) => renderError(error, c, envelope))
  return app
}

/** The envelope of a router's failures. */
export const envelopeOf = (app: Router): Envelope => must(envelopes.get(app), 'a router made by router()')

// Every served path with its requirements. A path without requirements is not served: a route that was added in another
// way is a bug and answers with an error, so it cannot be open by mistake.

/** `path` as the router has it: `/api/keys/:id`. */
type Served = Admission & { readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'; readonly path: string }

type AdmittedPath = { readonly pattern: RegExp; readonly admission: Admission }

const doors = new Map<string, AdmittedPath>()

/** Serves a path and records its requirements. For documented endpoints use `endpoint`, which calls this. */
export function serve(app: Router, { method, path, ...admission }: Served, handler: Handler<AppEnv>): void {
  doors.set(`${method.toUpperCase()} ${path}`, { pattern: patternOf(path), admission })
  app.on(method.toUpperCase(), path, handler)
}

/** The requirements of the handler for the request; without a handler, those of the path. */
export function admissionOf(c: Context<AppEnv>): Admission {
  const route = matchedRoutes(c).find(({ method }) => method !== METHOD_NAME_ALL)
  if (route === undefined) return strangerAdmission(c.req.raw.method, c.req.path)
  return must(doors.get(`${route.method} ${route.path}`), 'what a route demands').admission
}

/** The declared path of the request's handler, without values from the client. */
export const declaredPath = (c: Context<AppEnv>): string =>
  matchedRoutes(c).find(({ method }) => method !== METHOD_NAME_ALL)?.path ?? 'none'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** For clients without a key, this hides which paths exist. */
const CLOSED = /^\/(api|mcp)(\/|$)/

/** An unknown method on a served path has that path's requirements; an unknown path has those of its family. */
function strangerAdmission(method: string, path: string): Admission {
  const limit = READS.has(method) ? 'reads' : 'writes'
  const other = [...doors.values()].find(({ pattern }) => pattern.test(path))?.admission
  if (other !== undefined) return other.limit === 'uncounted' ? other : { ...other, limit }
  if (!CLOSED.test(path)) return { scope: 'open', limit: 'uncounted', bodyLimit: 'standard' }
  return { scope: path.startsWith('/api/v1/') ? 'analysis' : 'conversations', limit, bodyLimit: 'standard' }
}

/** `:name` is one segment, `:name{[^]+}` one or more, with any characters, including line ends. */
function patternOf(path: string): RegExp {
  const segments = path.replaceAll('.', '\\.').replace(/:\w+(\{\[\^\]\+\})?/g, (_, all) => (all ? '[^]+' : '[^/]+'))
  return new RegExp(`^${segments}$`)
}
