// Requests to services that the operator configured: market data, models, channels. Retries happen only here, so no caller
// multiplies attempts. For an address that a user, a model or a server chose, the options contain the guarded fetch.

import { type AddressPolicy, namedByOperator } from './address-policy.ts'
import { joinBytes } from './bytes.ts'
import { GuardedFetchError, type GuardedFetchLimits, guardedFetch } from './guarded-fetch.ts'
import { sleep, unlessAborted } from './wait-at-most.ts'

export class UpstreamError<Reason extends string = string> extends Error {
  readonly service: string
  /** The HTTP status; null when there was no usable answer. */
  readonly status: number | null
  readonly retryable: boolean
  readonly reason: Reason
  /** How long the service asked callers to wait; null when it did not say. */
  readonly retryAfterMs: number | null

  constructor(failure: UpstreamFailure<Reason>, options?: ErrorOptions) {
    const { service, reason, status = null, detail } = failure
    const facts = [status === null ? null : `HTTP ${status}`, detail].filter(Boolean).join(', ')
    super(`${service}: ${reason}${facts ? ` (${facts})` : ''}`, options)
    this.name = 'UpstreamError'
    this.service = service
    this.status = status
    this.retryable = failure.retryable ?? false
    this.reason = reason
    this.retryAfterMs = failure.retryAfterMs ?? null
  }
}

export type UpstreamFailure<Reason extends string = string> = {
  service: string
  reason: Reason
  status?: number | null
  retryable?: boolean
  retryAfterMs?: number | null
  /** Plain text for users. Never a URL or a body: both may contain secrets. */
  detail?: string
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type RequestOptions = {
  /** Names the upstream in errors and logs. */
  service: string
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  /** For one attempt, from the connection to the last byte. */
  timeoutMs?: number
  maxBytes?: number
  /** Further attempts after the first. By default 2 for GET and 0 for methods that may have an effect. */
  retries?: number
  /** Accepts an answer with any status; by default one that is not 2xx is an error. */
  anyStatus?: boolean
  /** Ends the whole call at once; its own reason is thrown then, not an UpstreamError. */
  signal?: AbortSignal
  fetch?: Fetch
}

type BytesReply = { bytes: Uint8Array; status: number; headers: Headers }

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_MAX_BYTES = 5_000_000
const FIRST_DELAY_MS = 250
// A service that asks for a longer wait is given up: the caller has other sources and a deadline.
const LONGEST_DELAY_MS = 5_000
const UTF8 = 'utf-8'

/** The body of a 2xx answer. Everything else is thrown as UpstreamError. */
export async function requestBytes(url: string, options: RequestOptions): Promise<BytesReply> {
  const retries = options.retries ?? ((options.method ?? 'GET') === 'GET' ? 2 : 0)
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce(url, options)
    } catch (error) {
      if (!(error instanceof UpstreamError) || !error.retryable || attempt >= retries) throw error
      const delayMs = error.retryAfterMs ?? jittered(FIRST_DELAY_MS * 2 ** attempt)
      if (delayMs > LONGEST_DELAY_MS) throw error
      await sleep(delayMs, options.signal)
    }
  }
}

/** The body as text in the given encoding; invalid bytes become U+FFFD. */
export async function requestText(url: string, options: RequestOptions & { encoding?: string }): Promise<string> {
  const { bytes } = await requestBytes(url, options)
  return new TextDecoder(options.encoding ?? UTF8).decode(bytes)
}

/** The body as JSON; the caller must validate it. An HTML page is `not_json`. */
export async function requestJson(url: string, options: RequestOptions): Promise<unknown> {
  const { bytes, headers, status } = await requestBytes(url, options)
  try {
    return JSON.parse(new TextDecoder(UTF8).decode(bytes))
  } catch (cause) {
    const type = (headers.get('content-type') ?? 'unknown type').slice(0, 60)
    throw new UpstreamError({ service: options.service, reason: 'not_json', status, detail: type }, { cause })
  }
}

async function attemptOnce(url: string, options: RequestOptions): Promise<BytesReply> {
  const { service, signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  signal?.throwIfAborted()
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('timed out', 'TimeoutError')), timeoutMs)
  const either = signal ? AbortSignal.any([late.signal, signal]) : late.signal
  try {
    return await unlessAborted(either, exchange(url, options, either))
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    signal?.throwIfAborted()
    // A refused redirect would be refused in every attempt.
    if (error instanceof GuardedFetchError && (error.reason === 'refused' || error.reason === 'redirect')) {
      throw new UpstreamError({ service, reason: 'redirect', detail: error.message }, { cause: error })
    }
    const timedOut = late.signal.aborted
    const detail = timedOut ? { detail: `${timeoutMs} ms` } : {}
    throw new UpstreamError(
      { service, reason: timedOut ? 'timeout' : 'network', retryable: true, ...detail },
      { cause: withoutAddress(error) },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** The error for the log, reduced to its kind when its text contains an address: a query may contain a key. */
function withoutAddress(error: unknown): unknown {
  return error instanceof Error && !error.message.includes('://') ? error : new Error('request failed')
}

async function exchange(url: string, options: RequestOptions, signal: AbortSignal): Promise<BytesReply> {
  const { method = 'GET', headers, body } = options
  const doFetch: Fetch = options.fetch ?? operatorFetch
  const response = await doFetch(url, {
    method,
    signal,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  })
  if (!response.ok && options.anyStatus !== true) {
    await response.body?.cancel()
    throw statusError(options.service, response)
  }
  return { bytes: await readCapped(response, options), status: response.status, headers: response.headers }
}

function statusError(service: string, response: Response): UpstreamError {
  const { status } = response
  const retryable = status === 408 || status === 429 || status >= 500
  const retryAfterMs = retryable ? parseRetryAfter(response.headers.get('retry-after')) : null
  return new UpstreamError({
    service,
    reason: status === 429 ? 'rate_limited' : 'http_status',
    status,
    retryable,
    retryAfterMs,
  })
}

/** Seconds or an HTTP date, as a wait in milliseconds; null for anything else. */
export function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

async function readCapped(response: Response, options: RequestOptions): Promise<Uint8Array> {
  const { service, maxBytes = DEFAULT_MAX_BYTES } = options
  const tooLarge = () =>
    new UpstreamError({ service, reason: 'too_large', status: response.status, detail: `more than ${maxBytes} bytes` })
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw tooLarge()
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return joinBytes(chunks)
}

// Half to one and a half times the delay: clients that failed together do not retry together.
const jittered = (delayMs: number): number => delayMs * (0.5 + Math.random())

// Requests to addresses of the operator's environment, and to providers that the service itself knows. These are
// trusted. A redirect, however, is the service's choice: another origin is allowed only if it is public.

const PUBLIC_ONLY: AddressPolicy = { allowPrivate: [], personMayUseLoopback: false, ownOrigins: [], marker: null }

/** The callers have their own, suitable limits; these apply to requests that they abandon. */
const LIMITS: GuardedFetchLimits = {
  maxBytes: Number.MAX_SAFE_INTEGER,
  headersTimeoutMs: 600_000,
  totalTimeoutMs: 600_000,
}

/** Like `fetch`, for a body of text or bytes. */
export const operatorFetch = (url: string, init: RequestInit): Promise<Response> =>
  guardedFetch(url, init, { policy: PUBLIC_ONLY, chosenBy: namedByOperator(url), limits: LIMITS })

/** Like `fetch`, but a redirect is returned. The response is passed on directly, for streams. */
export const operatorFetchOnce: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' })
