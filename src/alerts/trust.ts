// Which quotes may cause an alert. An untrusted quote fires nothing, and the rule says why.

import type { Fetched, Quote } from '../market/bars.ts'
import { instantAt, localDate, marketPhaseSummary, marketZone, sessionEnd, sessionHours } from '../market/calendar.ts'
import type { Instrument, Market } from '../market/instruments.ts'

export const DOUBTS = [
  'no_quote',
  'sample',
  'no_time',
  'ahead',
  'other_day',
  'stale',
  'suspended',
  'withheld',
  'no_volume',
  'no_bars',
  'no_bar',
  'gap',
  'few_bars',
  'no_levels',
  'no_price',
  'no_rate',
  'no_history',
  'no_light',
  'no_light_before',
  'no_targets',
  'not_looked_at',
] as const
/** Why a target could not be checked. */
export type Doubt = (typeof DOUBTS)[number]

const MINUTE_MS = 60_000
/** Minutes of trading time. */
const STALE_MINUTES = 20
const AHEAD_MS = 2 * MINUTE_MS

/** Why a quote cannot be one of that day's session, judged by itself; null when it can. */
export function doubtOf(
  fetched: Fetched<Quote> | undefined,
  { market, kind }: Pick<Instrument, 'market' | 'kind'>,
  now: number,
): Doubt | null {
  if (fetched === undefined || !fetched.ok) return 'no_quote'
  if (fetched.provenance !== null) return 'sample'
  const { quotedAt, volume, price, prevClose } = fetched.value
  if (quotedAt === null) return 'no_time'
  if (quotedAt > now + AHEAD_MS) return 'ahead'
  const day = localDate(market, now)
  if (localDate(market, quotedAt) !== day) return 'other_day'
  if (tradingMinutesBetween(market, day, quotedAt, now) > STALE_MINUTES) return 'stale'
  const isLong = tradingMinutesBetween(market, day, 0, now) > STALE_MINUTES
  // A price without a trade comes from the auction; for an index some sources have no volume.
  const isUntraded = volume === 0 && (price === prevClose ? isLong : kind !== 'index')
  return isUntraded ? 'suspended' : null
}

/** Counts only the sessions of that day. */
export function tradingMinutesBetween(market: Market, day: string, from: number, to: number): number {
  const zone = marketZone(market)
  return sessionHours(market, day).reduce((sum, [open, close]) => {
    const [opens, closes] = [instantAt(day, open * 60, zone), instantAt(day, close * 60, zone)]
    return sum + Math.max(0, Math.min(closes, to) - Math.max(opens, from)) / MINUTE_MS
  }, 0)
}

/** Closing prices arrive within this time after the close. */
const AFTER_CLOSE_MS = 12 * MINUTE_MS

/** The session whose quotes may fire now; null outside trading hours. */
export function sessionNow(market: Market, now: number): { day: string; startedAt: number } | null {
  const { is_market_open_now: isOpen, is_trading_day: isSession } = marketPhaseSummary({ market, epochMs: now })
  const day = localDate(market, now)
  const [first] = isSession ? sessionHours(market, day) : []
  if (first === undefined) return null
  const end = sessionEnd(market, day)
  const isJustOver = now >= end && now < end + AFTER_CLOSE_MS
  if (!isOpen && !isJustOver) return null
  return { day, startedAt: instantAt(day, first[0] * 60, marketZone(market)) }
}
