// Errors, and the body that each family of endpoints gives them. A handler throws an AppError with a code; its router
// renders the body. The shape of the body depends on the router, never on the error.

import type { Context } from 'hono'
import { conversationPlace } from '../bindings.ts'
import { NO_SECRETS_KEY } from '../db/sealed.ts'
import { UpstreamError } from '../lib/http-client.ts'
import { errorFields, log } from '../lib/log.ts'
import { diskTrouble, objectDamage } from '../lib/state-keeper.ts'
import type { AppEnv } from './app-env.ts'
import { type CallerLanguage, callerLanguage } from './caller-language.ts'

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

/** The codes with a given status. */
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
  /** Further members of the body. */
  extra?: Record<string, unknown>
  headers?: Record<string, string>
  /** The value of `error` in a flat body, if it is not the code itself. */
  word?: string
  cause?: unknown
}

/** An expected failure: it is answered in the shape that the contract defines. */
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

/** The shape of error bodies in one family of endpoints. */
export type Envelope = {
  /** Builds the body. */
  render(error: AppError): unknown
  /** The text of a 422 in the caller's language; by default it is the first problem's. */
  invalid?(items: readonly ValidationItem[], language: CallerLanguage): string
  /** The name of the body's schema for a code, for the document. */
  shape(code: ErrorCode): ErrorShape
}

/** The shapes of error bodies; `openapi.ts` has their schemas. */
export type ErrorShape = 'detail' | 'validation' | 'rate' | 'error' | 'text' | 'status' | 'flat' | 'flat-validation'

/** `{"detail": …}`: authentication, unknown conversations, and everything without a family of its own. */
export const detailEnvelope: Envelope = {
  render: ({ code, message, options }) => ({
    [code === 'rate_limited' ? 'message' : 'detail']: options.items ?? message,
    ...options.extra,
  }),
  shape: (code) => (code === 'unprocessable' ? 'validation' : code === 'rate_limited' ? 'rate' : 'detail'),
}

/** The errors that all families of the conversation API share: authentication, the 422, and an unknown conversation. */
const IN_DETAIL: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'unknown_conversation',
  'method_not_allowed',
  'payload_too_large',
  'unprocessable',
  'rate_limited',
])

/** An envelope that uses `{"detail"}` for the codes in `IN_DETAIL`, and its own body for all others. */
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

/** `{"status":"error","message","msg_id"}`: creating and changing conversations. */
export const statusEnvelope = besideDetail('status', ({ message, options }) => ({
  status: 'error',
  message,
  msg_id: options.msgId ?? '',
  ...options.extra,
}))

/** `{"error": code, "message"}`, flat: everything under `/api/v1`. `detail` is present only when it has a value. */
export const analysisEnvelope: Envelope = {
  render: ({ code, message, options }) => {
    const word = options.word ?? WORDS[code] ?? code
    // Clients show `detail.message` before any other text.
    const told = code === 'bad_request' ? { message } : undefined
    const detail = options.items ?? (word === 'http_error' ? null : told)
    return { error: word, message, ...(detail === undefined ? {} : { detail }), ...options.extra }
  },
  shape: (code) => (code === 'unprocessable' ? 'flat-validation' : 'flat'),
  invalid: (items, language) => INVALID[language](items.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)),
}

/** The problems keep the words that clients match; the sentence around them is in the caller's language. */
const INVALID: Readonly<Record<CallerLanguage, (problems: readonly string[]) => string>> = {
  zh: (problems) => `请求有 ${problems.length} 处不符合要求：${problems.slice(0, 3).join('；')}`,
  en: ([first = 'Validation failed']) => first,
  ko: (problems) => `요청에서 ${problems.length}곳이 형식에 맞지 않습니다: ${problems.slice(0, 3).join('; ')}`,
}

const WORDS: { [Code in ErrorCode]?: string } = {
  bad_request: 'validation_error',
  unprocessable: 'validation_error',
  payload_too_large: 'http_error',
  method_not_allowed: 'http_error',
  unsupported_media_type: 'http_error',
  declared_failure: 'internal_error',
}

/** Like `errorEnvelope`, but with another text for an invalid key. */
const settingsEnvelope: Envelope = {
  render: (error) => (error.code === 'unauthorized' ? { error: 'Invalid token' } : errorEnvelope.render(error)),
  shape: (code) => (code === 'unauthorized' ? 'error' : errorEnvelope.shape(code)),
}

/** The envelope of a path, for failures before any router is reached. */
export function envelopeFor(path: string): Envelope {
  if (path.startsWith('/api/v1/')) return analysisEnvelope
  if (path === '/api/settings') return settingsEnvelope
  return detailEnvelope
}

/** Converts any thrown value into an answer. An unexpected one becomes an opaque 500; its cause is logged. */
export function renderError(error: unknown, c: Context<AppEnv>, envelope: Envelope): Response | Promise<Response> {
  if (!(error instanceof AppError)) return renderUnplanned(error, c, envelope)
  // The storage fault says more than the error that a call declares for a failing store.
  if (error.code === 'declared_failure' && error.options.cause !== undefined) return renderDeclared(error, c, envelope)
  return answered(error, c, envelope)
}

function answered(error: AppError, c: Context<AppEnv>, envelope: Envelope): Response {
  if (error.status >= 500) {
    const { code, message } = error
    log.warn('http.declared_failure', { requestId: c.get('requestId'), code, message, ...causeOf(error) })
  }
  return c.json(envelope.render(worded(error, c, envelope)) as object, error.status, error.options.headers)
}

/** A schema's problem in the caller's language, where the family has one. */
function worded(error: AppError, c: Context<AppEnv>, { invalid }: Envelope): AppError {
  const { code, options } = error
  const [only, ...others] = options.items ?? []
  if (invalid === undefined || only === undefined) return error
  // A refusal by domain code already has its text.
  if (others.length === 0 && only.msg === error.message) return error
  return new AppError(code, invalid(options.items ?? [], callerLanguage(c)), options)
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
 * The platform marks errors that it throws on behalf of a Durable Object, never those of the object's own code:
 * https://developers.cloudflare.com/durable-objects/best-practices/error-handling/.
 */
function isObjectAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof UpstreamError) return false
  const has = (mark: string) => Reflect.get(error, mark) === true
  return has('durableObjectReset') || (!has('remote') && (has('retryable') || has('overloaded')))
}

/** What the operator must do, as a sentence; null for any other failure. */
export function installationFault(error: unknown): string | null {
  if (isWithoutTables(error)) return NO_TABLES
  return error instanceof Error && error.message.endsWith(NO_SECRETS_KEY) ? SET_SECRETS_KEY : null
}

const SET_SECRETS_KEY =
  'SECRETS_KEY is not set, so that nothing secret can be stored or read: set it to 32 bytes in base64'

const NO_TABLES =
  'The database lacks tables: run "npx wrangler d1 migrations apply DB --local", or with --remote for a deployed one'

/** The Worker was started before its migrations were applied. */
function isWithoutTables(error: unknown): boolean {
  return error instanceof Error && /^D1_(EXEC_)?ERROR\b.*\bno such (table|column)\b/.test(error.message)
}

/** D1 puts these words before every error. An error of SQLite itself is a bug of ours, not an outage. */
function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error) || !/^D1_(EXEC_)?ERROR\b/.test(error.message)) return false
  return !/SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|AUTH)/.test(error.message)
}

function causeOf(error: AppError): Record<string, unknown> {
  return error.cause === undefined ? {} : { cause: errorFields(error.cause) }
}

// Distinguishes a failure of the storage from a bug of ours. The runtime reports only a number for a failed object, and
// the reason is in its log; under `npm start` the state keeper knows the reason and is asked.

type StorageFault = { code: 'storage_full' | 'unavailable'; message: string }

const FULL = /\bSQLITE_FULL\b/
const DAMAGED = /\bSQLITE_(CORRUPT|NOTADB)\b/
/** The messages of the runtime for an object that it could not open or whose writes it could not store. */
const OF_THE_RUNTIME = /^internal error\b|\bSQLITE_(IOERR|READONLY|CANTOPEN|PERM)\b/
/** Thrown by `durable-objects/sql.ts`. */
const NEWER = /^This was stored by a newer release\b/

/** The storage fault that caused this failure; null for any other failure. */
async function storageFault(error: unknown, c: Context<AppEnv>): Promise<StorageFault | null> {
  const said = error instanceof Error ? error.message : String(error)
  if (NEWER.test(said)) return { code: 'unavailable', message: said }
  if (FULL.test(said)) return full('the disk is full')
  if (!OF_THE_RUNTIME.test(said) && !DAMAGED.test(said)) return null
  try {
    const trouble = await diskTrouble(c.env)
    return trouble === null ? await damageFault(c, DAMAGED.test(said)) : full(trouble)
  } catch (fault) {
    // The state keeper did not answer: only the failure itself is known.
    log.warn('http.state_not_asked', errorFields(fault))
    return null
  }
}

const full = (trouble: string): StorageFault => ({
  code: 'storage_full',
  message: `Nothing was stored: ${trouble}. Try again when that is mended; the service needs no restart`,
})

async function damageFault(c: Context<AppEnv>, isDamage: boolean): Promise<StorageFault | null> {
  const id = conversationOf(c)
  const owner = c.get('principal')?.owner
  const found =
    id === null || owner === undefined ? null : await objectDamage(c.env, conversationPlace(c.env, owner, id))
  if (found !== null) {
    const message = `The stored data of this conversation is damaged and cannot be read (${found.file}: ${found.damage}). Restore that file from a backup while the service is stopped, or delete the conversation`
    return { code: 'unavailable', message }
  }
  return isDamage
    ? { code: 'unavailable', message: 'The stored data is damaged; start the service again to hear which' }
    : null
}

function conversationOf(c: Context<AppEnv>): string | null {
  const [, inPath = null] = /^\/api\/conversations\/([^/]+)/.exec(c.req.path) ?? []
  return inPath ?? c.get('conversationId') ?? c.req.query('conversation_id') ?? null
}
