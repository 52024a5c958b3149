// Bars and quote, each within its deadline.

import { isoMicros } from '../lib/clock.ts'
import type { Bar, Quote } from '../market/bars.ts'
import type { Fetched, ProviderRun } from '../market/provider-run.ts'
import type { AnalysisDeps } from './analyze.ts'
import { type Bounded, within } from './deadline.ts'

export function fetchBars(deps: AnalysisDeps): Promise<Bounded<Fetched<Bar[]>>> {
  const bound = { timeoutMs: deps.deadlines.dailyBarsMs, signal: deps.signal }
  return within(bound, (signal) => deps.dailyBars(signal))
}

/** A quote that does not come in time is one that failed: the bars alone still make a report. */
export async function fetchQuote(deps: AnalysisDeps): Promise<Fetched<Quote>> {
  const startedAt = deps.clock()
  const { quoteMs } = deps.deadlines
  const quote = await within({ timeoutMs: quoteMs, signal: deps.signal }, (signal) => deps.quote(signal))
  if (quote.ok) return quote.value
  const run: ProviderRun = {
    dataType: 'realtime_quote',
    provider: 'all',
    operation: 'quote',
    success: false,
    latencyMs: deps.clock() - startedAt,
    errorType: quote.reason,
    errorMessage: quote.reason === 'deadline' ? `no quote within ${quoteMs} ms` : 'cancelled',
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 0,
    createdAt: isoMicros(startedAt),
  }
  return { ok: false, runs: [run] }
}
