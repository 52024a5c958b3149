// Prices, and the origin of figures.

import { isoMicros } from '../lib/clock.ts'

/**
 * One session of one instrument. Prices are in the instrument's currency, adjusted for splits and dividends if the
 * source does so.
 */
export type Bar = {
  /** Session date in the market's own zone, `YYYY-MM-DD`. */
  date: string
  open: number
  high: number
  low: number
  close: number
  /** Shares traded; 0 when the source has no volume. */
  volume: number
  /** Turnover in the instrument's currency; null when the source has none. */
  amount: number | null
}

/** The latest known price of an instrument. Percentages are in percent, not fractions. */
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
  /** The time of the price, epoch ms; null when the source has none. */
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

/** One attempt of one provider for one need: diagnostics and the run flow are made from these. */
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
  /** A short class such as `timeout` or `http_429`; null on success. */
  errorType: string | null
  errorMessage: string | null
  fallbackFrom: string | null
  fallbackTo: string | null
  recordCount: number | null
  /** The age of a cached answer; set only for one. */
  staleSeconds?: number
  /** When the attempt began, ISO 8601. */
  createdAt: string
}

/** An attempt at its beginning: not successful until its outcome is known. */
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

/** The origin of figures that are not live market data: they are marked wherever they are shown. */
export type Provenance = { kind: 'historical' | 'synthetic'; label: string; endsOn: string }

/** The answer of the provider chain for one need: the first good value with all attempts, or the attempts alone. */
export type Fetched<T> =
  | { ok: true; value: T; provider: string; provenance: Provenance | null; runs: ProviderRun[] }
  | { ok: false; runs: ProviderRun[] }
