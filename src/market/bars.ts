// Prices, and where figures come from.

import { isoMicros } from '../lib/clock.ts'

/** One session of one instrument. Prices in the instrument's currency, adjusted for splits and dividends where the source does so. */
export type Bar = {
  /** Session date in the market's own zone, `YYYY-MM-DD`. */
  date: string
  open: number
  high: number
  low: number
  close: number
  /** Shares traded; 0 when the source does not tell. */
  volume: number
  /** Turnover in the instrument's currency, null when the source does not tell. */
  amount: number | null
}

/** The latest price known of an instrument. Percentages are in percent, not fractions. */
export type Quote = {
  price: number
  prevClose: number
  open: number | null
  high: number | null
  low: number | null
  /** Shares. */
  volume: number | null
  /** Turnover in the instrument's currency. */
  amount: number | null
  change: number
  changePct: number
  /** When the price was made, epoch ms; null when the source does not tell. */
  quotedAt: number | null
  /** The instrument's name as the source writes it. */
  name: string | null
  currency: string | null
  turnoverRatePct: number | null
  volumeRatio: number | null
  peRatio: number | null
  pbRatio: number | null
  totalMarketValue: number | null
  circulatingMarketValue: number | null
}

/** One try of one provider for one need: what the diagnostics and the run flow are made from. */
export type ProviderRun = {
  dataType:
    | 'realtime_quote'
    | 'daily_data'
    | 'intraday_volume'
    | 'fundamentals'
    | 'capital_flow'
    | 'belong_boards'
    | 'sector_rankings'
    | 'peer_multiples'
    | 'company_events'
    | 'news_search'
    | 'social_sentiment'
  provider: string
  operation: string
  success: boolean
  latencyMs: number
  /** A short class such as `timeout` or `http_429`; null when it succeeded. */
  errorType: string | null
  errorMessage: string | null
  fallbackFrom: string | null
  fallbackTo: string | null
  recordCount: number | null
  /** The age of a stored answer; set only for one. */
  staleSeconds?: number
  /** When the try began, ISO 8601. */
  createdAt: string
}

/** A try as it begins: without success, until its outcome says more. */
export function providerRun(
  of: Pick<ProviderRun, 'dataType' | 'provider' | 'operation'>,
  startedAt: number,
  outcome: Partial<ProviderRun> = {},
): ProviderRun {
  return {
    ...of,
    success: false,
    latencyMs: 0,
    errorType: null,
    errorMessage: null,
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 0,
    createdAt: isoMicros(startedAt),
    ...outcome,
  }
}

/** The kind of figures that are not from a live market: they are marked wherever they are shown. */
export type Provenance = { kind: 'historical' | 'synthetic'; label: string; endsOn: string }

/** The answer of the provider chain for one need: the first good value with all attempts, or the attempts alone. */
export type Fetched<T> =
  | { ok: true; value: T; provider: string; provenance: Provenance | null; runs: ProviderRun[] }
  | { ok: false; runs: ProviderRun[] }
