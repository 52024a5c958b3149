// The rate limits of one key, or of one address that sent wrong keys. It lives in memory alone: what an eviction forgets
// is that somebody was busy a while ago, and a bucket that nobody touches is full by then anyway.

import { createDurable } from 'itty-durable'
import { type Bucket, type Spending, spend } from '../../src/limits/bucket.ts'

type Take = {
  /** Which of the key's limits. */
  kind: string
  count: number
  windowMs: number
  /** What an isolate let through on its own account since it last asked. */
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
