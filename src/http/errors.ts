// What goes wrong on the way to an answer, and how each family of endpoints words it. A handler throws an AppError with
// a code; the router that it belongs to renders the body. The body's shape is the router's, never the error's.

import type { Context } from 'hono'
import { NO_SECRETS_KEY } from '../db/sealed.ts'
import { UpstreamError } from '../lib/http-client.ts'
import { errorFields, log } from '../lib/log.ts'
import type { AppEnv } from './app-env.ts'
import { storageFault } from './storage-fault.ts'

const STATUS = {
  bad_request: 400,
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_conversation: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  duplicate_task: 409,
  duplicate_market_review: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  upgrade_required: 426,
  rate_limited: 429,
  internal_error: 500,
  analysis_failed: 500,
  declared_failure: 500,
  upstream_failed: 502,
  unavailable: 503,
  upstream_timeout: 504,
  storage_full: 507,
} as const

export type ErrorCode = keyof typeof STATUS

/** The codes that answer with a status. */
export const codesOf = (status: number): ErrorCode[] =>
  (Object.keys(STATUS) as ErrorCode[]).filter((code) => STATUS[code] === status)

/** One problem of a request, as the 422 body lists it. */
export type ValidationItem = {
  type: string
  loc: (string | number)[]
  msg: string
  input: unknown
  ctx?: Record<string, unknown>
}

type Options = {
  /** The list of a 422. */
  items?: ValidationItem[]
  /** The `msg_id` of the conversation calls, which clients translate. */
  msgId?: string
  /** Members that stand beside the standard ones in the body. */
  extra?: Record<string, unknown>
  headers?: Record<string, string>
  /** The word that stands for the code in a flat body, where it is not the code itself. */
  word?: string
  cause?: unknown
}

/** A failure that somebody planned: it becomes an answer in the contract's shape. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly options: Options

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.options = options
  }

  get status(): (typeof STATUS)[ErrorCode] {
    return STATUS[this.code]
  }
}

/** What the body of an error looks like in one family of endpoints. */
export type Envelope = {
  /** Builds the body. */
  render(error: AppError): unknown
  /** The shape of a body for one code: what the document says of it. */
  shape(code: ErrorCode): ErrorShape
}

/** The shapes that bodies of errors have; `error-shapes.ts` has their schemas. */
export type ErrorShape = 'detail' | 'validation' | 'rate' | 'error' | 'text' | 'status' | 'flat' | 'flat-validation'

/** `{"detail": …}`: authentication, unknown conversations, everything without a family of its own. */
export const detailEnvelope: Envelope = {
  render: ({ code, message, options }) => ({
    [code === 'rate_limited' ? 'message' : 'detail']: options.items ?? message,
    ...options.extra,
  }),
  shape: (code) => (code === 'unprocessable' ? 'validation' : code === 'rate_limited' ? 'rate' : 'detail'),
}

/** What every family of the conversations words alike: the door, the 422, and a conversation that is not there. */
const IN_DETAIL: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'unknown_conversation',
  'method_not_allowed',
  'payload_too_large',
  'unprocessable',
  'rate_limited',
])

/** An envelope that words what is in `IN_DETAIL` like the rest of the service, and everything else in its own way. */
const besideDetail = (shape: ErrorShape, render: (error: AppError) => unknown): Envelope => ({
  render: (error) => (IN_DETAIL.has(error.code) ? detailEnvelope : { render }).render(error),
  shape: (code) => (IN_DETAIL.has(code) ? detailEnvelope.shape(code) : shape),
})

/** `{"error": …}`: settings, secrets and the workspace. */
export const errorEnvelope = besideDetail('error', ({ message, options }) => ({ error: message, ...options.extra }))

/** A bare JSON string: the data of git providers. */
export const stringEnvelope: Envelope = {
  render: (error) => (error.code === 'unprocessable' ? detailEnvelope.render(error) : error.message),
  shape: (code) => (code === 'unprocessable' ? 'validation' : 'text'),
}

/** `{"status":"error","message","msg_id"}`: making and changing conversations. */
export const statusEnvelope = besideDetail('status', ({ message, options }) => ({
  status: 'error',
  message,
  msg_id: options.msgId ?? '',
  ...options.extra,
}))

/** `{"error": code, "message"}`, flat: everything under `/api/v1`. `detail` appears only when it says something. */
export const analysisEnvelope: Envelope = {
  render: ({ code, message, options }) => {
    const word = options.word ?? WORDS[code] ?? code
    const detail = options.items ?? (word === 'http_error' ? null : undefined)
    return { error: word, message, ...(detail === undefined ? {} : { detail }), ...options.extra }
  },
  shape: (code) => (code === 'unprocessable' ? 'flat-validation' : 'flat'),
}

const WORDS: { [Code in ErrorCode]?: string } = {
  bad_request: 'validation_error',
  unprocessable: 'validation_error',
  payload_too_large: 'http_error',
  method_not_allowed: 'http_error',
  unsupported_media_type: 'http_error',
  declared_failure: 'internal_error',
}

/** As `errorEnvelope`, but for the words of a key that is not valid. */
const settingsEnvelope: Envelope = {
  render: (error) => (error.code === 'unauthorized' ? { error: 'Invalid token' } : errorEnvelope.render(error)),
  shape: (code) => (code === 'unauthorized' ? 'error' : errorEnvelope.shape(code)),
}

/** The envelope of a path, for failures that happen before any router is reached. */
export function envelopeFor(path: string): Envelope {
  if (path.startsWith('/api/v1/')) return analysisEnvelope
  if (path === '/api/settings') return settingsEnvelope
  return detailEnvelope
}

/** Turns whatever was thrown into the answer. What nobody planned becomes an opaque 500; its cause goes to the log. */
export function renderError(error: unknown, c: Context<AppEnv>, envelope: Envelope): Response | Promise<Response> {
  if (!(error instanceof AppError)) return renderUnplanned(error, c, envelope)
  // What a call declares for a failing store says less than what is wrong with the store.
  if (error.code === 'declared_failure' && error.options.cause !== undefined) return renderDeclared(error, c, envelope)
  return answered(error, c, envelope)
}

function answered(error: AppError, c: Context<AppEnv>, envelope: Envelope): Response {
  if (error.status >= 500) {
    const { code, message } = error
    log.warn('http.declared_failure', { requestId: c.get('requestId'), code, message, ...causeOf(error) })
  }
  return c.json(envelope.render(error) as object, error.status, error.options.headers)
}

async function renderDeclared(error: AppError, c: Context<AppEnv>, envelope: Envelope): Promise<Response> {
  return answered((await storageError(error.options.cause, c)) ?? error, c, envelope)
}

async function renderUnplanned(error: unknown, c: Context<AppEnv>, envelope: Envelope): Promise<Response> {
  const fault = await storageError(error, c)
  if (fault !== null) return answered(fault, c, envelope)
  const requestId = c.get('requestId')
  log.error('http.uncaught', { requestId, method: c.req.method, path: c.req.path, ...errorFields(error) })
  const opaque =
    outageOf(error, requestId) ?? new AppError('internal_error', `Internal Server Error (request ${requestId})`)
  return c.json(envelope.render(opaque) as object, opaque.status)
}

async function storageError(error: unknown, c: Context<AppEnv>): Promise<AppError | null> {
  const fault = await storageFault(error, c)
  return fault === null ? null : new AppError(fault.code, fault.message, { cause: error })
}

function outageOf(error: unknown, requestId: string): AppError | null {
  const fault = installationFault(error)
  if (fault !== null) return new AppError('unavailable', fault)
  if (isObjectAway(error)) {
    const message = 'This was broken off by a restart or by too much load; look whether it was done, then try again'
    return new AppError('unavailable', `${message} (request ${requestId})`)
  }
  if (!isDatabaseAway(error)) return null
  return new AppError('unavailable', `The database cannot be reached; try again (request ${requestId})`)
}

/**
 * The platform marks what it throws in the place of a Durable Object, never what the object's own code throws:
 * https://developers.cloudflare.com/durable-objects/best-practices/error-handling/.
 */
function isObjectAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof UpstreamError) return false
  const has = (mark: string) => Reflect.get(error, mark) === true
  return has('durableObjectReset') || (!has('remote') && (has('retryable') || has('overloaded')))
}

/** What the operator has left undone, in a sentence that says what to do; null for any other failure. */
export function installationFault(error: unknown): string | null {
  if (isWithoutTables(error)) return NO_TABLES
  return error instanceof Error && error.message.endsWith(NO_SECRETS_KEY) ? SET_SECRETS_KEY : null
}

const SET_SECRETS_KEY =
  'SECRETS_KEY is not set, so that nothing secret can be stored or read: set it to 32 bytes in base64'

const NO_TABLES =
  'The database lacks tables: run "npx wrangler d1 migrations apply DB --local", or with --remote for a deployed one'

/** A Worker that runs before its migrations did. */
function isWithoutTables(error: unknown): boolean {
  return error instanceof Error && /^D1_(EXEC_)?ERROR\b.*\bno such (table|column)\b/.test(error.message)
}

/** D1 puts these words before everything it throws. What SQLite itself refuses is a fault of ours, not an outage. */
function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error) || !/^D1_(EXEC_)?ERROR\b/.test(error.message)) return false
  return !/SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|AUTH)/.test(error.message)
}

function causeOf(error: AppError): Record<string, unknown> {
  return error.cause === undefined ? {} : { cause: errorFields(error.cause) }
}
