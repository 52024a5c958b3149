// Determines the caller of a request for the proxy: the owner of its key, if the runtime has reported it. Requests without a key, or
// with a key of an unknown owner, count as one caller per address, so a new key in every request gives no advantage.

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { bearerIn, cookieIn, queryKeyIn, SESSION_COOKIE } from '../../src/http/shown-key.ts'
import { FRONT_HEADER, OWNER_HEADER } from './front-word.ts'
import { HOST } from './port.ts'

/** The maximum number of keys in the owner cache. */
const MOST_REMEMBERED = 10_000
/** The maximum number of keys that wait for a lookup. A key beyond it is looked up with its next request. */
const MOST_ASKED = 100
/** How long a key without an owner is not looked up again. In local mode all keys have no owner. A key never gets an owner later. */
const NOBODYS_MS = 10_000
const TIMEOUT_MS = 5_000

export class Callers {
  readonly #word: string
  readonly #owners = new Map<string, string>()
  readonly #nobodys = new Map<string, number>()
  readonly #asked = new Map<string, Question>()

  constructor(word: string) {
    this.#word = word
  }

  /** `port` is the runtime's. All requests of an owner have the same caller name when the runtime has reported the owner of the keys. */
  nameOf(request: IncomingMessage, port: number): string {
    const shown = shownBy(request)
    if (shown !== null) {
      const key = createHash('sha256').update(shown.text).digest('base64')
      const owner = this.#owners.get(key)
      if (owner !== undefined) return `owner ${owner}`
      this.#askLater(key, { ...shown, url: request.url ?? '/', port })
    }
    return `peer ${request.socket.remoteAddress}`
  }

  /** One lookup at a time, so that a flood of invented keys causes no flood of lookups. */
  #askLater(key: string, question: Question): void {
    const isNobodys = performance.now() < (this.#nobodys.get(key) ?? 0)
    if (isNobodys || this.#asked.has(key) || this.#asked.size >= MOST_ASKED) return
    this.#asked.set(key, question)
    if (this.#asked.size === 1) void this.#askAll()
  }

  async #askAll(): Promise<void> {
    for (const [key, question] of this.#asked) {
      await this.#ask(key, question)
      this.#asked.delete(key)
    }
  }

  async #ask(key: string, { name, text, url, port }: Question): Promise<void> {
    try {
      const headers = { [name]: text, [FRONT_HEADER]: this.#word, [OWNER_HEADER]: '?' }
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const { owner } = (await (await fetch(`http://${HOST}:${port}${url}`, { headers, signal })).json()) as Answer
      if (owner === null) remember(this.#nobodys, key, performance.now() + NOBODYS_MS)
      else remember(this.#owners, key, owner)
    } catch {
      // The runtime is gone or busy: the next request with this key repeats the lookup.
    }
  }
}

function remember<T>(all: Map<string, T>, key: string, value: T): void {
  const oldest = all.keys().next()
  if (all.size >= MOST_REMEMBERED && !oldest.done) all.delete(oldest.value)
  all.delete(key)
  all.set(key, value)
}

type Answer = { owner: string | null }
/** The header that carries the key in a lookup. */
type ShownKey = { name: string; text: string }
type Question = ShownKey & { url: string; port: number }

/** The credentials that the service accepts, in its order; no other part of a request distinguishes callers. */
function shownBy({ headers, method = '', url = '/' }: IncomingMessage): ShownKey | null {
  const { 'x-session-api-key': own, authorization = null, cookie = null } = headers
  const text = own ? String(own) : (bearerIn(authorization) ?? queryKeyOf(method, url))
  if (text !== null) return { name: 'x-session-api-key', text }
  const session = cookieIn(cookie, SESSION_COOKIE)
  return session === null ? null : { name: 'cookie', text: `${SESSION_COOKIE}=${session}` }
}

function queryKeyOf(method: string, url: string): string | null {
  const address = `http://${HOST}${url}`
  return url.includes('session_api_key') && URL.canParse(address) ? queryKeyIn(method, new URL(address)) : null
}
