// One place where an endpoint becomes both a route and a row of the document, so that neither can say what the other
// does not. The schemas that validate are the schemas that are published.

import { z } from '@hono/zod-openapi'
import type { Context, Handler } from 'hono'
import { generateDocument } from './document.ts'
import type { AppEnv, Router } from './router.ts'
import { registerSpecComponents } from './spec-components.ts'
import { type BodyShape, validate } from './validation.ts'

export type Reply = { description: string; schema?: z.ZodType; contentType?: string }

type Input<S> = S extends z.ZodType ? z.output<S> : undefined

export type EndpointSpec<P, Q, B> = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In the document's form: `/api/conversations/{conversation_id}`. */
  path: string
  tag: string
  summary: string
  params?: P
  query?: Q
  /** A JSON body. `required: false` lets it be absent; the handler then gets null. */
  body?: { schema: B; required: boolean }
  /** A body that the handler reads by itself, for the document only. */
  rawBody?: { contentType: string; schema: z.ZodType }
  replies: Record<number, Reply>
  /** Needs no key. */
  open?: boolean
  deprecated?: boolean
}

type Valid<P, Q, B> = { params: Input<P>; query: Input<Q>; body: Input<B> }

const ValidationError = z
  .object({
    type: z.string(),
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('ValidationError')

/** The body of a 422 in the conversation family. */
export const HTTPValidationError = z.object({ detail: z.array(ValidationError) }).openapi('HTTPValidationError')

/** The body of a 422 in the analysis family. */
export const AnalysisValidationError = z
  .object({ error: z.literal('validation_error'), message: z.string(), detail: z.array(ValidationError) })
  .openapi('AnalysisValidationError')

/** Adds an endpoint to a router and to the document. The handler gets what the schemas made of the request. */
export function endpoint<P, Q, B>(
  app: Router,
  spec: EndpointSpec<P, Q, B>,
  handle: (c: Context<AppEnv>, input: Valid<P, Q, B>) => Response | Promise<Response>,
): void {
  app.openAPIRegistry.registerPath(documentOf(spec))
  const shapes = {
    params: spec.params as z.ZodType | undefined,
    query: spec.query as z.ZodType | undefined,
    body: spec.body as BodyShape | undefined,
  }
  const plain = shapes.params === undefined && shapes.query === undefined && shapes.body === undefined
  const nothing = { params: undefined, query: undefined, body: undefined } as Valid<P, Q, B>
  const handler: Handler<AppEnv> = plain
    ? (c) => handle(c, nothing)
    : async (c) => handle(c, (await validate(c, shapes)) as Valid<P, Q, B>)
  app.on(spec.method.toUpperCase(), honoPath(spec.path), handler)
}

/** `{name}` is one segment; a name that ends in `_name` as the last but one part may hold slashes (repositories). */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'repository_name' ? `:${name}{.+}` : `:${name}`))
}

function documentOf<P, Q, B>(spec: EndpointSpec<P, Q, B>): Parameters<Router['openAPIRegistry']['registerPath']>[0] {
  const json = spec.body && {
    content: { 'application/json': { schema: spec.body.schema as z.ZodType } },
    required: spec.body.required,
  }
  const raw = spec.rawBody && {
    content: { [spec.rawBody.contentType]: { schema: spec.rawBody.schema } },
    required: true,
  }
  const body = json ?? raw
  const request = {
    ...(spec.params ? { params: spec.params as unknown as z.ZodObject } : {}),
    ...(spec.query ? { query: spec.query as unknown as z.ZodObject } : {}),
    ...(body ? { body } : {}),
  }
  return {
    method: spec.method,
    path: spec.path,
    tags: [spec.tag],
    summary: spec.summary,
    request,
    responses: Object.fromEntries(Object.entries(repliesOf(spec)).map(([status, reply]) => [status, replyOf(reply)])),
    ...(spec.open ? { security: [] } : {}),
    ...(spec.deprecated ? { deprecated: true } : {}),
  }
}

/** What every endpoint may answer need not be written at each. */
function repliesOf<P, Q, B>(spec: EndpointSpec<P, Q, B>): Record<number, Reply> {
  const replies: Record<number, Reply> = { ...spec.replies }
  if (!spec.open) replies[401] ??= { description: 'No valid key' }
  if (spec.params || spec.query || spec.body || spec.rawBody) {
    const schema = spec.path.startsWith('/api/v1/') ? AnalysisValidationError : HTTPValidationError
    replies[422] ??= { description: 'Validation error', schema }
  }
  return replies
}

function replyOf({ description, schema, contentType = 'application/json' }: Reply) {
  return schema ? { description, content: { [contentType]: { schema } } } : { description }
}

/** The OpenAPI 3.1 document of everything that was added to the app. */
export function documentFor(app: Router): object {
  app.openAPIRegistry.registerComponent('securitySchemes', 'APIKeyHeader', {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-API-Key',
  })
  registerSpecComponents(app)
  return generateDocument(app, {
    openapi: '3.1.0',
    info: {
      title: 'Bellwether',
      version: '0.53.0',
      description: 'Agent conversations in durable workspaces, and stock analysis, at the edge.',
    },
    security: [{ APIKeyHeader: [] }],
  })
}
