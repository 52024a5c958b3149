// Figures as they were fetched, behind every check. Whatever shows a price takes it from here: reports, reviews, the pages of a
// stock, and the measuring of past advice.

import type { Bar, Quote } from '../bars.ts'
import type { Dividend } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import type { Fetched } from '../provider-run.ts'
import { adjustmentOf } from './adjustment.ts'
import { type Examined, examine } from './examine.ts'

/** Bars and quote as they were fetched. */
export type Prices = { bars: Fetched<Bar[]>; quote: Fetched<Quote> }

export type Beside = {
  dividends: readonly Dividend[] | null
  now: number
  /** Another source's quote; null where it did not come, absent where none was asked. */
  second?: Fetched<Quote> | null
}

/** Figures of a sample and of a market are of different days, so a quote of the other kind is left out. */
export const isMixed = ({ bars, quote }: Prices): boolean =>
  bars.ok && quote.ok && (bars.provenance === null) !== (quote.provenance === null)

export function examinePrices(instrument: Instrument, prices: Prices, { dividends, now, second }: Beside): Examined {
  const { bars, quote } = prices
  const provenance = bars.ok ? bars.provenance : quote.ok ? quote.provenance : null
  const barsSource = bars.ok ? bars.provider : null
  return examine({
    instrument,
    bars: bars.ok ? bars.value : [],
    quote: quote.ok && !isMixed(prices) ? quote.value : null,
    barsSource,
    quoteSource: quote.ok ? quote.provider : null,
    adjustment: adjustmentOf({ source: barsSource, provenance, isIndex: instrument.kind === 'index' }),
    isSample: provenance !== null,
    now,
    dividends,
    ...(second === undefined ? {} : { second: second?.ok ? { source: second.provider, quote: second.value } : null }),
  })
}
