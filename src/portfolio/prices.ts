// The closes at which holdings are valued. A series whose prices fail a check is not used.

import { type Amount, parseAmount } from '../lib/decimal.ts'
import type { Benchmark } from '../market/benchmarks.ts'
import { addDays, isTradingDay, lastCompletedSession, previousTradingDay } from '../market/calendar.ts'
import { examinePrices, type Prices } from '../market/consistency/examine.ts'
import { currencyOf, type Market, parseCode } from '../market/instruments.ts'
import type { MarketData } from '../market/providers/index.ts'
import { type Holding, keyOf } from './ledger.ts'
import type { Price } from './valuation.ts'

/** As many as the checks need: about a year. */
const BARS = 260
const AT_ONCE = 6

/** The closes of a listing, oldest first, without that of a running session. */
export type Closes = {
  market: Market
  days: { date: string; close: Amount }[]
  provider: string
  /** The notice that must be shown with figures of a bundled series. */
  notice: string | null
  /** The source adjusted closes before the newest for later splits and dividends. */
  isAdjusted: boolean
}

type Question = { holdings: readonly Holding[]; now: number; signal: AbortSignal }

/** By the key of each holding; holdings without a source are missing. */
export async function closesOf(market: MarketData, { holdings, now, signal }: Question): Promise<Map<string, Closes>> {
  const found = new Map<string, Closes>()
  const left = [...holdings]
  const work = async () => {
    for (let holding = left.shift(); holding !== undefined && !signal.aborted; holding = left.shift()) {
      const closes = await unlessLate(signal, () => seriesOf(market, { holding, now, signal }))
      if (closes !== null) found.set(keyOf(holding), closes)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}

/** What has not arrived in time is unknown, and not an error of the request. */
export async function unlessLate<T>(signal: AbortSignal, ask: () => Promise<T | null>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

type PriceQuery = { holding: Holding; now: number; signal: AbortSignal }

async function seriesOf(market: MarketData, { holding, now, signal }: PriceQuery): Promise<Closes | null> {
  const parsed = parseCode(holding.symbol)
  // A price in dollars is not the price of a holding in another currency.
  if (!parsed.ok || holding.currency !== currencyOf(parsed.instrument)) return null
  const { instrument } = parsed
  const fetched = await market.bars(instrument, { count: BARS, signal })
  if (!fetched.ok) return null
  const prices: Prices = { bars: fetched, quote: { ok: false, runs: [] } }
  const { bars, consistency } = examinePrices(instrument, prices, { dividends: null, now })
  if (consistency.withheld.includes('price')) return null
  const newest = lastCompletedSession(instrument.market, now)
  return {
    market: instrument.market,
    days: bars.flatMap(({ date, close }) => {
      const amount = parseAmount(close.toFixed(8))
      return amount === null || amount <= 0n || date > newest ? [] : [{ date, close: amount }]
    }),
    provider: fetched.provider,
    notice: fetched.provenance?.label ?? null,
    isAdjusted: consistency.adjustment.kind === 'forward',
  }
}

export type Priced = Price & Pick<Closes, 'notice' | 'isAdjusted'>

/** The last close at or before a day; null when the series begins later. */
export function closeAt(closes: Closes, asOf: string, now: number): Priced | null {
  const { market, days, provider, notice } = closes
  const newest = lastCompletedSession(market, now)
  const session = asOf >= newest ? newest : isTradingDay(market, asOf) ? asOf : previousTradingDay(market, asOf)
  const day = days.findLast(({ date }) => date <= session)
  if (day === undefined) return null
  const isAdjusted = closes.isAdjusted && day !== days.at(-1)
  return { price: day.close, date: day.date, provider, isStale: day.date < session, notice, isAdjusted }
}

export type IndexReturn = { from: string; to: string; share: number; provider: string }

/** Holidays of the index's market are at most this long. */
const LONGEST_BREAK_DAYS = 10

/** The gain of an index between the ends of two days, each by its last close up to then; null when a close is missing. */
export async function indexReturn(
  market: Pick<MarketData, 'indexBars'>,
  { index }: Benchmark,
  { from, to, signal }: { from: string; to: string; signal: AbortSignal },
): Promise<IndexReturn | null> {
  const fetched = await unlessLate(signal, () => market.indexBars(index, { count: BARS, signal }))
  if (fetched === null || !fetched.ok) return null
  const closeUpTo = (day: string) => {
    const bar = fetched.value.findLast(({ date }) => date <= day)
    return bar !== undefined && bar.date >= addDays(day, -LONGEST_BREAK_DAYS) ? bar : null
  }
  const [first, last] = [closeUpTo(from), closeUpTo(to)]
  if (first === null || last === null || first.close <= 0) return null
  return { from: first.date, to: last.date, share: last.close / first.close - 1, provider: fetched.provider }
}
