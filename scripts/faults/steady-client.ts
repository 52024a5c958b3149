// A client that expects its server to crash at any time: it repeats a request without a response until one
// comes. Requests that must not be applied twice have an idempotency key.

import { setTimeout as sleep } from 'node:timers/promises'

const AGAIN_MS = 50
/** The limit for a response, including restarts of the service. */
const PATIENCE_MS = 600_000
const ANSWER_MS = 20_000

export type Question = {
  json?: object
  form?: FormData
  /** Idempotency key, so that repeated requests are applied once. */
  key?: string
  /** Statuses that count as a response. */
  expect?: readonly number[]
}

export class SteadyClient {
  readonly url: string
  /** The number of repeated requests. */
  repeated = 0

  /** The owner's key; null if no key is needed. */
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

  /** Null if the connection broke before the end of the response. */
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
      // Killed during the response, or not started yet.
      return null
    }
    if (!expect.includes(status)) throw new Error(`${path}: ${status} ${text.slice(0, 400)}`)
    return { status, text }
  }
}
