import { OpenAPIHono } from '@hono/zod-openapi'
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
  }
}

export type Router = OpenAPIHono<AppEnv>

/** A router whose failures, expected or not, all wear the given envelope. */
export function router(envelope: Envelope): Router {
  const app: Router = new OpenAPIHono<AppEnv>()
  app.onError((error, c) => renderError(error, c, envelope))
  return app
}
