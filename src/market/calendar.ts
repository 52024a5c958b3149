// Trading hours and days of each market, and its local clock. "Today" depends on the market: at half past midnight in
// Shanghai, New York is in yesterday's session. Every function of the first part takes an instant and a market.

import { CLOSED_DAYS, EARLY_CLOSES, KNOWN_YEARS, LATE_SESSIONS } from './holidays.generated.ts'
import type { Market } from './instruments.ts'

export type MarketPhase =
  | 'premarket'
  | 'intraday'
  | 'lunch_break'
  | 'closing_auction'
  | 'postmarket'
  | 'non_trading'
  | 'unknown'

/** The `market_phase_summary` of a report, in its wire form: it is stored and sent unchanged. */
export type MarketPhaseSummary = {
  market: Market | null
  phase: MarketPhase
  market_local_time: string | null
  /** The market's own calendar date at that time. */
  session_date: string | null
  /** The last complete session. */
  effective_daily_bar_date: string | null
  is_trading_day: boolean | null
  is_market_open_now: boolean | null
  is_partial_bar: boolean | null
  minutes_to_open: number | null
  minutes_to_close: number | null
  trigger_source: string | null
  analysis_intent: string | null
  warnings: CalendarWarning[]
}

export type CalendarWarning = 'unknown_market' | 'calendar_unavailable' | 'phase_against_calendar'

type MarketHours = {
  zone: string
  /** Minutes of the local day: open and close of each session. */
  sessions: [open: number, close: number][]
  closingAuctionMinutes: number
}

const at = (hour: number, minute: number): number => hour * 60 + minute

const HOURS: Record<Market, MarketHours> = {
  cn: session('Asia/Shanghai', 3, [at(9, 30), at(11, 30)], [at(13, 0), at(15, 0)]),
  hk: session('Asia/Hong_Kong', 10, [at(9, 30), at(12, 0)], [at(13, 0), at(16, 0)]),
  us: session('America/New_York', 5, [at(9, 30), at(16, 0)]),
  jp: session('Asia/Tokyo', 5, [at(9, 0), at(11, 30)], [at(12, 30), at(15, 30)]),
  kr: session('Asia/Seoul', 10, [at(9, 0), at(15, 30)]),
  tw: session('Asia/Taipei', 5, [at(9, 0), at(13, 30)]),
}

function session(zone: string, closingAuctionMinutes: number, ...sessions: [number, number][]): MarketHours {
  return { zone, closingAuctionMinutes, sessions }
}

export function marketZone(market: Market): string {
  return HOURS[market].zone
}

/** The market's calendar date at an instant. */
export function localDate(market: Market, epochMs: number): string {
  return wallClock(epochMs, HOURS[market].zone).date
}

/** The minute of the market's day, without its seconds. */
export function minuteOfDay(market: Market, epochMs: number): number {
  return Math.floor(wallClock(epochMs, HOURS[market].zone).secondOfDay / 60)
}

/** Whether the holidays of that date's year are known; if not, every weekday counts as a session. */
export function isCalendarKnown(market: Market, date: string): boolean {
  return KNOWN_YEARS[market]?.includes(Number(date.slice(0, 4))) ?? false
}

export function isTradingDay(market: Market, date: string): boolean {
  return !isWeekend(date) && !(CLOSED_DAYS[market]?.includes(date) ?? false)
}

export function previousTradingDay(market: Market, date: string): string {
  let day = addDays(date, -1)
  while (!isTradingDay(market, day)) day = addDays(day, -1)
  return day
}

export function nextTradingDay(market: Market, date: string): string {
  let day = addDays(date, 1)
  while (!isTradingDay(market, day)) day = addDays(day, 1)
  return day
}

/** The date of the newest session that has begun. */
export function startedSession(market: Market, epochMs: number): string {
  const date = localDate(market, epochMs)
  return isTradingDay(market, date) && epochMs >= sessionStart(market, date) ? date : previousTradingDay(market, date)
}

/** When the next session begins. */
export function nextOpening(market: Market, epochMs: number): number {
  return sessionStart(market, nextTradingDay(market, startedSession(market, epochMs)))
}

/** The instant at which that day's first session begins. */
function sessionStart(market: Market, date: string): number {
  return instantAt(date, firstOpen(sessionHours(market, date)) * 60, HOURS[market].zone)
}

/** The instant at which that day's last session ends, early closes included. */
export function sessionEnd(market: Market, date: string): number {
  return instantAt(date, lastClose(sessionHours(market, date)) * 60, HOURS[market].zone)
}

/** The date of the newest session that is over. */
export function lastCompletedSession(market: Market, epochMs: number): string {
  const date = localDate(market, epochMs)
  if (isTradingDay(market, date) && epochMs >= sessionEnd(market, date)) return date
  return previousTradingDay(market, date)
}

/** That day's sessions in minutes of the local day. On a half day they end at the early close; some days begin late. */
export function sessionHours(market: Market, date: string): [number, number][] {
  const late = LATE_SESSIONS[market]?.[date]
  if (late !== undefined) return [late]
  const earlyClose = EARLY_CLOSES[market]?.[date]
  const { sessions } = HOURS[market]
  if (earlyClose === undefined) return sessions
  return sessions
    .filter(([open]) => open < earlyClose)
    .map(([open, close]): [number, number] => [open, Math.min(close, earlyClose)])
}

const lastClose = (sessions: [number, number][]): number => sessions.at(-1)?.[1] ?? 0
const firstOpen = (sessions: [number, number][]): number => sessions[0]?.[0] ?? 0

export type PhaseQuestion = {
  market: Market | null
  epochMs: number
  triggerSource?: string | null
  /** The request's `analysis_phase`. `auto` and null leave the phase to the clock. */
  analysisIntent?: string | null
}

/** The phase of the market at that instant. */
export function marketPhaseSummary(question: PhaseQuestion): MarketPhaseSummary {
  const { market, epochMs, triggerSource = null, analysisIntent = null } = question
  const asked = { trigger_source: triggerSource, analysis_intent: analysisIntent }
  if (market === null) return { ...UNKNOWN_MARKET, ...asked }
  const { zone } = HOURS[market]
  const { date, secondOfDay } = wallClock(epochMs, zone)
  return {
    market,
    market_local_time: isoWithOffset(epochMs, zone),
    session_date: date,
    effective_daily_bar_date: lastCompletedSession(market, epochMs),
    ...overridden(phaseAt(market, date, secondOfDay / 60), analysisIntent),
    ...asked,
    warnings: [
      ...(isCalendarKnown(market, date) ? [] : (['calendar_unavailable'] as const)),
      ...(isForced(analysisIntent) && !isTradingDay(market, date) ? (['phase_against_calendar'] as const) : []),
    ],
  }
}

const UNKNOWN_MARKET: Omit<MarketPhaseSummary, 'trigger_source' | 'analysis_intent'> = {
  market: null,
  phase: 'unknown',
  market_local_time: null,
  session_date: null,
  effective_daily_bar_date: null,
  is_trading_day: null,
  is_market_open_now: null,
  is_partial_bar: null,
  minutes_to_open: null,
  minutes_to_close: null,
  warnings: ['unknown_market'],
}

type PhaseFields = Pick<
  MarketPhaseSummary,
  'phase' | 'is_trading_day' | 'is_market_open_now' | 'is_partial_bar' | 'minutes_to_open' | 'minutes_to_close'
>

function phaseAt(market: Market, date: string, minute: number): PhaseFields {
  const closed = { is_market_open_now: false, is_partial_bar: false, minutes_to_open: null, minutes_to_close: null }
  if (!isTradingDay(market, date)) return { ...closed, phase: 'non_trading', is_trading_day: false }
  const sessions = sessionHours(market, date)
  const day = { ...closed, is_trading_day: true }
  const untilOpen = firstOpen(sessions) - minute
  if (untilOpen > 0) return { ...day, phase: 'premarket', minutes_to_open: Math.ceil(untilOpen) }
  const untilClose = lastClose(sessions) - minute
  if (untilClose <= 0) return { ...day, phase: 'postmarket' }
  if (!sessions.some(([open, close]) => minute >= open && minute < close)) {
    return { ...day, phase: 'lunch_break', is_partial_bar: true }
  }
  const phase = untilClose <= HOURS[market].closingAuctionMinutes ? 'closing_auction' : 'intraday'
  return { ...day, phase, is_market_open_now: true, is_partial_bar: true, minutes_to_close: Math.ceil(untilClose) }
}

const isForced = (intent: string | null): intent is 'premarket' | 'intraday' | 'postmarket' =>
  intent === 'premarket' || intent === 'intraday' || intent === 'postmarket'

/**
 * A phase in the request replaces the phase and its flags; dates and the local time stay true. On a day without a
 * session such a phase does not exist: then the calendar's phase stays, with a warning.
 */
function overridden(fields: PhaseFields, intent: string | null): PhaseFields {
  if (!isForced(intent) || fields.is_trading_day === false) return fields
  const open = intent === 'intraday'
  return {
    ...fields,
    phase: intent,
    is_market_open_now: open,
    is_partial_bar: open,
    minutes_to_open: intent === 'premarket' ? fields.minutes_to_open : null,
    minutes_to_close: open ? fields.minutes_to_close : null,
  }
}

// Local times of other zones, from the runtime's own zone tables, including daylight saving time.

export type WallClock = {
  /** `YYYY-MM-DD` in the zone. */
  date: string
  secondOfDay: number
  /** Minutes east of UTC at that instant. */
  offsetMinutes: number
}

const DAY_MS = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    const numeric = '2-digit'
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    formats.set(zone, format)
  }
  return format
}

export function wallClock(epochMs: number, zone: string): WallClock {
  const parts: Record<string, string> = {}
  for (const { type, value } of formatOf(zone).formatToParts(epochMs)) parts[type] = value
  const secondOfDay = Number(parts.hour) * 3600 + Number(parts.minute) * 60 + Number(parts.second)
  const date = `${parts.year}-${parts.month}-${parts.day}`
  const asUtcMs = dateMs(date) + secondOfDay * 1000
  return { date, secondOfDay, offsetMinutes: Math.round((asUtcMs - epochMs) / 60_000) }
}

/** The instant at which the zone's clock shows this time; in an hour that a clock skips or repeats, one close to it. */
export function instantAt(date: string, secondOfDay: number, zone: string): number {
  const asUtcMs = dateMs(date) + secondOfDay * 1000
  const guess = asUtcMs - wallClock(asUtcMs, zone).offsetMinutes * 60_000
  return asUtcMs - wallClock(guess, zone).offsetMinutes * 60_000
}

/** ISO 8601 with the zone's offset, to the second. */
export function isoWithOffset(epochMs: number, zone: string): string {
  const { offsetMinutes } = wallClock(epochMs, zone)
  const local = new Date(epochMs + offsetMinutes * 60_000).toISOString().slice(0, 19)
  const size = Math.abs(offsetMinutes)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${local}${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** The calendar date this many days later (earlier when negative). */
export function addDays(date: string, days: number): string {
  return new Date(dateMs(date) + days * DAY_MS).toISOString().slice(0, 10)
}

export function isWeekend(date: string): boolean {
  const weekday = new Date(dateMs(date)).getUTCDay()
  return weekday === 0 || weekday === 6
}

/** Whether the text is a date that exists, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(dateMs(text)) && addDays(text, 0) === text
}

function dateMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`)
}
