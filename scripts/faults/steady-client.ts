// Asks as a client does that knows its server may die at any moment: a question that got no answer is asked again until one
// comes. What must not happen twice carries a key.

import { setTimeout as sleep } from 'node:timers/promises'

const AGAIN_MS = 50
/** However often it is killed, it has to answer in one of its lives. */
const PATIENCE_MS = 600_000
const ANSWER_MS = 20_000

export type Question = {
  json?: object
  form?: FormData
  /** Makes it happen once, however often it is sent. */
  key?: string
  /** Statuses that are answers. */
  expect?: readonly number[]
}

export class SteadyClient {
  readonly url: string
  /** Questions that had to be asked again. */
  repeated = 0

  /** Of the owner who asks; null where everybody may. */
  readonly key: string | null

  constructor(url: string, key: string | null = null) {
    this.url = url
    this.key = key
  }

  async ask<T>(path: string, question: Question = {}): Promise<{ status: number; body: T }> {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const answer = await this.#attempt(path, question)
      if (answer !== null) return { status: answer.status, body: JSON.parse(answer.text) as T }
      if (performance.now() > deadline) throw new Error(`${path} was not answered within ${PATIENCE_MS / 1000} s`)
      this.repeated += 1
      await sleep(AGAIN_MS)
    }
  }

  /** Null when the connection did not last until the end of the answer. */
  async #attempt(path: string, { json, form, key, expect = [200] }: Question) {
    let status: number
    let text: string
    try {
      const response = await fetch(`${this.url}${path}`, {
        headers: {
          ...(this.key === null ? {} : { 'x-session-api-key': this.key }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(json === undefined && form === undefined ? {} : { method: 'POST', body: form ?? JSON.stringify(json) }),
      })
      status = response.status
      text = await response.text()
    } catch {
      // Killed while it answered, or not there yet.
      return null
    }
    if (!expect.includes(status)) throw new Error(`${path}: ${status} ${text.slice(0, 400)}`)
    return { status, text }
  }
}
