import type { Bar, Provenance, ProviderRun, Quote } from '../bars.ts'
import type { Board, BoardRankings, FlowDay, Fundamentals, Peers } from '../company.ts'
import type { CompanyEvents } from '../company-events.ts'
import type { VolumePart } from '../day-volumes.ts'
import type { Instrument } from '../instruments.ts'

export type MarketNeed = ProviderRun['dataType']

export type QuoteQuery = {
  signal?: AbortSignal
  /** Ignores stored answers. */
  forceRefresh?: boolean
}

export type BarsQuery = QuoteQuery & {
  /** At most so many bars, the newest ones. */
  count: number
  /** No bar after this date of the market's calendar. */
  endDate?: string
}

/**
 * One source of market data. A call either returns figures that passed the checks or throws UpstreamError. A source that
 * supports a need has the method for it.
 */
export interface MarketDataProvider {
  readonly name: string
  /** The notice that must be shown beside this source's figures; null for every source of real, current ones. */
  provenance(instrument: Instrument): Provenance | null
  supports(instrument: Instrument, need: MarketNeed): boolean
  /** Oldest first, at least one. */
  dailyBars?(instrument: Instrument, query: BarsQuery): Promise<Bar[]>
  quote?(instrument: Instrument, query: QuoteQuery): Promise<Quote>
  /** Of a source that tells several in one answer: the quotes that it has of at most `atOnce` listings, by their keys. */
  readonly quotes?: {
    readonly atOnce: number
    ask(instruments: readonly Instrument[], query: QuoteQuery): Promise<Map<string, Quote>>
  }
  /** Volumes within the day, of today and of at least the five sessions before. */
  dayVolumes?(instrument: Instrument, query: QuoteQuery): Promise<VolumePart[]>
  fundamentals?(instrument: Instrument, query: QuoteQuery): Promise<Fundamentals>
  /** Days of results and dividends, those that cannot be right left out. */
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
