import type { Bar, Provenance, ProviderRun, Quote } from '../bars.ts'
import type { Board, BoardRankings, FlowDay, Fundamentals, Peers } from '../company.ts'
import type { CompanyEvents } from '../company-events.ts'
import type { VolumePart } from '../day-volumes.ts'
import type { Instrument } from '../instruments.ts'

export type MarketNeed = ProviderRun['dataType']

export type QuoteQuery = {
  signal?: AbortSignal
  /** Ignores cached answers. */
  forceRefresh?: boolean
}

export type BarsQuery = QuoteQuery & {
  /** The most bars to return, the newest ones. */
  count: number
  /** No bar after this date of the market's calendar. */
  endDate?: string
}

/**
 * One source of market data. A call either returns figures that passed the checks or throws UpstreamError. A source
 * that supports a need has the method for it.
 */
export interface MarketDataProvider {
  readonly name: string
  /** The notice that must be shown with this source's figures; null for every source of live market data. */
  provenance(instrument: Instrument): Provenance | null
  supports(instrument: Instrument, need: MarketNeed): boolean
  /** Oldest first, at least one. */
  dailyBars?(instrument: Instrument, query: BarsQuery): Promise<Bar[]>
  quote?(instrument: Instrument, query: QuoteQuery): Promise<Quote>
  /** For a source with several quotes in one answer: the quotes of at most `atOnce` listings, by their keys. */
  readonly quotes?: {
    readonly atOnce: number
    ask(instruments: readonly Instrument[], query: QuoteQuery): Promise<Map<string, Quote>>
  }
  /** Intraday volumes of today and of at least the five previous sessions. */
  dayVolumes?(instrument: Instrument, query: QuoteQuery): Promise<VolumePart[]>
  fundamentals?(instrument: Instrument, query: QuoteQuery): Promise<Fundamentals>
  /** Dates of results and dividends, without implausible ones. */
  companyEvents?(instrument: Instrument, query: QuoteQuery): Promise<CompanyEvents>
  /** Oldest first, at least one. */
  capitalFlow?(instrument: Instrument, query: QuoteQuery): Promise<FlowDay[]>
  /** The boards that a stock belongs to. */
  boards?(instrument: Instrument, query: QuoteQuery): Promise<Board[]>
  /** The companies of the stock's industry, which is one of its boards. */
  peers?(instrument: Instrument, boards: readonly Board[], query: QuoteQuery): Promise<Peers>
  /** The boards of the whole market. */
  rankings?(query: QuoteQuery): Promise<BoardRankings>
}

/** A source of both bars and quotes. */
export type PriceProvider = MarketDataProvider & Required<Pick<MarketDataProvider, 'dailyBars' | 'quote'>>

export function isPriceNeed(need: MarketNeed): boolean {
  return need === 'realtime_quote' || need === 'daily_data'
}
