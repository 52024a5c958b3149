import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bucket, spend } from '../../../src/limits/bucket.ts'

const START = 1_000_000

test('no sequence of requests gets more than the count at once and the refill since, nor waits longer than it is told', () => {
  const step = fc.record({ waitMs: fc.nat(20_000), spent: fc.nat(5), sinceMs: fc.nat(30_000) })
  const limits = fc.record({
    count: fc.integer({ min: 1, max: 50 }),
    windowMs: fc.integer({ min: 1_000, max: 60_000 }),
  })
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 200 }), (limit, steps) => {
      const bucket: Bucket = { tokens: limit.count, at: START }
      let now = START
      let used = 0
      for (const { waitMs, spent, sinceMs } of steps) {
        now += waitMs
        const since = now - sinceMs
        const from = Math.max(bucket.at, since)
        const full = Math.min(limit.count, bucket.tokens + ((from - bucket.at) * limit.count) / limit.windowMs)
        // A debt is bounded: what goes beyond is forgiven, so that nobody is locked out for hours.
        used -= Math.max(0, -limit.count - (full - spent))
        const outcome = spend(bucket, limit, { spent, since, now })
        used += spent + (outcome.ok ? 1 : 0)
        if (outcome.ok) {
          // What is reported may exceed the limit, as it has happened; what is granted never does.
          const refill = ((now - START) * limit.count) / limit.windowMs
          expect(used).toBeLessThanOrEqual(limit.count + refill + 1e-3)
        } else {
          const later = spend({ ...bucket }, limit, { spent: 0, now: now + outcome.retryAfterMs })
          const early = spend({ ...bucket }, limit, { spent: 0, now: now + outcome.retryAfterMs - 2 })
          expect([later.ok, early.ok && outcome.retryAfterMs > 2]).toEqual([true, false])
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a clock that is set back neither empties nor fills a bucket', () => {
  const bucket: Bucket = { tokens: 2, at: START }
  const limit = { count: 2, windowMs: 1_000 }
  expect(spend(bucket, limit, { spent: 0, now: START - 60_000 })).toEqual({ ok: true, remaining: 1 })
  expect(spend(bucket, limit, { spent: 0, now: START - 60_000 })).toEqual({ ok: true, remaining: 0 })
  expect(spend(bucket, limit, { spent: 0, now: START - 60_000 })).toEqual({ ok: false, retryAfterMs: 500 })
})
