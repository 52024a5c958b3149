// The closes that holdings are valued at. A series whose prices a check of the figures refuses is none.

import { type Amount, parseAmount } from '../lib/decimal.ts'
import { isTradingDay, lastCompletedSession, previousTradingDay } from '../market/calendar.ts'
import { examinePrices, type Prices } from '../market/consistency/examine.ts'
import { currencyOf, type Market, parseCode } from '../market/instruments.ts'
import type { MarketData } from '../market/providers/index.ts'
import { type Holding, keyOf } from './ledger.ts'
import type { Price } from './valuation.ts'

/** As many as the checks look at: about a year. */
const BARS = 260
const AT_ONCE = 6

/** The closes of a listing, oldest first, none of them of a session that still runs. */
export type Closes = {
  market: Market
  days: { date: string; close: Amount }[]
  provider: string
  /** The notice that must be shown beside figures of a bundled series. */
  notice: string | null
  /** The source adjusted closes before the newest for later splits and dividends. */
  isAdjusted: boolean
}

type Question = { holdings: readonly Holding[]; now: number; signal: AbortSignal }

/** Of each holding, by its key; without those that no source has. */
export async function closesOf(market: MarketData, { holdings, now, signal }: Question): Promise<Map<string, Closes>> {
  const found = new Map<string, Closes>()
  const left = [...holdings]
  const work = async () => {
    for (let holding = left.shift(); holding !== undefined && !signal.aborted; holding = left.shift()) {
      const closes = await seriesOf(market, { holding, now, signal })
      if (closes !== null) found.set(keyOf(holding), closes)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}

type One = { holding: Holding; now: number; signal: AbortSignal }

async function seriesOf(market: MarketData, { holding, now, signal }: One): Promise<Closes | null> {
  const parsed = parseCode(holding.symbol)
  // A price in dollars is no price of what was booked in another currency.
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

/** The last close at or before a day; null where the series begins later. */
export function closeAt(closes: Closes, asOf: string, now: number): Priced | null {
  const { market, days, provider, notice } = closes
  const newest = lastCompletedSession(market, now)
  const session = asOf >= newest ? newest : isTradingDay(market, asOf) ? asOf : previousTradingDay(market, asOf)
  const day = days.findLast(({ date }) => date <= session)
  if (day === undefined) return null
  const isAdjusted = closes.isAdjusted && day !== days.at(-1)
  return { price: day.close, date: day.date, provider, isStale: day.date < session, notice, isAdjusted }
}
