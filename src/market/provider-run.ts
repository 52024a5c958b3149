/** One try of one provider for one need: what the diagnostics and the run flow are made from. */
export type ProviderRun = {
  dataType:
    | 'realtime_quote'
    | 'daily_data'
    | 'fundamentals'
    | 'capital_flow'
    | 'belong_boards'
    | 'sector_rankings'
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
  /** Set when the answer was kept from before: how old it is. */
  staleSeconds?: number
  /** When the try began, ISO 8601. */
  createdAt: string
}

/** Where figures come from when they are not a live market's: such figures say so wherever they are shown. */
export type Provenance = { kind: 'historical' | 'synthetic'; label: string; endsOn: string }

/** What the provider chain answers for one need: the first good value with every try that led to it, or the tries alone. */
export type Fetched<T> =
  | { ok: true; value: T; provider: string; provenance: Provenance | null; runs: ProviderRun[] }
  | { ok: false; runs: ProviderRun[] }
