// When a failed request is repeated. Pure: the caller counts the attempts and sets the alarm.

import type { ModelError } from './model.ts'

export type RetryPlan = {
  /** All attempts together, the first included. */
  readonly attempts: number
  readonly minMs: number
  readonly maxMs: number
}

const DEFAULT_RETRY_PLAN: RetryPlan = { attempts: 5, minMs: 8_000, maxMs: 64_000 }

/** The longest wait that a vendor may request, ms. A longer one ends the turn, so that the user can decide. */
const LONGEST_WISH_MS = 300_000

export type RetryQuestion = {
  /** How many attempts in a row have failed, including the last one. */
  readonly failed: number
  readonly error: ModelError
  readonly plan?: RetryPlan
  /** From 0 to 1. */
  readonly random?: number
}

/** How long to wait before the next attempt; null when there is none. */
export function retryDelay({
  failed,
  error,
  plan = DEFAULT_RETRY_PLAN,
  random = Math.random(),
}: RetryQuestion): number | null {
  if (!error.isPassing || failed >= plan.attempts) return null
  const wish = error.retryAfterMs
  if (wish !== null && wish > LONGEST_WISH_MS) return null
  const grown = Math.min(plan.maxMs, plan.minMs * 2 ** Math.max(0, failed - 1))
  // Between 75 % and 125 % of the delay, so that requests that failed together are not repeated together.
  const jittered = Math.min(plan.maxMs, grown * (0.75 + random / 2))
  // Never earlier than the vendor requested, and up to 1 s later.
  return Math.round(wish === null ? jittered : Math.max(plan.minMs, wish) + random * Math.min(plan.minMs, 1_000))
}

type HeaderBag = Headers | Record<string, string> | undefined

/** The wait that a vendor requests, in its headers or its message; null when there is none. */
export function retryAfterOf(headers: HeaderBag, body: string, now = Date.now()): number | null {
  const header = (name: string): string | null =>
    headers instanceof Headers ? headers.get(name) : (lowered(headers)[name] ?? null)
  const exact = header('retry-after-ms')
  if (exact !== null && /^\d{1,9}(\.\d+)?$/.test(exact)) return Math.ceil(Number(exact))
  const asked = secondsOrDate(header('retry-after'), now)
  if (asked !== null) return asked
  const reset = header('x-ratelimit-reset')
  // Ten digits and more are a time in seconds or milliseconds; a smaller number is a duration in an unknown unit.
  if (reset !== null && /^\d{10,13}$/.test(reset)) return until(Number(reset) * (reset.length > 11 ? 1 : 1000), now)
  return wordsOf(body)
}

const lowered = (headers: Record<string, string> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))

function secondsOrDate(value: string | null, now: number): number | null {
  if (value === null) return null
  const text = value.trim()
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : until(at, now)
}

const until = (at: number, now: number): number => Math.max(0, at - now)

/** Google's `"retryDelay": "34s"`, and "try again in 6.2s" or "in 20ms" of other vendors. */
function wordsOf(body: string): number | null {
  const [, amount, unit] =
    /"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d+)?)(s)"/.exec(body) ??
    /try again in (\d{1,6}(?:\.\d+)?)\s?(ms|s|seconds?|m|minutes?)\b/i.exec(body) ??
    []
  if (amount === undefined || unit === undefined) return null
  const scale = /^ms/i.test(unit) ? 1 : /^s/i.test(unit) ? 1000 : 60_000
  return Math.ceil(Number(amount) * scale)
}
