// Checks the dates of bars and quote against each other, the clock and the calendar. The calendar knows the holidays of
// some years; for other years only weekends and very long gaps are meaningful.

import type { Bar } from '../bars.ts'
import {
  addDays,
  isCalendarKnown,
  isTradingDay,
  lastCompletedSession,
  localDate,
  marketPhaseSummary,
} from '../calendar.ts'
import type { Market } from '../instruments.ts'
import { LEAST, MOST, TOLERANCE, WINDOW } from './tolerances.ts'
import {
  type Checked,
  type Evidence,
  finding,
  HISTORY,
  notPossible,
  PRICES,
  pass,
  type Touch,
  touchesAt,
} from './types.ts'

const isSame = (a: Bar, b: Bar): boolean =>
  a.open === b.open && a.high === b.high && a.low === b.low && a.close === b.close && a.volume === b.volume

/** One bar for each session, in order. An identical duplicate counts once. */
export function duplicateDates({ bars }: Evidence): Checked {
  const at = bars.findIndex((bar, i) => i > 0 && bar.date <= (bars[i - 1] as Bar).date)
  if (at < 0) return pass('duplicate_dates')
  const kept = bars.filter((bar, i) => i === 0 || bar.date !== bars[i - 1]?.date || !isSame(bar, bars[i - 1] as Bar))
  const date = bars[at]?.date ?? null
  const rest = kept.findIndex((bar, i) => i > 0 && bar.date <= (kept[i - 1] as Bar).date)
  const count = bars.length - kept.length
  if (rest < 0 && count <= MOST.repaired) {
    const touches: Touch[] = [...touchesAt(at, bars.length), 'volume']
    return { findings: [finding('duplicate_dates', 'warn', { touches, detail: 'dropped', date, count })], bars: kept }
  }
  const detail = kept[rest]?.date === kept[rest - 1]?.date ? 'differs' : 'unordered'
  const touches: Touch[] = [...PRICES, 'volume']
  return {
    findings: [finding('duplicate_dates', 'fail', { touches, detail, date: kept[rest]?.date ?? date })],
  }
}

/** No date may be in the future. */
export function futureDates({ bars, quote, instrument, now, isSample }: Evidence): Checked {
  if (isSample) return notPossible('future_dates', 'sample')
  const today = localDate(instrument.market, now)
  const ahead = bars.filter(({ date }) => date > today)
  const findings = []
  if (ahead.length > 0) {
    const verdict = ahead.length <= MOST.repaired ? 'warn' : 'fail'
    const told = { detail: 'dropped' as const, date: ahead[0]?.date ?? null, expected: today, count: ahead.length }
    findings.push(finding('future_dates', verdict, { touches: [...PRICES, 'volume'], ...told }))
  }
  const isEarly = quote?.quotedAt != null && quote.quotedAt > now + TOLERANCE.clockAheadMs
  if (isEarly && quote?.quotedAt != null) {
    const date = localDate(instrument.market, quote.quotedAt)
    const touches: Touch[] = [...PRICES, 'volume']
    findings.push(finding('future_dates', 'warn', { touches, detail: 'not_used', date, expected: today }))
  }
  if (findings.length === 0) return pass('future_dates')
  return { findings, bars: bars.filter(({ date }) => date <= today), quote: isEarly ? null : quote }
}

/** Bars of days without a session are invalid. */
export function nonSessions({ bars, instrument: { market } }: Evidence): Checked {
  if (bars.length === 0) return notPossible('non_sessions', 'no_bars')
  const wrong = bars.filter(({ date }) => !isTradingDay(market, date))
  if (wrong.length === 0) {
    return bars.every(({ date }) => isCalendarKnown(market, date))
      ? pass('non_sessions')
      : notPossible('non_sessions', 'no_calendar')
  }
  const verdict = wrong.length <= MOST.repaired ? 'warn' : 'fail'
  const detail = verdict === 'warn' ? 'dropped' : 'too_many'
  const [date, count] = [wrong.at(-1)?.date ?? null, wrong.length]
  const isRecent = wrong.some((bar) => bars.indexOf(bar) >= bars.length - 2)
  const touches: Touch[] = [...(isRecent ? PRICES : HISTORY), 'volume']
  const findings = [finding('non_sessions', verdict, { touches, detail, date, count })]
  return { findings, bars: bars.filter(({ date: day }) => isTradingDay(market, day)) }
}

/** The number of sessions between two dates; in years without a calendar only a gap that is longer than any holiday counts. */
export function sessionsBetween(market: Market, from: string, to: string): number {
  let sessions = 0
  for (let day = addDays(from, 1); day < to; day = addDays(day, 1)) if (isTradingDay(market, day)) sessions += 1
  const isKnown = isCalendarKnown(market, from) && isCalendarKnown(market, to)
  return isKnown || sessions > LEAST.weekdaysOfUnknownYear ? sessions : 0
}

type Gap = { date: string; sessions: number }

/** Sessions without a bar. A suspension looks the same as lost data, so both are reported. */
export function missingSessions({ bars, instrument: { market } }: Evidence): Checked {
  if (bars.length < 2) return notPossible('missing_sessions', 'no_bars')
  const recent = bars.slice(-WINDOW)
  const gaps = recent.flatMap(({ date }, i): Gap[] => {
    const before = recent[i - 1]
    const sessions = before === undefined ? 0 : sessionsBetween(market, before.date, date)
    return sessions > 0 ? [{ date, sessions }] : []
  })
  if (gaps.length === 0) {
    return recent.every(({ date }) => isCalendarKnown(market, date))
      ? pass('missing_sessions')
      : notPossible('missing_sessions', 'no_calendar')
  }
  const longest = gaps.reduce((most, gap) => (gap.sessions > most.sessions ? gap : most))
  const count = gaps.reduce((sum, { sessions }) => sum + sessions, 0)
  const isLong = longest.sessions > MOST.gapSessions
  const isLast = recent.slice(-2).some(({ date }) => gaps.some((gap) => gap.date === date))
  const touches: Touch[] = [...HISTORY, 'volume', ...(isLast ? (['change'] as const) : [])]
  const told = { detail: isLong ? ('long_gap' as const) : ('gap' as const), date: longest.date, count }
  return { findings: [finding('missing_sessions', isLong ? 'fail' : 'warn', { touches, ...told })] }
}

/** The newest bar must be of the newest completed session, or the quote replaces it. */
export function staleBars(evidence: Evidence): Checked {
  const { bars, quote, instrument, now, isSample } = evidence
  const last = bars.at(-1)
  if (isSample) return notPossible('stale_bars', 'sample')
  if (last === undefined) return notPossible('stale_bars', 'no_bars')
  const { market } = instrument
  const due = lastCompletedSession(market, now)
  const missed = last.date >= due ? 0 : sessionsMissed(market, last.date, due)
  const quotedOn = quoteDay(evidence)
  const isStoodIn = missed === 1 && quotedOn === due
  if (missed === 0 || isStoodIn) return idleBars(bars)
  const touches: Touch[] = [...PRICES, 'volume']
  const told = { date: last.date, expected: due, count: missed }
  const isSuspended = quotedOn !== null && quotedOn >= due && quote !== null && isIdle(quote.volume, quote.price, last)
  if (isSuspended) return { findings: [finding('stale_bars', 'warn', { touches, detail: 'suspended', ...told })] }
  const verdict = missed > MOST.staleSessions ? 'fail' : 'warn'
  return { findings: [finding('stale_bars', verdict, { touches, detail: 'ended', ...told })] }
}

const RECENT = 20
const IDLE_MOST = 15

/** A price that does not move for weeks means that nobody trades: averages and signals are meaningless. */
function idleBars(bars: readonly Bar[]): Checked {
  const recent = bars.slice(-RECENT)
  const idle = recent.filter(({ open, high, low, close }, i) => {
    const before = (recent[i - 1] ?? bars.at(-RECENT - 1))?.close
    return open === close && high === low && low === close && close === before
  })
  if (idle.length < IDLE_MOST) return pass('stale_bars')
  const told = { detail: 'idle' as const, date: idle.at(-1)?.date ?? null, count: idle.length }
  return { findings: [finding('stale_bars', 'warn', { touches: [...HISTORY, 'volume'], ...told })] }
}

const sessionsMissed = (market: Market, from: string, due: string): number =>
  Math.max(1, sessionsBetween(market, from, addDays(due, 1)))

const isIdle = (volume: number | null, price: number, { close }: Bar): boolean =>
  (volume ?? 0) === 0 && Math.abs(price / close - 1) <= TOLERANCE.quoteShare

/** The market's day of the quote; null when its source has no time. */
export function quoteDay({ quote, instrument }: Evidence): string | null {
  return quote?.quotedAt == null ? null : localDate(instrument.market, quote.quotedAt)
}

/** The quote must be of the newest session; an older one is left out, and nothing is compared with it. */
export function staleQuote(evidence: Evidence): Checked {
  const { quote, bars, instrument, now, isSample } = evidence
  if (isSample) return notPossible('stale_quote', 'sample')
  if (quote === null) return notPossible('stale_quote', 'no_quote')
  const date = quoteDay(evidence)
  if (date === null) return notPossible('stale_quote', 'not_told')
  const { market } = instrument
  const running = marketPhaseSummary({ market, epochMs: now })
  const due = running.is_partial_bar ? running.session_date : running.effective_daily_bar_date
  const latest = [due ?? '', bars.at(-1)?.date ?? ''].reduce((a, b) => (a > b ? a : b))
  if (date >= latest) return pass('stale_quote')
  return {
    findings: [
      finding('stale_quote', 'warn', {
        // Without the quote the newest session has no bar at all, or only the price of a bar.
        touches: (bars.at(-1)?.date ?? '') >= latest ? ['price', 'change', 'valuation'] : [...PRICES, 'volume'],
        detail: 'not_used',
        date,
        expected: latest,
        found: quote.price,
      }),
    ],
    quote: null,
  }
}
