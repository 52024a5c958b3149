// A token bucket: it holds `count` tokens and is full again after `windowMs`. So `count` requests may come at once, and in
// the long run `count` in each window.

import type { RateLimit } from '../config/limits.ts'

/** `tokens` as of `at`, in epoch ms. Negative when isolates together used more than there was. */
export type Bucket = { tokens: number; at: number }

export type Spending = { ok: true; remaining: number } | { ok: false; retryAfterMs: number }

// Fractions add up to a little less than a whole; a client that waited as long as `Retry-After` said must not be refused for
// that.
const A_TOKEN = 1 - 1e-6

type Use = {
  /** What has been used already. */
  spent: number
  /** When its first was used, epoch ms; now, where nothing is said. */
  since?: number
  now: number
}

/** Subtracts `spent`, and then one more token if there is one. Changes the bucket. */
export function spend(bucket: Bucket, limit: RateLimit, { spent, since, now }: Use): Spending {
  const perMs = limit.count / limit.windowMs
  // What the bucket gave then was given while it filled up: a full one must not stay full over it. No time counts twice, and a
  // clock that is set back must not empty the bucket.
  const from = Math.max(bucket.at, Math.min(since ?? now, now))
  const before = Math.min(limit.count, bucket.tokens + (from - bucket.at) * perMs)
  const left = Math.max(-limit.count, before - spent)
  bucket.tokens = Math.min(limit.count, left + Math.max(0, now - from) * perMs)
  bucket.at = now
  if (bucket.tokens < A_TOKEN) return { ok: false, retryAfterMs: Math.ceil((1 - bucket.tokens) / perMs) }
  bucket.tokens -= 1
  return { ok: true, remaining: Math.max(0, Math.floor(bucket.tokens)) }
}
