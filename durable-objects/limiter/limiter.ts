// The rate limits of one key, or of one address that sent wrong keys. The buckets are in memory only: an eviction loses
// recent use, and a bucket that nobody uses is full again by then.

import { createDurable } from 'itty-durable'
import { type Bucket, type Spending, spend } from '../../src/limits/bucket.ts'

type Take = {
  /** Which of the key's limits. */
  kind: string
  count: number
  windowMs: number
  /** How many requests an isolate admitted by itself since its last call. */
  spent: number
}

export class Limiter extends createDurable({ autoPersist: false }) {
  buckets: Record<string, Bucket> = {}

  take({ kind, count, windowMs, spent }: Take): Spending {
    const now = Date.now()
    const bucket = this.buckets[kind] ?? { tokens: count, at: now }
    this.buckets[kind] = bucket
    return spend(bucket, { count, windowMs }, { spent, now })
  }
}
