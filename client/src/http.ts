// One request, with its time limit, and with retries if they are harmless: for a read, a request with an
// `Idempotency-Key`, or one that was refused before it had any effect.

import type { Calls } from './api.generated.ts'
import { BellwetherError, ServiceError, TimedOut, Unreachable } from './errors.ts'

export type Settings = {
  /** The URL of the service. */
  url: string
  /** Without one only a service in local mode answers. */
  key?: string | null
  /** The limit of one attempt, 30 s by default. */
  timeoutMs?: number
  /** Attempts after the first, 4 by default. */
  retries?: number
  /** The longest pause before another attempt; if the service requires a longer one, there is no retry. 30 s by default. */
  maxPauseMs?: number
  /** Replaces the global one. */
  fetch?: typeof globalThis.fetch
}

export type Call = keyof Calls
type CallField<C extends Call, K extends string> = K extends keyof Calls[C] ? Calls[C][K] : never
type PathNames<C extends string> = C extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never
type Needed<K extends string, T> = [T] extends [never]
  ? unknown
  : undefined extends T
    ? { [k in K]?: T }
    : { [k in K]: T }

export type Common = {
  /** Executes the request once, however often it is sent. Calls that accept a key get one automatically. */
  idempotencyKey?: string
  signal?: AbortSignal
  timeoutMs?: number
  /** Additional headers. */
  headers?: Readonly<Record<string, string>>
}
export type Options<C extends Call> = Common &
  Needed<'body', CallField<C, 'body'>> &
  ('query' extends keyof Calls[C] ? Pick<Calls[C], 'query'> : unknown) &
  ([PathNames<C>] extends [never] ? unknown : { path: Record<PathNames<C>, string | number> })
export type Reply<C extends Call> = CallField<C, 'reply'>

type AnyOptions = Common & { path?: Record<string, string | number>; query?: object; body?: unknown }

/** The calls that accept an `Idempotency-Key`. */
const KEYED: ReadonlySet<string> = new Set([
  'POST /api/conversations/{conversation_id}/events',
  'POST /api/v1/analysis/analyze',
  'POST /api/v1/analysis/market-review',
  'POST /api/v1/portfolio/positions/{symbol}/analysis',
])
const FIRST_PAUSE_MS = 250
const MOST_PAUSE_MS = 4_000
/** Statuses that may be temporary. */
const PASSING: ReadonlySet<number> = new Set([408, 502, 503, 504])

export class Http {
  readonly url: string
  readonly key: string | null
  readonly #settings: Settings

  constructor(settings: Settings) {
    if (!URL.canParse(settings.url) || !/^https?:$/.test(new URL(settings.url).protocol))
      throw new BellwetherError('bad_url', `Not an address of a service: ${settings.url}`)
    this.url = settings.url.replace(/\/+$/, '')
    this.key = settings.key || null
    if (this.key !== null && !/^[!-~]+$/.test(this.key))
      throw new BellwetherError('bad_key', 'A key has visible ASCII characters only')
    this.#settings = settings
  }

  get headers(): Record<string, string> {
    return this.key === null ? {} : { 'x-session-api-key': this.key }
  }

  /** Any call of the interface, typed by the document. */
  async call<C extends Call>(
    call: C,
    ...[options]: Record<never, never> extends Options<C> ? [Options<C>?] : [Options<C>]
  ): Promise<Reply<C>>
  async call(call: Call, options: AnyOptions = {}): Promise<unknown> {
    const response = await this.send(call, options)
    const type = response.headers.get('content-type') ?? ''
    if (type.includes('json')) return response.json()
    if (/^text\/|\+xml/.test(type)) return response.text()
    return new Uint8Array(await response.arrayBuffer())
  }

  /** The raw answer, for statuses and streams; every status of 400 or more is thrown. */
  async send(call: Call, options: AnyOptions = {}): Promise<Response> {
    const [method = 'GET'] = call.split(' ')
    const key = options.idempotencyKey ?? (KEYED.has(call) ? crypto.randomUUID() : null)
    const isRepeatable = method === 'GET' || method === 'PUT' || key !== null
    const { retries = 4, maxPauseMs = 30_000 } = this.#settings
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#once(call, options, key)
      } catch (error) {
        const pauseMs = pauseAfter(error, { tries, isRepeatable, isKeyed: key !== null })
        if (tries >= retries || pauseMs === null || pauseMs > maxPauseMs) throw error
        await sleep(pauseMs, options.signal)
      }
    }
  }

  async #once(call: Call, options: AnyOptions, key: string | null): Promise<Response> {
    const [method = 'GET', template = '/'] = call.split(' ')
    const { body, signal, query = {}, path = {}, timeoutMs = this.#settings.timeoutMs ?? 30_000 } = options
    const target = `${this.url}${filled(template, path)}${searchOf(query)}`
    const isBytes = body instanceof Uint8Array
    const isRaw = body instanceof FormData || isBytes
    const limit = AbortSignal.timeout(timeoutMs)
    const init: RequestInit = {
      method,
      headers: {
        ...options.headers,
        ...this.headers,
        ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
        ...(isBytes ? { 'content-type': 'application/octet-stream' } : {}),
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      ...(body === undefined ? {} : { body: isRaw ? (body as FormData) : JSON.stringify(body) }),
    }
    try {
      const response = await (this.#settings.fetch ?? fetch)(target, init)
      if (response.status < 400) return response
      throw await refusalOf(response)
    } catch (error) {
      if (error instanceof BellwetherError || signal?.aborted) throw error
      throw limit.aborted ? new TimedOut(`${method} ${template}`, timeoutMs) : new Unreachable(this.url, error)
    }
  }
}

export async function refusalOf(response: Response): Promise<ServiceError> {
  const text = await response.text()
  return new ServiceError(response.status, parsedOr(text), response.headers)
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A proxy in front of the service may answer with a page.
    return text
  }
}

type Tried = { tries: number; isRepeatable: boolean; isKeyed: boolean }

/** The pause before another attempt; null for none. */
function pauseAfter(error: unknown, { tries, isRepeatable, isKeyed }: Tried): number | null {
  const pauseMs = backoff(tries)
  if (!(error instanceof ServiceError)) {
    return isRepeatable && (error instanceof Unreachable || error instanceof TimedOut) ? pauseMs : null
  }
  // Refused before it had any effect, or the first request with the key is still running.
  if (error.status === 429 || (error.status === 409 && isKeyed)) return error.retryAfterMs
  if (!isRepeatable || !PASSING.has(error.status)) return null
  return error.retryAfterMs ?? pauseMs
}

export function backoff(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** tries, MOST_PAUSE_MS) * (0.75 + Math.random() / 2)
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

function filled(template: string, path: Record<string, string | number>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part = String(path[name] ?? '')
    // Only dots would lead to another path.
    if (/^\.*$/.test(part)) throw new BellwetherError('bad_path', `${name} cannot be "${part}"`)
    return encodeURIComponent(part)
  })
}

function searchOf(query: object): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one))
  }
  return search.size === 0 ? '' : `?${search}`
}
