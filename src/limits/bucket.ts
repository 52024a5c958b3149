// A token bucket: it holds `count` tokens and is full again after `windowMs`. So `count` requests may come at once, and in
// the long run `count` in each window.

import type { RateLimit } from '../config/limits.ts'

/** `tokens` as of `at`, in epoch ms. Negative when isolates together used more than there was. */
export type Bucket = { tokens: number; at: number }

export type Spending = { ok: true; remaining: number } | { ok: false; retryAfterMs: number }

// Fractions add up to a little less than a whole; a client that waited as long as `Retry-After` said must not be refused for
// that.
const A_TOKEN = 1 - 1e-6

/** Subtracts `spent`, which has been used already, and then one more token if there is one. Changes the bucket. */
export function spend(bucket: Bucket, limit: RateLimit, { spent, now }: { spent: number; now: number }): Spending {
  const perMs = limit.count / limit.windowMs
  // A clock that is set back must not empty the bucket.
  const elapsedMs = Math.max(0, now - bucket.at)
  const refilled = Math.min(limit.count, bucket.tokens + elapsedMs * perMs)
  bucket.at = now
  bucket.tokens = Math.max(-limit.count, refilled - spent)
  if (bucket.tokens < A_TOKEN) return { ok: false, retryAfterMs: Math.ceil((1 - bucket.tokens) / perMs) }
  bucket.tokens -= 1
  return { ok: true, remaining: Math.max(0, Math.floor(bucket.tokens)) }
}
