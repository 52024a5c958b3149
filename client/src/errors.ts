// Errors with a code. Every error format of the service is converted to a `ServiceError`.

export class BellwetherError extends Error {
  override readonly name: string = 'BellwetherError'
  /** A code for programs. */
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** There was no answer: the service is not running, or the network failed. */
export class Unreachable extends BellwetherError {
  override readonly name = 'Unreachable'
  readonly url: string

  constructor(url: string, cause: unknown) {
    super(
      'unreachable',
      `No answer from ${url} (${reasonOf(cause)}). Is the service running there, and is the address right?`,
      cause,
    )
    this.url = url
  }
}

export class TimedOut extends BellwetherError {
  override readonly name = 'TimedOut'

  constructor(what: string, ms: number) {
    super('timeout', `${what} was not answered within ${ms / 1000} s`)
  }
}

/** The service ended the stream permanently: its key or its conversation has ended. */
export class StreamClosed extends BellwetherError {
  override readonly name = 'StreamClosed'

  constructor(reason: string) {
    super('stream_closed', `The service closed the stream: ${reason}`)
  }
}

/** One problem of a request, as listed in a 422. */
export type Problem = { type: string; loc: (string | number)[]; msg: string; input?: unknown }

/** The service refused the request or failed. */
export class ServiceError extends BellwetherError {
  override readonly name = 'ServiceError'
  readonly status: number
  /** For a 422: everything that is wrong with the request. */
  readonly problems: readonly Problem[]
  /** The body of the answer: parsed JSON, or the text. */
  readonly body: unknown
  /** The id of the request in the service's log. */
  readonly requestId: string | null
  /** The time until the next attempt; null if the service does not give it. */
  readonly retryAfterMs: number | null

  constructor(status: number, body: unknown, headers: Headers) {
    const { code, message, problems } = read(status, body)
    super(code, message)
    this.status = status
    this.problems = problems
    this.body = body
    this.requestId = headers.get('x-request-id')
    this.retryAfterMs = retryAfterOf(headers.get('retry-after'))
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_error',
  429: 'rate_limited',
  503: 'unavailable',
  507: 'storage_full',
}

function read(status: number, body: unknown): { code: string; message: string; problems: readonly Problem[] } {
  const code = CODES[status] ?? (status >= 500 ? 'service_failed' : 'refused')
  const told = { code, problems: [] }
  if (typeof body === 'string') return { ...told, message: body.trim().slice(0, 500) || `Status ${status}` }
  if (!isRecord(body)) return { ...told, message: `Status ${status}` }
  const { detail, message, error, msg_id, limit } = body
  const problems = Array.isArray(detail) ? detail.filter(isProblem) : []
  const listed = problems.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc.join('.')}: ${msg}`).join('; ')
  const text = [message, typeof error === 'string' && message === undefined ? error : null, detail].find(isText)
  // Under /api/v1 `error` is a code and `message` a text; elsewhere `error` is the text.
  const word = [isText(message) ? error : null, msg_id, typeof limit === 'string' ? 'quota_reached' : null].find(isCode)
  return { code: word ?? code, message: listed || (text ?? `Status ${status}`), problems }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isCode = (value: unknown): value is string => isText(value) && /^[\w$]+$/.test(value) && value !== 'error'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isProblem(value: unknown): value is Problem {
  return isRecord(value) && Array.isArray(value.loc) && typeof value.msg === 'string'
}

/** Seconds or a date. */
export function retryAfterOf(text: string | null): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}

function reasonOf(cause: unknown): string {
  for (let at: unknown = cause; at instanceof Error; at = at.cause) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : ''
    const words = REASONS[code]
    if (words !== undefined) return words
    if (at.cause === undefined) return code || at.message
  }
  return String(cause)
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection lost',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host was not found',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'no way to the host',
  UND_ERR_SOCKET: 'connection lost',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
}
