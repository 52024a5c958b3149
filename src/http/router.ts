import { OpenAPIHono } from '@hono/zod-openapi'
import { must } from '../lib/assert.ts'
import type { AppEnv } from './app-env.ts'
import { type Envelope, renderError } from './errors.ts'

export type Router = OpenAPIHono<AppEnv>

const envelopes = new WeakMap<Router, Envelope>()

/** A router whose failures, expected or not, all wear the given envelope. */
export function router(envelope: Envelope): Router {
  const app: Router = new OpenAPIHono<AppEnv>()
  envelopes.set(app, envelope)
  app.onError((error, c) => renderError(error, c, envelope))
  return app
}

/** What the failures of a router wear. */
export const envelopeOf = (app: Router): Envelope => must(envelopes.get(app), 'a router made by router()')
