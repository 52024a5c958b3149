// When a schedule is due. A slot is named by the clock of its zone, so it is one slot however often that clock shows the
// time: in the hour that is repeated its first showing counts, in the hour that is skipped it comes as much later as the
// clock jumped.

import { isTradingDay, localDate, sessionEnd } from '../market/calendar.ts'
import type { Market } from '../market/instruments.ts'
import { addDays, wallClock } from '../market/zoned-time.ts'
import { DAYS, MAX_AFTER_CLOSE_MINUTES, type When } from './plan.ts'

export type Slot = {
  /** Unique within its schedule. */
  id: string
  /** Epoch ms. */
  at: number
  /** The market whose close it follows; null for a time of the day. */
  market: Market | null
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** Longer than any exchange is closed. */
const MOST_DAYS_AHEAD = 20

/** The slots after `from` and up to `until`, earliest first. `markets` are those that the schedule is about. */
export function slotsBetween(when: When, markets: readonly Market[], span: { from: number; until: number }): Slot[] {
  const slots = 'times' in when ? timeSlots(when, span) : closeSlots(when, markets, span)
  return slots.filter(({ at }) => at > span.from && at <= span.until).sort((a, b) => a.at - b.at)
}

/** The first slot after that moment; null when none comes within weeks. */
export function nextSlot(when: When, markets: readonly Market[], after: number): Slot | null {
  for (let days = 2; days <= MOST_DAYS_AHEAD; days += 3) {
    const [first] = slotsBetween(when, markets, { from: after, until: after + days * DAY_MS })
    if (first !== undefined) return first
  }
  return null
}

type Span = { from: number; until: number }

function timeSlots({ times, zone, days }: Extract<When, { times: string[] }>, { from, until }: Span): Slot[] {
  const dates = datesBetween(wallClock(from, zone).date, wallClock(until, zone).date)
  return dates
    .filter((date) => days.some((day) => day === weekday(date)))
    .flatMap((date) => times.map((time) => ({ id: `${date}T${time}`, at: instantOf(date, time, zone), market: null })))
}

function closeSlots(
  when: Exclude<When, { times: string[] }>,
  markets: readonly Market[],
  { from, until }: Span,
): Slot[] {
  const delayMs = when.after_close_minutes * MINUTE_MS
  return markets.flatMap((market) => {
    const first = localDate(market, from - MAX_AFTER_CLOSE_MINUTES * MINUTE_MS)
    return datesBetween(first, localDate(market, until))
      .filter((date) => isTradingDay(market, date))
      .map((date) => ({ id: `${market}@${date}`, at: sessionEnd(market, date) + delayMs, market }))
  })
}

function datesBetween(first: string, last: string): string[] {
  const dates: string[] = []
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date)
  return dates
}

/** Sunday is the first day of a date's own count and the last one here. */
const weekday = (date: string): string | undefined => DAYS[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7]

function instantOf(date: string, time: string, zone: string): number {
  const asUtc = Date.parse(`${date}T${time}:00Z`)
  const offsets = [asUtc - DAY_MS, asUtc + DAY_MS].map((at) => wallClock(at, zone).offsetMinutes * MINUTE_MS)
  const shown = offsets.map((offset) => asUtc - offset).filter((at) => shows(at, { date, time, zone }))
  return shown.length > 0 ? Math.min(...shown) : asUtc - (offsets[0] ?? 0)
}

function shows(at: number, { date, time, zone }: { date: string; time: string; zone: string }): boolean {
  const clock = wallClock(at, zone)
  const minutes = Math.floor(clock.secondOfDay / 60)
  const text = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return clock.date === date && text === time
}
