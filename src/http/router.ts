import { OpenAPIHono } from '@hono/zod-openapi'
import { must } from '../lib/assert.ts'
import { type Envelope, renderError } from './errors.ts'
import type { Principal } from './principal.ts'

export type AppEnv = {
  Bindings: Env
  Variables: {
    requestId: string
    /** Answers with text that is JSON already. */
    jsonText(text: string): Response
    /** Who asks; absent only on the calls that need no key. */
    principal: Principal
    /** Whether the conversation of the path is certainly none; set below `/api/conversations/{conversation_id}`. */
    isUnusedId: boolean | undefined
    /** The conversation that is worked on, where the path does not name it. */
    conversationId?: string
  }
}

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
