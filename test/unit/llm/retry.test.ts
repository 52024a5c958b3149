import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addUsage, metricsWire, newMetrics } from '../../../src/llm/metrics.ts'
import { ModelError, type ModelFailure } from '../../../src/llm/model.ts'
import { retryAfterOf, retryDelay } from '../../../src/llm/retry.ts'

const failure = (kind: ModelFailure, retryAfterMs: number | null = null) =>
  new ModelError(kind, 'It failed.', { retryAfterMs })

test('five attempts in all, waiting between 8 and 64 seconds, longer each time, and never for what does not pass', () => {
  const waits = [1, 2, 3, 4].map((failed) => retryDelay({ failed, error: failure('internal'), random: 0.5 }))
  expect(waits).toEqual([8000, 16_000, 32_000, 64_000])
  expect(retryDelay({ failed: 5, error: failure('internal') })).toBeNull()
  for (const kind of [
    'authentication',
    'out_of_credits',
    'context_too_long',
    'content_policy',
    'bad_request',
    'address_refused',
  ] as const) {
    expect(retryDelay({ failed: 1, error: failure(kind) })).toBeNull()
  }
})

test('a wait is never shorter than what the vendor asks for, never beyond the plan by itself, and spread', () => {
  const kinds = fc.constantFrom<ModelFailure>(
    'rate_limit',
    'unavailable',
    'internal',
    'timeout',
    'broken_stream',
    'unusable_reply',
  )
  const wish = fc.option(fc.integer({ min: 0, max: 300_000 }))
  fc.assert(
    fc.property(
      kinds,
      fc.integer({ min: 1, max: 4 }),
      wish,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (kind, failed, asked, random) => {
        const delay = retryDelay({ failed, error: failure(kind, asked), random })
        expect(delay).not.toBeNull()
        expect(delay).toBeGreaterThanOrEqual(asked ?? 6000)
        expect(delay).toBeLessThanOrEqual(Math.max(64_000, (asked ?? 0) + 1000))
      },
    ),
  )
  expect(retryDelay({ failed: 1, error: failure('rate_limit', 3_600_000) })).toBeNull()
  const plan = { attempts: 3, minMs: 5, maxMs: 20 }
  expect(retryDelay({ failed: 2, error: failure('internal'), plan, random: 0.5 })).toBe(10)
})

test('the wait is read from whatever a vendor says it in', () => {
  const now = Date.parse('2026-01-02T03:04:05Z')
  const read = (headers: Record<string, string>, body = '') => retryAfterOf(new Headers(headers), body, now)
  expect(read({ 'retry-after': '3' })).toBe(3000)
  expect(read({ 'retry-after': '0.5' })).toBe(500)
  expect(read({ 'retry-after': 'Fri, 02 Jan 2026 03:04:35 GMT' })).toBe(30_000)
  expect(read({ 'retry-after': 'Fri, 02 Jan 2026 03:00:00 GMT' })).toBe(0)
  expect(read({ 'retry-after': 'soon' })).toBeNull()
  expect(read({ 'retry-after': '-5' })).toBeNull()
  expect(read({ 'retry-after-ms': '120', 'retry-after': '9' })).toBe(120)
  expect(read({ 'x-ratelimit-reset': String(now + 4000) })).toBe(4000)
  expect(read({}, '{"error":{"details":[{"@type":"RetryInfo","retryDelay":"34.5s"}]}}')).toBe(34_500)
  expect(read({}, 'Please try again in 20ms.')).toBe(20)
  expect(read({}, 'Please try again in 6.2s. Visit …')).toBe(6200)
  expect(read({}, 'Please try again in 2 minutes')).toBe(120_000)
  expect(read({}, 'no idea')).toBeNull()
  expect(retryAfterOf({ 'Retry-After': '7' }, '')).toBe(7000)
  fc.assert(
    fc.property(fc.string(), fc.string(), (header, body) => {
      const wait = retryAfterOf({ 'retry-after': header }, body, now)
      expect(wait === null || (Number.isFinite(wait) && wait >= 0)).toBe(true)
    }),
  )
})

test('the metrics of a conversation grow with each answer and have exactly the shape that clients read', () => {
  const model = { id: 'anthropic/claude', contextWindow: 200_000 }
  const usage = { promptTokens: 600, completionTokens: 40, cacheReadTokens: 500, cacheWriteTokens: 10 }
  const once = addUsage(newMetrics(), model, { usage, cost: 0.5 })
  const twice = addUsage(once, model, { usage, cost: 0.25 })
  expect(metricsWire(twice, null)).toEqual({
    accumulated_cost: 0.75,
    max_budget_per_task: null,
    accumulated_token_usage: {
      model: 'anthropic/claude',
      prompt_tokens: 1200,
      completion_tokens: 80,
      cache_read_tokens: 1000,
      cache_write_tokens: 20,
      context_window: 200_000,
      per_turn_token: 640,
      response_id: '',
    },
    costs: [],
    response_latencies: [],
    token_usages: [],
  })
  expect(metricsWire(newMetrics(), 4)).toMatchObject({ accumulated_cost: 0, max_budget_per_task: 4 })
})
