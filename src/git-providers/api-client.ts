// Requests to the API of one provider with one token: its credentials, limits and cached answers. Every failure is an
// `UpstreamError`; an answer in an undocumented shape is `malformed`.

import { z } from 'zod'
import { systemClock } from '../lib/clock.ts'
import { toBase64Url } from '../lib/crypto.ts'
import { fetchThrough } from '../lib/guarded-fetch.ts'
import { type Fetch, operatorFetch, requestBytes, UpstreamError } from '../lib/http-client.ts'
import { type Account, type HostAccess, hostDoor } from './addresses.ts'
import { authorizationOf } from './check-token.ts'
import { notingReason, tellingQuota } from './declined.ts'
import type { Family } from './provider.ts'

export type ApiOptions = {
  /** The API's address, without a trailing slash. */
  base: string
  /** For hosts that a user named. */
  door: HostAccess
  timeoutMs: number
  /** Aborts all requests. */
  signal: AbortSignal
  headers: Record<string, string>
  /** For the addresses of the configuration. */
  fetch?: Fetch | undefined
}

export type Api = {
  readonly base: string
  get<T>(path: string, schema: z.ZodType<T>): Promise<T>
  /** An answer with the `Link` header for its neighbouring pages. */
  page<T>(path: string, schema: z.ZodType<T>): Promise<{ value: T; link: string | null }>
  text(path: string): Promise<string>
  graphql<T>(url: string, question: GraphQl<T>): Promise<T>
  /** A request that creates something: it is never retried, and its answer is not cached. */
  post<T>(path: string, body: object, schema: z.ZodType<T>): Promise<Posted<T>>
}

/** `reason`: why the provider refuses a valid request, in its own words. */
export type Posted<T> = { ok: true; value: T } | { ok: false; reason: string }

export type GraphQl<T> = { query: string; variables: Record<string, unknown>; schema: z.ZodType<T> }

const MAX_BYTES = 5_000_000

const GraphQlReply = z.object({
  data: z.unknown(),
  errors: z.array(z.object({ type: z.string().optional(), message: z.string() })).default([]),
})

type Question = { url: string; body: string | null }

/** One token at one API, with the options of its requests. */
type Connection = Pick<ApiOptions, 'base' | 'timeoutMs' | 'signal' | 'headers'> & {
  service: Family
  token: string | null
  ask: Fetch
}

export function apiFor(account: Account, options: ApiOptions): Api {
  const connection = connectionOf(account, options)
  const { base, service } = connection
  const answer = (path: string) => askKept(connection, { url: base + path, body: null })
  const page: Api['page'] = async (path, schema) => {
    const { bytes, link } = await answer(path)
    return { value: parsed(bytes, schema, service), link }
  }
  return {
    base,
    page,
    post: (path, body, schema) => post(connection, { path, body, schema }),
    get: async (path, schema) => (await page(path, schema)).value,
    text: async (path) => new TextDecoder().decode((await answer(path)).bytes),
    graphql: async (url, { query, variables, schema }) => {
      const { bytes } = await askKept(connection, { url, body: JSON.stringify({ query, variables }) })
      return dataOf(parsed(bytes, GraphQlReply, service), schema, service)
    },
  }
}

function connectionOf({ provider, token, host }: Account, options: ApiOptions): Connection {
  const { base, door, timeoutMs, signal } = options
  const plain: Fetch = options.fetch ?? operatorFetch
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': 'bellwether',
    ...options.headers,
    ...(token === null ? {} : { authorization: authorizationOf(provider, token) }),
  }
  // A host that a user named is requested through the guarded fetch; the operator's addresses are trusted.
  const ask = tellingQuota(host === null ? plain : fetchThrough(hostDoor(door, base)))
  return { base, timeoutMs, signal, headers, service: provider, token, ask }
}

/** The answer; it may be a recent cached one. */
async function askKept(connection: Connection, { url, body }: Question): Promise<KeptAnswer> {
  const { service, token, headers, timeoutMs, signal, ask } = connection
  const key = await answerKey([token, url, body])
  const now = systemClock()
  const known = keptAnswer(key, now)
  if (known?.isFresh) return known.answer
  const etag = known?.answer.etag ?? null
  const reply = await requestBytes(url, {
    service,
    method: body === null ? 'GET' : 'POST',
    headers: {
      ...headers,
      ...(etag === null ? {} : { 'if-none-match': etag }),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === null ? {} : { body }),
    timeoutMs,
    maxBytes: MAX_BYTES,
    // Requests here change nothing.
    retries: 1,
    signal,
    fetch: known === null ? ask : unlessModified(ask, known.answer),
  })
  const link = reply.headers.get('link')
  const fresh = { bytes: reply.bytes, link, etag: reply.headers.get('etag'), askedAt: now }
  keepAnswer(key, fresh)
  return fresh
}

async function post<T>(
  { base, service, headers, timeoutMs, signal, ask }: Connection,
  { path, body, schema }: { path: string; body: object; schema: z.ZodType<T> },
): Promise<Posted<T>> {
  let reason: string | null = null
  const noting = notingReason(ask, (words) => {
    reason = words
  })
  try {
    const { bytes } = await requestBytes(base + path, {
      service,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs,
      maxBytes: MAX_BYTES,
      retries: 0,
      signal,
      fetch: noting,
    })
    return { ok: true, value: parsed(bytes, schema, service) }
  } catch (error) {
    if (reason === null || !(error instanceof UpstreamError)) throw error
    return { ok: false, reason }
  }
}

/** Turns "not modified" into the cached answer, with the new headers. */
function unlessModified(ask: Fetch, known: KeptAnswer): Fetch {
  return async (url, init) => {
    const response = await ask(url, init)
    if (response.status !== 304) return response
    const headers = new Headers(response.headers)
    if (known.link !== null) headers.set('link', known.link)
    if (known.etag !== null) headers.set('etag', known.etag)
    return new Response(known.bytes, { headers })
  }
}

function parsed<T>(bytes: Uint8Array, schema: z.ZodType<T>, service: string): T {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw new UpstreamError({ service, reason: 'malformed', detail: 'no JSON' }, { cause })
  }
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const at = error.issues[0]?.path.join('.') ?? ''
  throw new UpstreamError({ service, reason: 'malformed', detail: at === '' ? 'of another shape' : `at ${at}` })
}

/** The data of a partial answer, if there is any: errors of single nodes leave gaps that the schema must allow. */
function dataOf<T>({ data, errors }: z.output<typeof GraphQlReply>, schema: z.ZodType<T>, service: string): T {
  if (errors.some(({ type }) => type === 'RATE_LIMITED')) throw new UpstreamError({ service, reason: 'rate_limited' })
  const result = schema.safeParse(data)
  if (result.success) return result.data
  const detail = errors.length > 0 ? 'GraphQL errors' : 'of another shape'
  throw new UpstreamError({ service, reason: 'malformed', detail })
}

/** The answer, or null when the provider reports that it does not exist. */
export async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 404) return null
    throw error
  }
}

// A cache of the providers' answers in the isolate. Within some seconds a repeated request is answered from it. After that
// the provider is asked with the entity tag; an answer "not modified" does not count against its quota.

export type KeptAnswer = { bytes: Uint8Array; link: string | null; etag: string | null; askedAt: number }

const FRESH_MS = 10_000
const KEPT_MS = 600_000
const MAX_ANSWER_BYTES = 512 * 1024
const MAX_TOTAL_BYTES = 8 * 1024 * 1024

const kept = new Map<string, KeptAnswer>()
let totalBytes = 0

/** A cached answer, and whether it is recent enough to be used without a request. */
function keptAnswer(key: string, now: number): { answer: KeptAnswer; isFresh: boolean } | null {
  const answer = kept.get(key)
  if (answer === undefined) return null
  const age = now - answer.askedAt
  if (age > KEPT_MS) {
    drop(key)
    return null
  }
  return { answer, isFresh: age < FRESH_MS }
}

/** Caches an answer; the ones that were not used for the longest time are dropped. */
function keepAnswer(key: string, answer: KeptAnswer): void {
  drop(key)
  if (answer.bytes.byteLength > MAX_ANSWER_BYTES) return
  kept.set(key, answer)
  totalBytes += answer.bytes.byteLength
  for (const oldest of kept.keys()) {
    if (totalBytes <= MAX_TOTAL_BYTES) break
    drop(oldest)
  }
}

function drop(key: string): void {
  totalBytes -= kept.get(key)?.bytes.byteLength ?? 0
  kept.delete(key)
}

/** The key of a cached answer. It contains a digest of the token, so an answer is never given to another token. */
async function answerKey(parts: readonly (string | null)[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return toBase64Url(new Uint8Array(digest))
}
