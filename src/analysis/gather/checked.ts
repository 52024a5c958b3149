// The gate between what was fetched and what is made of it: every check of the figures, their repair where only one value is
// wrong, and the taking back of those that a failed check touches. Nothing behind it sees a figure that failed.

import type { Bar, Quote } from '../../market/bars.ts'
import type { Dividend } from '../../market/company.ts'
import { adjustmentOf } from '../../market/consistency/adjustment.ts'
import { type Consistency, examine } from '../../market/consistency/examine.ts'
import type { AnalysisInput } from './input.ts'
import { type MarketView, marketView, type Prices } from './market-view.ts'

export type CheckedView = MarketView & {
  consistency: Consistency
  /** Bars that came, whether or not they may be quoted. */
  barCount: number
}

type Subject = Pick<AnalysisInput, 'instrument' | 'request'>
type Beside = { dividends: readonly Dividend[] | null; now: number }

/** The view of prices that passed the gate. */
export function checkedView(input: Subject, { bars, quote }: Prices, { dividends, now }: Beside): CheckedView {
  const { instrument } = input
  const provenance = bars.ok ? bars.provenance : quote.ok ? quote.provenance : null
  const isMixed = bars.ok && quote.ok && (bars.provenance === null) !== (quote.provenance === null)
  const barsSource = bars.ok ? bars.provider : null
  const examined = examine({
    instrument,
    bars: bars.ok ? bars.value : [],
    quote: quote.ok && !isMixed ? quote.value : null,
    barsSource,
    quoteSource: quote.ok ? quote.provider : null,
    adjustment: adjustmentOf({ source: barsSource, provenance, isIndex: instrument.kind === 'index' }),
    isSample: provenance !== null,
    now,
    dividends,
  })
  const repaired: Prices = {
    bars: bars.ok ? { ...bars, value: examined.bars } : bars,
    quote: repairedQuote(quote, examined.quote, isMixed),
  }
  const view = marketView(input, repaired, now)
  const isLeftOut = quote.ok && !repaired.quote.ok
  const { consistency } = examined
  const told = { ...view, quoteUnused: isLeftOut ? ('stale' as const) : view.quoteUnused }
  return { ...withheld(told, consistency), consistency, barCount: view.bars.length }
}

/** A quote that was left out is as one that did not come. */
function repairedQuote(quote: Prices['quote'], examined: Quote | null, isMixed: boolean): Prices['quote'] {
  if (!quote.ok || isMixed) return quote
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
