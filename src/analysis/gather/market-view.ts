// The meaning of the fetched prices after the checks: the phase of the market, the price to use, and the session of
// each bar.

import { isoMicros } from '../../lib/clock.ts'
import type { Bar, Provenance, Quote } from '../../market/bars.ts'
import { addDays, isTradingDay, localDate, marketPhaseSummary, sessionEnd } from '../../market/calendar.ts'
import {
  type Consistency,
  type ExaminedWith,
  examinePrices,
  isMixed,
  type Prices,
} from '../../market/consistency/examine.ts'
import type { Market } from '../../market/instruments.ts'
import type { MarketPhaseSummary } from '../schemas.ts'
import { TRIGGER_SOURCE } from '../task.ts'
import type { AnalysisInput } from './input.ts'

type SessionBars = {
  bars: Bar[]
  /** The session of the last bar is still running. */
  partial: boolean
  /** False when the last bar was built from a quote without a volume. */
  lastVolumeKnown: boolean
  /** The quote is from the market's latest session; false for an older one, which must not be shown as the price. */
  quoteIsCurrent: boolean
}

type MarketView = SessionBars & {
  /** In its reported form: with the phase that the request asked for. */
  phase: MarketPhaseSummary
  /** The quote that the report uses; null when there is none or it must not be used. */
  quote: Quote | null
  quoteUnused: 'stale' | 'mixed' | null
  provenance: Provenance | null
  /** The last bar and the one before it. */
  today: Bar | null
  yesterday: Bar | null
  price: number | null
  changePct: number | null
  /** The day of the price. */
  asOf: string
  /** The date of the last complete bar if later sessions are missing. */
  staleSince: string | null
  /** Completed sessions after the newest bar, which may be built from a quote. */
  missedSessions: number
}

type Subject = Pick<AnalysisInput, 'instrument' | 'request'>

function marketView(input: Subject, prices: Prices, now: number): MarketView {
  const { bars, quote } = prices
  const { market } = input.instrument
  const series = bars.ok ? bars.value : []
  const offered = quote.ok && !isMixed(prices) ? quote.value : null
  const provenance = bars.ok ? bars.provenance : quote.ok ? quote.provenance : null
  const clockPhase = marketPhaseSummary({ market, epochMs: now })
  const session: SessionBars = provenance
    ? { bars: series, partial: false, lastVolumeKnown: true, quoteIsCurrent: true }
    : withLiveBar(series, offered, clockPhase)
  const used = session.quoteIsCurrent ? offered : null
  const [today, yesterday] = [session.bars.at(-1) ?? null, session.bars.at(-2) ?? null]
  return {
    ...session,
    phase: provenance ? samplePhase(input, today?.date ?? provenance.endsOn) : askedPhase(input, now),
    quote: used,
    quoteUnused: isMixed(prices) ? 'mixed' : offered !== null && used === null ? 'stale' : null,
    provenance,
    today,
    yesterday,
    price: used?.price ?? today?.close ?? null,
    changePct: quotedChange(used) ?? changePctOf(today, yesterday),
    asOf: today?.date ?? isoMicros(now).slice(0, 10),
    staleSince: provenance ? null : staleSince(session, clockPhase),
    missedSessions:
      provenance || today === null ? 0 : sessionsAfter(market, today.date, clockPhase.effective_daily_bar_date),
  }
}

function askedPhase({ instrument, request }: Subject, now: number): MarketPhaseSummary {
  return marketPhaseSummary({
    market: instrument.market,
    epochMs: now,
    triggerSource: TRIGGER_SOURCE,
    analysisIntent: request.analysisPhase,
  })
}

/** The phase of a sample is the end of its last session, whatever the clock and the request say. */
function samplePhase({ instrument, request }: Subject, date: string): MarketPhaseSummary {
  const { market } = instrument
  return {
    ...marketPhaseSummary({ market, epochMs: sessionEnd(market, date), triggerSource: TRIGGER_SOURCE }),
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

/** A quote without a trade belongs to no session, so its change is not that of the day. */
const quotedChange = (quote: Quote | null): number | null =>
  quote === null || isWithoutTrade(quote) ? null : quote.changePct

function changePctOf(today: Bar | null, yesterday: Bar | null): number | null {
  if (today === null || yesterday === null || yesterday.close === 0) return null
  // Two decimals, as sources quote it; adding zero avoids -0, which JSON cannot represent.
  return Math.round((today.close / yesterday.close - 1) * 1e4) / 100 + 0
}

function staleSince({ bars, partial }: SessionBars, phase: MarketPhaseSummary): string | null {
  const complete = partial ? bars.at(-2) : bars.at(-1)
  const due = phase.effective_daily_bar_date
  return complete !== undefined && due !== null && complete.date < due ? complete.date : null
}

function sessionsAfter(market: Market, date: string, due: string | null): number {
  let sessions = 0
  for (let day = addDays(date, 1); due !== null && day <= due; day = addDays(day, 1)) {
    if (isTradingDay(market, day)) sessions += 1
  }
  return sessions
}

/**
 * The bars including the newest session. During a session the quote replaces or adds its bar. After the close, until
 * the next session begins, it replaces a bar that the source has not published yet. A quote of another day changes
 * nothing. `phase` is that of the clock, not one from the request.
 */
function withLiveBar(bars: Bar[], quote: Quote | null, phase: MarketPhaseSummary): SessionBars {
  const forming = phase.is_partial_bar === true
  const day = forming ? phase.session_date : phase.effective_daily_bar_date
  const last = bars.at(-1)
  const untouched = { bars, partial: forming && last?.date === day, lastVolumeKnown: true }
  if (quote === null || day === null) return { ...untouched, quoteIsCurrent: quote !== null }
  const date = quoteDate(quote, phase)
  const quoteIsCurrent = date === null || (date >= day && date >= (last?.date ?? ''))
  const isPublished = last !== undefined && last.date >= day
  if (date !== day || (isPublished && !forming) || isWithoutTrade(quote)) return { ...untouched, quoteIsCurrent }
  const before = isPublished ? bars.slice(0, -1) : bars
  return {
    bars: [...before, barOf(quote, day)],
    partial: forming,
    lastVolumeKnown: quote.volume !== null,
    quoteIsCurrent: true,
  }
}

/** A day without trades has no bar: the stock is suspended, or the session has had no trade yet. */
export const isWithoutTrade = ({ volume, high }: Pick<Quote, 'volume' | 'high'>): boolean =>
  volume === 0 && high === null

/** The market's date of a quote. A quote without a time counts as current while a session runs, and as undated otherwise. */
function quoteDate({ quotedAt }: Quote, { market, session_date, is_partial_bar }: MarketPhaseSummary): string | null {
  if (quotedAt !== null && market !== null) return localDate(market, quotedAt)
  return is_partial_bar === true ? session_date : null
}

function barOf(quote: Quote, date: string): Bar {
  const { price } = quote
  const open = quote.open ?? price
  return {
    date,
    open,
    high: Math.max(quote.high ?? price, open, price),
    low: Math.min(quote.low ?? price, open, price),
    close: price,
    volume: quote.volume ?? 0,
    amount: quote.amount,
  }
}

// `checkedView` is the gate between the fetched data and everything that is made from it: it runs every check of the
// figures, repairs single wrong values, and removes figures that a failed check concerns. The code after it never sees
// a figure that failed.

export type CheckedView = MarketView & {
  consistency: Consistency
  /** The number of received bars, whether or not they may be quoted. */
  barCount: number
}

/** The view of prices that passed the gate. */
export function checkedView(input: Subject, prices: Prices, beside: ExaminedWith): CheckedView {
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

/** A quote that was left out counts as not received. */
function repairedQuote(quote: Prices['quote'], examined: Quote | null, isLeftOut: boolean): Prices['quote'] {
  if (!quote.ok || isLeftOut) return quote
  return examined === null ? { ok: false, runs: quote.runs } : { ...quote, value: examined }
}

/** The view without the figures that a failed check concerns. */
function withheld(view: MarketView, { isBlocked, withheld: groups }: Consistency): MarketView {
  const withVolume = groups.includes('volume') ? withoutVolumes(view) : view
  if (!isBlocked) return withVolume
  // Averages, ranges and the chart all depend on the same bars.
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
