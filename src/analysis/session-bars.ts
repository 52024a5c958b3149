import type { Bar, Quote } from '../market/bars.ts'
import { localDate } from '../market/calendar.ts'
import type { MarketPhaseSummary } from '../reports/report.ts'

export type SessionBars = {
  bars: Bar[]
  /** The last bar is of a session that still runs. */
  partial: boolean
  /** False when the last bar was built from a quote that told no volume. */
  lastVolumeKnown: boolean
  /** The quote is of the market's latest session; false for an older one, which must not be shown as the price. */
  quoteIsCurrent: boolean
}

/**
 * The bars with the running session in them: during a session the quote replaces or appends its bar; after the close it
 * stands in where the source has not published the day yet. A quote of another day changes nothing. `phase` is the clock's,
 * not one that a request asked for.
 */
export function withLiveBar(bars: Bar[], quote: Quote | null, phase: MarketPhaseSummary): SessionBars {
  const day = phase.session_date
  const last = bars.at(-1)
  const forming = phase.is_partial_bar === true
  const untouched = { bars, partial: forming && last?.date === day, lastVolumeKnown: true }
  if (quote === null || day === null) return { ...untouched, quoteIsCurrent: quote !== null }
  const date = quoteDate(quote, phase)
  const latest = forming || phase.effective_daily_bar_date === day ? day : phase.effective_daily_bar_date
  const quoteIsCurrent = date === null || (date >= (latest ?? '') && date >= (last?.date ?? ''))
  const isOfSession = date === day && (forming || phase.effective_daily_bar_date === day)
  const isPublished = last !== undefined && last.date >= day
  if (!isOfSession || (isPublished && !forming)) return { ...untouched, quoteIsCurrent }
  const before = isPublished ? bars.slice(0, -1) : bars
  return {
    bars: [...before, barOf(quote, day)],
    partial: forming,
    lastVolumeKnown: quote.volume !== null,
    quoteIsCurrent: true,
  }
}

/** The market's date of a quote. One without a time counts as of now while a session runs, and as undated otherwise. */
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
