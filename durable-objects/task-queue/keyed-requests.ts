// Requests that a client repeats when it lost the answer, each under a key of its choice (the header
// `Idempotency-Key`). What a request begins is stored with its key in one transaction, so a second request with the
// key, at the same time or a day later, gets the first one's tasks.

import { z } from 'zod'
import { firstRow } from '../sql.ts'

export const KEPT_MS = 24 * 3600 * 1000

export const SubmittedStocks = z.array(z.object({ accepted: z.boolean(), stockCode: z.string(), taskId: z.string() }))
/** The result for each stock of a submission: a new task, or the open one of the same stock. */
export type SubmittedStocks = z.infer<typeof SubmittedStocks>

/** The key, and a digest of the request. */
export type Keyed = { key: string; digest: string }

export type OtherRequest = { ok: false; reason: 'other_request' }

export class KeyedRequests {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** What was begun under the key; null for a new one. */
  find(owner: string, { key, digest }: Keyed, now: number): { ok: true; begun: SubmittedStocks } | OtherRequest | null {
    const query = 'SELECT digest, begun FROM keyed_requests WHERE owner = ? AND key = ? AND at > ?'
    const row = firstRow<{ digest: string; begun: string }>(this.#sql, query, owner, key, now - KEPT_MS)
    if (row === null) return null
    if (row.digest !== digest) return { ok: false, reason: 'other_request' }
    return { ok: true, begun: SubmittedStocks.parse(JSON.parse(row.begun)) }
  }

  remember(owner: string, { key, digest }: Keyed, { begun, at }: { begun: SubmittedStocks; at: number }): void {
    const statement = 'INSERT OR REPLACE INTO keyed_requests (owner, key, digest, begun, at) VALUES (?, ?, ?, ?, ?)'
    this.#sql.exec(statement, owner, key, digest, JSON.stringify(begun), at)
  }

  prune(now: number): void {
    this.#sql.exec('DELETE FROM keyed_requests WHERE at <= ?', now - KEPT_MS)
  }
}
