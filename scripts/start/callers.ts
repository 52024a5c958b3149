// Who a request is from, as far as the front can tell: the owner of its key, where the runtime has told. All that shows no key, or
// one whose owner is not known, is of one caller for each address: whoever writes a new one into every request gains nothing.

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { bearerIn, cookieIn, queryKeyIn, SESSION_COOKIE } from '../../src/http/shown-key.ts'
import { FRONT_HEADER, OWNER_HEADER } from './front-word.ts'
import { HOST } from './port.ts'

/** Keys whose owner is remembered. */
const MOST_REMEMBERED = 10_000
/** Keys that the runtime is yet to be asked about. One more is asked about when it comes again. */
const MOST_ASKED = 100
/** So long nobody's key is not asked about again: in local mode they all are. A key never becomes somebody's later on. */
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

  /** `port` is the runtime's. All that an owner sends has one name, once the runtime has said whose its keys are. */
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

  /** One question at a time: a flood of made-up keys makes no flood of questions. */
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
      // The runtime is gone or busy: the next request of this key asks again.
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
/** The header in which the runtime is asked about it. */
type ShownKey = { name: string; text: string }
type Question = ShownKey & { url: string; port: number }

/** What the service takes for a key, in the order in which it looks; nothing else of the request makes another caller of it. */
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
