// Who a request is from, as far as the front can tell: the owner of its key, where the runtime has told, else what it shows of itself.

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { FRONT_HEADER, OWNER_HEADER } from './front-word.ts'
import { HOST } from './port.ts'

/** Keys whose owner is remembered. */
const MOST_REMEMBERED = 10_000
const TIMEOUT_MS = 5_000

export class Callers {
  readonly #word: string
  readonly #owners = new Map<string, string>()
  #isAsking = false

  constructor(word: string) {
    this.#word = word
  }

  /** `port` is the runtime's. All that an owner sends has one name, once the runtime has said whose its keys are. */
  nameOf(request: IncomingMessage, port: number): string {
    const shown = credentialOf(request)
    if (shown === null) return `peer ${request.socket.remoteAddress}`
    const key = createHash('sha256').update(shown.join(' ')).digest('base64')
    const owner = this.#owners.get(key)
    if (owner !== undefined) return `owner ${owner}`
    void this.#ask(request, { key, shown, port })
    return `key ${key}`
  }

  /** One question at a time: a flood of made-up keys makes no flood of questions. */
  async #ask({ url }: IncomingMessage, { key, shown, port }: Question): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      const headers = { ...shownAs(shown), [FRONT_HEADER]: this.#word, [OWNER_HEADER]: '?' }
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const { owner } = (await (await fetch(`http://${HOST}:${port}${url}`, { headers, signal })).json()) as Answer
      if (owner !== null) this.#remember(key, owner)
    } catch {
      // The runtime is gone or busy: the next request of this key asks again.
    } finally {
      this.#isAsking = false
    }
  }

  #remember(key: string, owner: string): void {
    const oldest = this.#owners.keys().next()
    if (this.#owners.size >= MOST_REMEMBERED && !oldest.done) this.#owners.delete(oldest.value)
    this.#owners.set(key, owner)
  }
}

type Answer = { owner: string | null }
type Credential = readonly [where: string, text: string]
type Question = { key: string; shown: Credential; port: number }

const QUERY = 'query'

/** What the service takes for a key: a header, the query of what a browser opens without headers, or a cookie. */
function credentialOf({ headers, url = '' }: IncomingMessage): Credential | null {
  for (const name of ['x-session-api-key', 'authorization']) {
    const text = headers[name]
    if (text !== undefined && text !== '') return [name, String(text)]
  }
  const inQuery = /[?&]session_api_key=([^&]+)/.exec(url)?.[1]
  if (inQuery !== undefined) return [QUERY, inQuery]
  return headers.cookie === undefined ? null : ['cookie', headers.cookie]
}

/** What stands in the address is there already. */
function shownAs([where, text]: Credential): Record<string, string> {
  return where === QUERY ? {} : { [where]: text }
}
