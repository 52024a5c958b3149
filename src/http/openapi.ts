// One function adds an endpoint both as a route and to the document, so the two cannot differ. The schemas that
// validate are the schemas that are published.

import { z } from '@hono/zod-openapi'
import type { Context, Handler } from 'hono'
import type { Admission, AppEnv } from './app-env.ts'
import { demandAnew, isLongAdmitted } from './auth.ts'
import { generateDocument, type Words, withWords } from './document-words.ts'
import { codesOf, type ErrorCode, type ErrorShape, envelopeFor } from './errors.ts'
import { envelopeOf, type Router, serve } from './router.ts'
import { SESSION_COOKIE } from './shown-key.ts'
import { type BodyShape, validate } from './validation.ts'

/** The groups of the document, in their order. */
export const TAGS = {
  Health: 'Whether the service answers. Needs no key.',
  Session: 'Signing a browser in and out.',
  Keys: 'Issuing and revoking API keys.',
  Usage: 'What an owner has of everything that is limited.',
  Owner: 'Everything that an owner has.',
  Audit: 'Who changed what.',
  Options: 'What settings can name.',
  Conversations: 'Making, listing, starting and stopping conversations.',
  Events: 'What happened in a conversation, and what a user adds to it.',
  Workspace: 'The files of a conversation.',
  Git: 'What changed in the repositories of a workspace.',
  'Conversation extras': 'What else clients ask of a conversation.',
  Runners: 'Machines that lend their processes to conversations.',
  Security: 'Which actions of an agent wait for the user.',
  Settings: 'Settings and tokens of git providers.',
  Secrets: 'Named values for the shell of the conversations.',
  'Git providers': 'Repositories, branches and microagents that the stored tokens reach.',
  'Tool server': 'The service as a server of the Model Context Protocol.',
  Analysis: 'Analysing stocks and reviewing markets.',
  'Analysis tasks': 'The queue, its tasks, and what happens to them.',
  'Analysis history': 'Stored reports.',
  Signals: 'What was advised, whether it still holds, and what became of it.',
  Chat: 'Asking about reports and stocks.',
  Stocks: 'Quotes, bars and names.',
  Watchlists: 'Groups of stocks.',
  Portfolio: 'What you hold, from what was booked.',
  Alerts: 'What you want to be told of, and what was told.',
  Screening: 'Finding listings by their kept figures.',
  Schedules: 'Analyses that run by themselves.',
  Notifications: 'Where reports are sent, and what became of it.',
} as const

type Tag = keyof typeof TAGS

type Reply = { description: string; schema?: z.ZodType; contentType?: string }

type Input<S> = S extends z.ZodType ? z.output<S> : undefined

/** Everything about an endpoint except its handler: its documentation and its requirements. */
type EndpointSpec<P, Q, B> = Admission & {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In the document's form: `/api/conversations/{conversation_id}`. */
  path: string
  tag: Tag
  summary: string
  params?: P
  query?: Q
  /** Request headers that it reads itself; they are checked with the rest. */
  headers?: z.ZodObject
  /** A JSON body. `required: false` lets it be absent; the handler then gets null. */
  body?: { schema: B; required: boolean }
  /** A body that the handler reads itself; declared for the document only. */
  rawBody?: { contentType: string; schema: z.ZodType }
  replies: Record<number, Reply>
  /** Examples for the document, where the generated ones would make no sense together. */
  example?: { body?: unknown; reply?: unknown }
  deprecated?: boolean
}

type Valid<P, Q, B> = { params: Input<P>; query: Input<Q>; body: Input<B> }
type Handle<P, Q, B> = (c: Context<AppEnv>, input: Valid<P, Q, B>) => Response | Promise<Response>

/** Adds an endpoint to a router and to the document. The handler gets the parsed output of the schemas. */
export function endpoint<P, Q, B>(app: Router, spec: EndpointSpec<P, Q, B>, handle: Handle<P, Q, B>): void {
  app.openAPIRegistry.registerPath(documentOf(app, spec))
  const shapes = {
    params: spec.params as z.ZodType | undefined,
    query: spec.query as z.ZodType | undefined,
    headers: spec.headers,
    body: spec.body as BodyShape | undefined,
  }
  const plain = Object.values(shapes).every((shape) => shape === undefined)
  const nothing = { params: undefined, query: undefined, body: undefined } as Valid<P, Q, B>
  const handler: Handler<AppEnv> = plain
    ? (c) => handle(c, nothing)
    : (c) => {
        const valid = validate(c, shapes) as Valid<P, Q, B> | Promise<Valid<P, Q, B>>
        const isReady = !(valid instanceof Promise) && !isLongAdmitted(c)
        return isReady ? handle(c, valid) : handleLater(c, valid, handle)
      }
  serve(app, { ...spec, path: honoPath(spec.path) }, handler)
}

async function handleLater<P, Q, B>(
  c: Context<AppEnv>,
  valid: Valid<P, Q, B> | Promise<Valid<P, Q, B>>,
  handle: Handle<P, Q, B>,
): Promise<Response> {
  const input = await valid
  await demandAnew(c)
  return handle(c, input)
}

/** `{name}` is one segment; a name that ends in `_name` and is the last part but one may contain slashes (repositories). */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'repository_name' ? `:${name}{[^]+}` : `:${name}`))
}

type Route = Parameters<Router['openAPIRegistry']['registerPath']>[0]

function documentOf<P, Q, B>(app: Router, spec: EndpointSpec<P, Q, B>): Route {
  const { example = {} } = spec
  const json = spec.body && {
    content: { 'application/json': mediaOf(spec.body.schema as z.ZodType, example.body) },
    required: spec.body.required,
  }
  const raw = spec.rawBody && {
    content: { [spec.rawBody.contentType]: mediaOf(spec.rawBody.schema, example.body) },
    required: true,
  }
  const body = json ?? raw
  const request = {
    ...(spec.params ? { params: spec.params as unknown as z.ZodObject } : {}),
    ...(spec.query ? { query: spec.query as unknown as z.ZodObject } : {}),
    ...(spec.headers ? { headers: spec.headers } : {}),
    ...(body ? { body } : {}),
  }
  return {
    method: spec.method,
    path: spec.path,
    operationId: operationIdOf(spec),
    tags: [spec.tag],
    summary: spec.summary,
    request,
    responses: responsesOf(app, spec),
    ...(spec.scope === 'open' ? { security: [] } : {}),
    ...(spec.deprecated ? { deprecated: true } : {}),
  }
}

/** Unique like the pair of method and path: `getApiConversationsByConversationIdEvents`. */
function operationIdOf({ method, path }: { method: string; path: string }): string {
  const words = path.replaceAll('{', 'by_').split(/[^A-Za-z0-9]+/)
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** Adds the answers that every endpoint can give. */
function repliesOf<P, Q, B>(spec: EndpointSpec<P, Q, B>): Record<number, Reply> {
  const replies: Record<number, Reply> = { ...spec.replies }
  if (spec.body || spec.rawBody) {
    replies[408] ??= { description: 'The body did not come' }
    replies[413] ??= { description: 'The body is too large' }
    replies[415] ??= { description: 'The body has a Content-Encoding' }
  }
  if (spec.params || spec.query || spec.headers || spec.body || spec.rawBody)
    replies[422] ??= { description: 'Validation error' }
  if (spec.scope === 'open') {
    replies[403] ??= { description: 'The service itself asks on behalf of an agent' }
    return replies
  }
  replies[401] ??= { description: 'No valid key' }
  replies[403] ??= { description: 'The key lacks the scope, or the page that asks is of an origin that may not' }
  replies[429] ??= { description: 'Too many requests; `Retry-After` says when to come again' }
  replies[503] ??= {
    description: 'The database cannot be reached, what is stored there cannot be used, or the owner is being deleted',
  }
  return replies
}

function responsesOf<P, Q, B>(app: Router, spec: EndpointSpec<P, Q, B>): Route['responses'] {
  const replies = Object.entries(repliesOf(spec)).map(([status, reply]) => {
    const { description, contentType = 'application/json' } = reply
    const isError = Number(status) >= 400
    const schema = isError ? errorSchema({ app, path: spec.path, status: Number(status) }, reply.schema) : reply.schema
    if (schema === undefined) return [status, { description }]
    return [
      status,
      { description, content: { [contentType]: mediaOf(schema, isError ? undefined : spec.example?.reply) } },
    ]
  })
  return Object.fromEntries(replies)
}

const mediaOf = (schema: z.ZodType, example: unknown) => (example === undefined ? { schema } : { schema, example })

/** The OpenAPI 3.1 document of everything that was added to the app. */
export function documentFor(app: Router, words: Words): object {
  const { openAPIRegistry: registry } = app
  registry.registerComponent('securitySchemes', 'APIKeyHeader', {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-API-Key',
    description: 'A key that `POST /api/keys` issued, or the `session_api_key` of a conversation',
  })
  registry.registerComponent('securitySchemes', 'BearerToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'The same keys',
  })
  registry.registerComponent('securitySchemes', 'SessionCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'What `POST /api/session` sets, over https as `__Host-bellwether_session`; to change something, `Origin` must be the service itself',
  })
  registerSpecComponents(app)
  const document = generateDocument(app, {
    openapi: '3.1.0',
    info: {
      title: 'Bellwether',
      version: '0.53.0',
      description: 'Agent conversations in durable workspaces, and stock analysis, at the edge.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ APIKeyHeader: [] }, { BearerToken: [] }, { SessionCookie: [] }],
  })
  return withWords(document, words)
}

// Shapes that the interface description names although no endpoint uses them: they are in the document, so that clients
// generated from it have the same types as clients generated from the description.

const ExperimentConfig = z.object({ config: z.record(z.string(), z.string()).nullish() })

/** Adds the unused shapes to the document of an app. */
function registerSpecComponents(app: Router): void {
  app.openAPIRegistry.register('ExperimentConfig', ExperimentConfig)
}

// The schemas of error bodies for the document. The envelope of an endpoint's router and the checks before it decide which
// of them apply, so no endpoint declares them by itself.

const ValidationError = z
  .object({
    type: z.string(),
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    input: z.unknown(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('ValidationError')

/** The body of a 422 in the conversation family. */
const HTTPValidationError = z.object({ detail: z.array(ValidationError) }).openapi('HTTPValidationError')

/** The body of a 422 in the analysis family. */
const AnalysisValidationError = z
  .object({ error: z.string(), message: z.string(), detail: z.array(ValidationError) })
  .openapi('AnalysisValidationError')

const SCHEMAS: Readonly<Record<ErrorShape, z.ZodType>> = {
  detail: z.object({ detail: z.string() }).openapi('DetailError'),
  validation: HTTPValidationError,
  rate: z.object({ message: z.string() }).openapi('TooManyRequests'),
  error: z.object({ error: z.string() }).openapi('ErrorBody'),
  text: z.string().openapi('ErrorText'),
  status: z
    .object({ status: z.literal('error'), message: z.string(), msg_id: z.string() })
    .openapi('ConversationError'),
  flat: z.object({ error: z.string(), message: z.string(), detail: z.unknown().optional() }).openapi('ErrorResponse'),
  'flat-validation': AnalysisValidationError,
}

/** The errors that can occur before a request reaches its endpoint. */
const BEFORE_ENDPOINT: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'rate_limited',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'unavailable',
])

type ErrorReply = { app: Router; path: string; status: number }

/** The schema of an error's body: the endpoint's own or the given one, together with those of the checks before it. */
function errorSchema({ app, path, status }: ErrorReply, given: z.ZodType | undefined): z.ZodType | undefined {
  const codes = codesOf(status).filter((code) => code !== 'unknown_conversation' || path.includes('{conversation_id}'))
  const own = given === undefined ? codes.map((code) => envelopeOf(app).shape(code)) : []
  const before = codes.filter((code) => BEFORE_ENDPOINT.has(code)).map((code) => envelopeFor(path).shape(code))
  const shapes = [...new Set([...own, ...before])].map((shape) => SCHEMAS[shape])
  const [first, second, ...others] = given === undefined ? shapes : [given, ...shapes]
  return first === undefined || second === undefined ? first : z.union([first, second, ...others])
}

/** The schema of one error shape, for an endpoint that writes the body itself. */
export const errorBody = (shape: ErrorShape): z.ZodType => SCHEMAS[shape]
