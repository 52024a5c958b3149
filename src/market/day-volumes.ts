// The volume ratio of a running session: the volume so far compared with the volume at the same time of earlier
// sessions. It is the ratio of whole sessions with both sides cut at the same minute.

import type { Bar } from './bars.ts'
import { minuteOfDay, sessionHours } from './calendar.ts'
import { SESSIONS_COMPARED } from './indicators/volume.ts'
import type { Market } from './instruments.ts'

/** The volume of a few minutes. Oldest first in a list; `until` is their end, in minutes of the market's day. */
export type VolumePart = { date: string; until: number; volume: number }

export type SameTimeVolume =
  | { isKnown: true; ratio: number; until: number }
  | { isKnown: false; reason: NoSameTimeReason }

/**
 * `too_early`: no part of the session is complete. `stale`: the newest part is too old. `too_few_sessions`: earlier
 * ones are missing, or had other hours. `other_volumes`: the parts of a session do not add up to its volume.
 */
export type NoSameTimeReason = 'too_early' | 'stale' | 'too_few_sessions' | 'other_volumes'

type Session = {
  market: Market
  /** The date of the running session. */
  date: string
  now: number
  /** Daily bars; those of earlier sessions are used for comparison. */
  bars: readonly Bar[]
  /** The quote's volume of the running session. */
  quotedVolume: number
}

/** Sources outside the mainland have exchange data with a delay of up to twenty minutes. */
const MOST_MINUTES_LATE = 35
/** Between the parts of a day and its bar, which may lack an auction or late trades. */
const DAY_FACTOR = 1.5
/** Between the parts so far and the quote, which is some minutes newer: a day may begin with high volume. */
const QUOTE_FACTOR = 20

export function sameTimeVolume(parts: readonly VolumePart[], session: Session): SameTimeVolume {
  const { market, date, now, bars, quotedVolume } = session
  const minute = minuteOfDay(market, now)
  const until = parts.findLast((part) => part.date === date && part.until <= minute)?.until
  if (until === undefined) return { isKnown: false, reason: 'too_early' }
  if (tradedMinutes(market, date, { from: until, to: minute }) > MOST_MINUTES_LATE)
    return { isKnown: false, reason: 'stale' }
  const soFar = volumeOn(parts, date, until)
  const earlier = bars.filter((bar) => bar.date < date && hasSameHours(market, { date, other: bar.date, until }))
  const compared = earlier.slice(-SESSIONS_COMPARED)
  const days = compared.map((bar) => ({
    bar,
    whole: volumeOn(parts, bar.date),
    sofar: volumeOn(parts, bar.date, until),
  }))
  if (days.length < SESSIONS_COMPARED || days.some(({ whole }) => whole === 0)) {
    return { isKnown: false, reason: 'too_few_sessions' }
  }
  const isOfDays = days.every(({ bar, whole }) => isWithin(whole, bar.volume, DAY_FACTOR))
  const sum = days.reduce((total, day) => total + day.sofar, 0)
  const isOfQuote = soFar <= quotedVolume * DAY_FACTOR && quotedVolume <= soFar * QUOTE_FACTOR
  if (!isOfDays || !isOfQuote || sum === 0) return { isKnown: false, reason: 'other_volumes' }
  return { isKnown: true, ratio: soFar / (sum / SESSIONS_COMPARED), until }
}

const isWithin = (a: number, b: number, factor: number): boolean => a <= b * factor && b <= a * factor

function volumeOn(parts: readonly VolumePart[], date: string, until = Number.POSITIVE_INFINITY): number {
  return parts.reduce((sum, part) => (part.date === date && part.until <= until ? sum + part.volume : sum), 0)
}

/**
 * Whether a session had begun when this one did and had not ended by that minute: half days and days with a late start
 * are not compared.
 */
function hasSameHours(market: Market, { date, other, until }: { date: string; other: string; until: number }): boolean {
  const [hours, others] = [sessionHours(market, date), sessionHours(market, other)]
  return hours[0]?.[0] === others[0]?.[0] && until <= (others.at(-1)?.[1] ?? 0)
}

/** Minutes of trading between two minutes of a day, without breaks. */
function tradedMinutes(market: Market, date: string, { from, to }: { from: number; to: number }): number {
  return sessionHours(market, date).reduce(
    (sum, [open, close]) => sum + Math.max(0, Math.min(close, to) - Math.max(open, from)),
    0,
  )
}
