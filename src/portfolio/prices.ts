// The closes that holdings are valued at. A price that a check of the figures refuses is none.

import { parseAmount } from '../lib/decimal.ts'
import { isTradingDay, lastCompletedSession, previousTradingDay } from '../market/calendar.ts'
import { examinePrices } from '../market/consistency/examine.ts'
import { currencyOf, parseCode } from '../market/instruments.ts'
import type { MarketData } from '../market/providers/index.ts'
import { type Holding, keyOf } from './ledger.ts'
import type { Price } from './valuation.ts'

/** As many as the checks look at. */
const BARS = 260
const AT_ONCE = 6

export type Priced = Price & {
  /** The notice that must be shown beside figures of a bundled series. */
  notice: string | null
  /** The bars before the newest were adjusted for later splits and dividends. */
  isAdjusted: boolean
}

type Question = { holdings: readonly Holding[]; asOf: string; now: number; signal: AbortSignal }

/** The last close at or before a day of each holding, by its key; without those that no source has. */
export async function closesOf(
  market: MarketData,
  { holdings, asOf, now, signal }: Question,
): Promise<Map<string, Priced>> {
  const prices = new Map<string, Priced>()
  const left = [...holdings]
  const work = async () => {
    for (let holding = left.shift(); holding !== undefined && !signal.aborted; holding = left.shift()) {
      const price = await closeOf(market, { holding, asOf, now, signal })
      if (price !== null) prices.set(keyOf(holding), price)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return prices
}

type One = { holding: Holding; asOf: string; now: number; signal: AbortSignal }

async function closeOf(market: MarketData, { holding, asOf, now, signal }: One): Promise<Priced | null> {
  const parsed = parseCode(holding.symbol)
  if (!parsed.ok) return null
  const { instrument } = parsed
  // A price in dollars is no price of what was booked in another currency.
  if (holding.currency !== currencyOf(instrument)) return null
  const newest = lastCompletedSession(instrument.market, now)
  const session = asOf >= newest ? newest : sessionAt(instrument.market, asOf)
  const fetched = await market.bars(instrument, { count: BARS, signal })
  if (!fetched.ok) return null
  const { bars, consistency } = examinePrices(
    instrument,
    { bars: fetched, quote: { ok: false, runs: [] } },
    { dividends: null, now },
  )
  if (consistency.withheld.includes('price')) return null
  const bar = bars.findLast(({ date }) => date <= session)
  const price = bar === undefined ? null : parseAmount(bar.close.toFixed(8))
  if (bar === undefined || price === null || price <= 0n) return null
  return {
    price,
    date: bar.date,
    provider: fetched.provider,
    isStale: bar.date < session,
    notice: fetched.provenance?.label ?? null,
    isAdjusted: consistency.adjustment.kind === 'forward' && bar !== bars.at(-1),
  }
}

const sessionAt = (market: Parameters<typeof isTradingDay>[0], day: string): string =>
  isTradingDay(market, day) ? day : previousTradingDay(market, day)
