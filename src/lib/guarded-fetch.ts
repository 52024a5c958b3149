// The guarded fetch: the only way to an address that a user, a model, a repository or another server chose. Every address is
// checked before the request, and again at each redirect; answers are limited in size and time.

import {
  type AddressPolicy,
  type AddressQuestion,
  type Chooser,
  checkAddress,
  MARKER_HEADER,
  STRANGER,
  whoseChoice,
} from './address-policy.ts'
import { unlessAborted } from './wait-at-most.ts'

export interface GuardedFetchLimits {
  /** For a response's body, after decompression. */
  maxBytes: number
  /** Until the headers of the last response have arrived. */
  headersTimeoutMs: number
  /** From the first byte sent to the last one received. */
  totalTimeoutMs: number
}

export interface GuardedFetchOptions {
  policy: AddressPolicy
  /** There is no default: the caller must say who chose the address. */
  chosenBy: Chooser
  limits?: Partial<GuardedFetchLimits>
  /** A redirect that would turn the request into a GET is an error. */
  keepsBody?: boolean
  /** A redirect is returned, and not followed. */
  showsRedirects?: boolean
  fetch?: typeof fetch
}

export const DEFAULT_FETCH_LIMITS: GuardedFetchLimits = {
  maxBytes: 32 * 1024 * 1024,
  headersTimeoutMs: 30_000,
  totalTimeoutMs: 120_000,
}

const MAX_REDIRECTS = 3

export type GuardedFetchFailure = 'refused' | 'redirect' | 'too-large' | 'timeout' | 'network'

/** The error of a request here. Its message can be shown: it contains at most the host, never a whole address. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError'
  readonly reason: GuardedFetchFailure

  constructor(reason: GuardedFetchFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

/** Headers that are sent to another origin: any other header may be a credential. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-type',
  'git-protocol',
  'range',
  'user-agent',
])

/** Headers that belong to the connection or name its other end: a caller could use them to hide where a request comes from. */
const NOT_THE_CALLERS = [
  'connection',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Like `fetch`, with a `GuardedFetchError` for everything that it refuses. The caller's signal ends it with the
 * signal's reason. A body must be bytes or text, because a stream cannot be sent again. Redirects are followed,
 * whatever `init` says.
 */
export async function guardedFetch(
  address: string | URL,
  init: RequestInit,
  door: GuardedFetchOptions,
): Promise<Response> {
  if (init.body instanceof ReadableStream) throw new TypeError('a streamed body cannot pass the guarded door')
  const limits = { ...DEFAULT_FETCH_LIMITS, ...door.limits }
  const deadline = new Deadline(limits, init.signal ?? null)
  try {
    const { response, url } = await follow(String(address), { init, door, deadline })
    deadline.headersArrived()
    // A response that is created here has no URL; callers that resolve relative links need the real one.
    return Object.defineProperty(capped(response, limits.maxBytes, deadline), 'url', { value: url.href })
  } catch (error) {
    deadline.end()
    throw deadline.explain(error)
  }
}

/** The guarded fetch with the signature of `fetch`, for libraries. */
export function fetchThrough(door: GuardedFetchOptions): typeof fetch {
  return async (input, init) => {
    if (!(input instanceof Request)) return guardedFetch(input instanceof URL ? input : String(input), init ?? {}, door)
    const { method, headers, signal } = input
    const body = input.body === null ? null : await input.arrayBuffer()
    return guardedFetch(input.url, { method, headers, signal, ...(body && { body }), ...init }, door)
  }
}

type Journey = { init: RequestInit; door: GuardedFetchOptions; deadline: Deadline }
type Leg = { url: URL; chosenBy: Chooser; method: string; headers: Headers; body: BodyInit | null }

async function follow(address: string, { init, door, deadline }: Journey): Promise<{ response: Response; url: URL }> {
  const ask = door.fetch ?? ((url, request) => fetch(url, request))
  const { policy, chosenBy } = door
  let leg: Leg = {
    url: checked(address, { policy, chosenBy }),
    chosenBy,
    method: (init.method ?? 'GET').toUpperCase(),
    headers: new Headers(init.headers),
    body: init.body ?? null,
  }
  for (let redirects = 0; ; redirects++) {
    const { url, method, body } = leg
    const sent = { method, headers: outgoing(leg, policy), signal: deadline.signal }
    const request: RequestInit = { ...sent, redirect: 'manual' }
    const response = await unlessAborted(deadline.signal, ask(url.href, body === null ? request : { ...request, body }))
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
    if (location === null || door.showsRedirects === true) return { response, url }
    await response.body?.cancel()
    if (redirects === MAX_REDIRECTS) throw new GuardedFetchError('redirect', `${url.host} redirects too often`)
    leg = nextLeg(leg, { status: response.status, location, door })
  }
}

/** The caller's headers, and the mark by which the service recognises its own requests. */
function outgoing({ url, chosenBy, headers: given }: Leg, { marker }: AddressPolicy): Headers {
  const headers = new Headers(given)
  for (const name of [...NOT_THE_CALLERS, MARKER_HEADER]) headers.delete(name)
  const isOperators = whoseChoice(url, chosenBy) === 'operator'
  if (marker !== null && !isOperators) headers.set(MARKER_HEADER, marker.sign())
  return headers
}

function checked(address: string, question: AddressQuestion): URL {
  const verdict = checkAddress(address, question)
  if (!verdict.ok) throw new GuardedFetchError('refused', `The address is refused: ${verdict.reason}`)
  return verdict.url
}

function nextLeg(leg: Leg, hop: { status: number; location: string; door: GuardedFetchOptions }): Leg {
  const { policy } = hop.door
  const address = absolute(hop.location, leg.url)
  const sameOrigin = URL.canParse(address) && new URL(address).origin === leg.url.origin
  // After the first redirect the upstream chooses the address, even if it leads back to the first origin.
  const chosenBy = sameOrigin ? leg.chosenBy : STRANGER
  const url = checked(address, { policy, chosenBy })
  if (leg.url.protocol === 'https:' && url.protocol !== 'https:') {
    throw new GuardedFetchError('redirect', `${leg.url.host} redirects from https to http`)
  }
  const dropsBody = hop.status === 303 || (hop.status < 303 && leg.method === 'POST')
  if (dropsBody && hop.door.keepsBody === true && leg.body !== null) {
    throw new GuardedFetchError('redirect', `${leg.url.hostname} redirects and drops what was sent`)
  }
  const headers = new Headers([...leg.headers].filter(([name]) => sameOrigin || HARMLESS_HEADERS.has(name)))
  if (dropsBody) {
    headers.delete('content-type')
    return { url, chosenBy, method: leg.method === 'HEAD' ? 'HEAD' : 'GET', headers, body: null }
  }
  if (leg.body !== null && !sameOrigin) {
    throw new GuardedFetchError('redirect', `${leg.url.host} redirects what was sent to it to another host`)
  }
  return { ...leg, url, chosenBy, headers }
}

/** A relative location is resolved; an absolute one is checked as it was written. */
function absolute(location: string, base: URL): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location
  // The parser reads a backslash as a slash and drops control characters; such an address is meant to mislead.
  if (/^[/\\]{2}/.test(location) || /[\\\s\p{Cc}]/u.test(location)) {
    const written = /^\/\/[^/\\?#\s\p{Cc}]+/u.test(location)
    if (!written) throw new GuardedFetchError('redirect', `${base.host} redirects to a malformed address`)
    return base.protocol + location
  }
  return URL.canParse(location, base.href) ? new URL(location, base).href : location
}

/** The response with a body that fails when it becomes too large or takes too long. */
function capped(response: Response, maxBytes: number, deadline: Deadline): Response {
  const { status, statusText } = response
  if (status === 101) throw new GuardedFetchError('network', 'The host wants to change the protocol')
  const headers = new Headers(response.headers)
  const announced = Number(headers.get('content-length') ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  if (response.body === null || BODILESS.has(status)) {
    deadline.end()
    return new Response(null, { status, statusText, headers })
  }
  // The body below is decoded, and its length is unknown.
  headers.delete('content-encoding')
  headers.delete('content-length')
  return new Response(cappedBody(response.body, maxBytes, deadline), { status, statusText, headers })
}

function cappedBody(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  deadline: Deadline,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let received = 0
  const stop = async (error: unknown) => {
    deadline.end()
    await reader.cancel(error)
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await unlessAborted(deadline.signal, reader.read())
        if (done) {
          deadline.end()
          return controller.close()
        }
        received += value.byteLength
        if (received > maxBytes) throw tooLarge(maxBytes)
        controller.enqueue(value)
      } catch (error) {
        const explained = deadline.explain(error)
        controller.error(explained)
        // A body that failed needs no cancel.
        if (explained instanceof GuardedFetchError && explained.reason === 'network') deadline.end()
        else await stop(explained)
      }
    },
    cancel: stop,
  })
}

function tooLarge(maxBytes: number): GuardedFetchError {
  return new GuardedFetchError('too-large', `The answer is larger than ${maxBytes} bytes`)
}

/** Both time limits and the caller's signal, combined. */
class Deadline {
  readonly signal: AbortSignal
  readonly #headersTimer: ReturnType<typeof setTimeout>
  readonly #totalTimer: ReturnType<typeof setTimeout>

  constructor(limits: GuardedFetchLimits, outer: AbortSignal | null) {
    const late = new AbortController()
    const expire = () => late.abort(new GuardedFetchError('timeout', 'The request took too long'))
    this.#headersTimer = setTimeout(expire, Math.min(limits.headersTimeoutMs, limits.totalTimeoutMs))
    this.#totalTimer = setTimeout(expire, limits.totalTimeoutMs)
    this.signal = outer === null ? late.signal : AbortSignal.any([late.signal, outer])
  }

  headersArrived(): void {
    clearTimeout(this.#headersTimer)
  }

  end(): void {
    clearTimeout(this.#headersTimer)
    clearTimeout(this.#totalTimer)
  }

  /** The error to show for a thrown value: addresses in messages of the runtime are left out. */
  explain(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason
    if (error instanceof GuardedFetchError) return error
    return new GuardedFetchError('network', 'The host cannot be reached', { cause: withoutAddress(error) })
  }
}

function withoutAddress(error: unknown): Error {
  return error instanceof Error && !error.message.includes('://') ? error : new Error('request failed')
}
