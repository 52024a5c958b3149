// The gate between what was fetched and what is made of it: every check of the figures, their repair where only one value is
// wrong, and the taking back of those that a failed check touches. Nothing behind it sees a figure that failed.

import type { Bar, Quote } from '../../market/bars.ts'
import type { Consistency } from '../../market/consistency/examine.ts'
import { type Beside, examinePrices, isMixed, type Prices } from '../../market/consistency/examine-prices.ts'
import type { AnalysisInput } from './input.ts'
import { type MarketView, marketView } from './market-view.ts'

export type CheckedView = MarketView & {
  consistency: Consistency
  /** Bars that came, whether or not they may be quoted. */
  barCount: number
}

type Subject = Pick<AnalysisInput, 'instrument' | 'request'>

/** The view of prices that passed the gate. */
export function checkedView(input: Subject, prices: Prices, beside: Beside): CheckedView {
  const { bars, quote } = prices
  const examined = examinePrices(input.instrument, prices, beside)
  const repaired: Prices = {
    bars: bars.ok ? { ...bars, value: examined.bars } : bars,
    quote: repairedQuote(quote, examined.quote, isMixed(prices)),
  }
  const view = marketView(input, repaired, beside.now)
  const isLeftOut = quote.ok && !repaired.quote.ok
  const { consistency } = examined
  const told = { ...view, quoteUnused: isLeftOut ? ('stale' as const) : view.quoteUnused }
  return { ...withheld(told, consistency), consistency, barCount: view.bars.length }
}

/** A quote that was left out is as one that did not come. */
function repairedQuote(quote: Prices['quote'], examined: Quote | null, isLeftOut: boolean): Prices['quote'] {
  if (!quote.ok || isLeftOut) return quote
  return examined === null ? { ok: false, runs: quote.runs } : { ...quote, value: examined }
}

/** The view without the figures that a failed check touches. */
function withheld(view: MarketView, { isBlocked, withheld: groups }: Consistency): MarketView {
  const withVolume = groups.includes('volume') ? withoutVolumes(view) : view
  if (!isBlocked) return withVolume
  // Averages, ranges and the chart are all of the same bars.
  const bare = { ...withVolume, bars: [], partial: view.partial }
  if (groups.includes('price')) {
    return { ...bare, quote: null, today: null, yesterday: null, price: null, changePct: null }
  }
  return groups.includes('change') ? { ...bare, yesterday: null, changePct: null } : bare
}

function withoutVolumes(view: MarketView): MarketView {
  const bare = (bar: Bar): Bar => ({ ...bar, volume: 0, amount: null })
  const { quote, today, yesterday } = view
  return {
    ...view,
    bars: view.bars.map(bare),
    lastVolumeKnown: false,
    today: today && bare(today),
    yesterday: yesterday && bare(yesterday),
    quote: quote && { ...quote, volume: null, amount: null, volumeRatio: null, turnoverRatePct: null },
  }
}
