// A token bucket: it holds `count` tokens and is full again after `windowMs`. So `count` requests may come at once, and
// `count` in each window in the long run.

import type { RateLimit } from '../config/limits.ts'

/** `tokens` at the time `at`, in epoch ms. Negative when several isolates together used more than there was. */
export type Bucket = { tokens: number; at: number }

export type Spending = { ok: true; remaining: number } | { ok: false; retryAfterMs: number }

// Sums of fractions can be slightly less than one; a client that waited for the time of `Retry-After` must not be
// refused because of that.
const A_TOKEN = 1 - 1e-6

type Use = {
  /** The tokens that were used already. */
  spent: number
  /** When the first of these was used, epoch ms; now if absent. */
  since?: number
  now: number
}

/** Subtracts `spent`, and then one more token if there is one. Changes the bucket. */
export function spend(bucket: Bucket, limit: RateLimit, { spent, since, now }: Use): Spending {
  const perMs = limit.count / limit.windowMs
  // Tokens that were used while the bucket filled up must reduce the refill: a bucket must not be full in spite of
  // them. No time counts twice, and a clock that is set back must not empty the bucket.
  const from = Math.max(bucket.at, Math.min(since ?? now, now))
  const before = Math.min(limit.count, bucket.tokens + (from - bucket.at) * perMs)
  const left = Math.max(-limit.count, before - spent)
  bucket.tokens = Math.min(limit.count, left + Math.max(0, now - from) * perMs)
  bucket.at = now
  if (bucket.tokens < A_TOKEN) return { ok: false, retryAfterMs: Math.ceil((1 - bucket.tokens) / perMs) }
  bucket.tokens -= 1
  return { ok: true, remaining: Math.max(0, Math.floor(bucket.tokens)) }
}
