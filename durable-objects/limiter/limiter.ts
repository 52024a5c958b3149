// The rate limits of one key, or of one address that sent wrong keys. The buckets are in memory only. An object is
// evicted after ten seconds without calls, when its buckets may not be full again; so callers remember the last bucket
// they got, and send it with the next call.

import { createDurable } from 'itty-durable'
import { type Bucket, type Spending, spend } from '../../src/limits/bucket.ts'

type Take = {
  /** Which of the key's limits. */
  kind: string
  count: number
  windowMs: number
  /** How many requests an isolate admitted by itself since its last call. */
  spent: number
  /** When it admitted the first of them, epoch ms. */
  since: number
  /** The bucket as the isolate last got it. */
  known: Bucket | null
}

type BucketSpending = Spending & { bucket: Bucket }

export class Limiter extends createDurable({ autoPersist: false }) {
  buckets: Record<string, Bucket> = {}

  take({ kind, count, windowMs, spent, since, known }: Take): BucketSpending {
    const now = Date.now()
    const bucket = this.buckets[kind] ?? known ?? { tokens: count, at: Math.min(since, now) }
    this.buckets[kind] = bucket
    const spending = spend(bucket, { count, windowMs }, { spent, since, now })
    return { ...spending, bucket: { ...bucket } }
  }
}
