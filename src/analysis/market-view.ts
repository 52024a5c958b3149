// What the fetched figures say together: which phase they speak of, which price stands, what the indicators make of it.

import type { Bar, Quote } from '../market/bars.ts'
import { marketPhaseSummary, sessionEnd } from '../market/calendar.ts'
import type { Fetched, Provenance } from '../market/provider-run.ts'
import type { NewsFound } from '../news/search.ts'
import type { MarketPhaseSummary } from '../reports/report.ts'
import type { AnalysisInput } from './analyze.ts'
import type { Company } from './company.ts'
import type { Mood } from './guardrails.ts'
import type { PreviousReport } from './previous.ts'
import { type SessionBars, withLiveBar } from './session-bars.ts'
import { type Technical, technicalView } from './signals.ts'

/** Bars and quote as they were fetched. */
export type Prices = { input: AnalysisInput; bars: Fetched<Bar[]>; quote: Fetched<Quote>; now: number }

/** Everything that was fetched for one report. */
export type Gathering = Prices & {
  company: Company
  /** Null: nobody searches. */
  news: NewsFound | null
  previous: PreviousReport | null
  mood: Mood | null
}

export type MarketView = SessionBars & {
  /** As reported: with the phase that the request asked for. */
  phase: MarketPhaseSummary
  /** The quote the report stands on; null when none came or it may not be used. */
  quote: Quote | null
  quoteUnused: 'stale' | 'mixed' | null
  provenance: Provenance | null
  price: number | null
  changePct: number | null
  technical: Technical | null
  /** The last complete bar's date when sessions after it are missing. */
  staleSince: string | null
}

export function marketView({ input, bars, quote, now }: Prices): MarketView {
  const { market } = input.instrument
  const series = bars.ok ? bars.value : []
  const isMixed = bars.ok && quote.ok && (bars.provenance === null) !== (quote.provenance === null)
  const offered = quote.ok && !isMixed ? quote.value : null
  const provenance = bars.ok ? bars.provenance : quote.ok ? quote.provenance : null
  const clockPhase = marketPhaseSummary({ market, epochMs: now })
  const session: SessionBars = provenance
    ? { bars: series, partial: false, lastVolumeKnown: true, quoteIsCurrent: true }
    : withLiveBar(series, offered, clockPhase)
  const used = session.quoteIsCurrent ? offered : null
  const last = session.bars.at(-1)
  return {
    ...session,
    phase: provenance ? samplePhase(input, last?.date ?? provenance.endsOn) : askedPhase(input, now),
    quote: used,
    quoteUnused: isMixed ? 'mixed' : offered !== null && used === null ? 'stale' : null,
    provenance,
    price: used?.price ?? last?.close ?? null,
    changePct: used?.changePct ?? changePctOf(session.bars),
    technical: technicalView(session.bars, { lastVolumeKnown: session.lastVolumeKnown }),
    staleSince: provenance ? null : staleSince(session, clockPhase),
  }
}

function askedPhase({ instrument, request, triggerSource }: AnalysisInput, now: number): MarketPhaseSummary {
  return marketPhaseSummary({
    market: instrument.market,
    epochMs: now,
    triggerSource,
    analysisIntent: request.analysisPhase,
  })
}

/** The phase of a sample is the end of its last session, whatever the clock says and whatever phase was asked for. */
function samplePhase({ instrument, request, triggerSource }: AnalysisInput, date: string): MarketPhaseSummary {
  const { market } = instrument
  return {
    ...marketPhaseSummary({ market, epochMs: sessionEnd(market, date), triggerSource }),
    phase: 'postmarket',
    session_date: date,
    effective_daily_bar_date: date,
    is_trading_day: true,
    is_market_open_now: false,
    is_partial_bar: false,
    minutes_to_open: null,
    minutes_to_close: null,
    analysis_intent: request.analysisPhase,
  }
}

function changePctOf(bars: readonly Bar[]): number | null {
  const [last, previous] = [bars.at(-1), bars.at(-2)]
  if (last === undefined || previous === undefined || previous.close === 0) return null
  // Two decimals, as sources quote it; the zero added keeps JSON from a minus zero it cannot carry.
  return Math.round((last.close / previous.close - 1) * 1e4) / 100 + 0
}

function staleSince({ bars, partial }: SessionBars, phase: MarketPhaseSummary): string | null {
  const complete = partial ? bars.at(-2) : bars.at(-1)
  const due = phase.effective_daily_bar_date
  return complete !== undefined && due !== null && complete.date < due ? complete.date : null
}
