// The fields of a date in text form, each unknown until a word or a number sets it.

import type { Zone } from '../../lib/clock.ts'

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]
const DAYS = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays']
const TEN_DAYS_S = 864_000

export const UNKNOWN = -1

export interface DateFields {
  year: number
  /** January is 0. */
  month: number
  day: number
  hour: number
  minute: number
  second: number
}

export const noFields = (): DateFields => ({
  ...{ year: UNKNOWN, month: UNKNOWN, day: UNKNOWN },
  ...{ hour: UNKNOWN, minute: UNKNOWN, second: UNKNOWN },
})

/** In the time zone, or in UTC. */
export function fieldsAt(seconds: number, clock?: Zone): DateFields {
  const at = new Date(seconds * 1000 + (clock ? clock.offsetAt(seconds * 1000) * 60_000 : 0))
  return {
    ...{ year: at.getUTCFullYear(), month: at.getUTCMonth(), day: at.getUTCDate() },
    ...{ hour: at.getUTCHours(), minute: at.getUTCMinutes(), second: at.getUTCSeconds() },
  }
}

/** As if the time zone were UTC; days and months out of range continue in the next ones. */
export const shownSeconds = ({ year, month, day, hour, minute, second }: DateFields): number =>
  Date.UTC(year, month, day, hour, minute, second) / 1000

/** The time of the fields in UTC; null if a field is missing or the year is invalid for git. */
export function secondsInUtc(fields: DateFields): number | null {
  const { year, month, hour, minute, second } = fields
  if (year < 1970 || year > 2099 || month < 0 || hour < 0 || minute < 0 || second < 0) return null
  return shownSeconds(fields)
}

/** The number of letters that match the start of the name; 0 if the word is something else. */
export function lettersOf(text: string, name: string): number {
  const word = /^[A-Za-z0-9]*/.exec(text)?.[0].toLowerCase() ?? ''
  return name.toLowerCase().startsWith(word) ? word.length : 0
}

const named = (names: readonly string[], text: string) => names.findIndex((name) => lettersOf(text, name) >= 3)
export const monthNamed = (text: string): number => named(MONTHS, text)
export const weekdayNamed = (text: string): number => named(DAYS, text)

export function setTime(fields: DateFields, [hour = 0, minute = 0, second = 0]: readonly number[]): boolean {
  // The 61st second is a leap second.
  if (hour > 24 || minute >= 60 || second > 60) return false
  Object.assign(fields, { hour, minute, second })
  return true
}

function fullYear(year: number): number | null {
  if (year >= 1970 && year < 2100) return year
  if (year > 70 && year < 100) return year + 1900
  return year < 38 ? year + 2000 : null
}

/** With the current time, a date far in the future is rejected and the year may be missing. */
export function setDate(
  fields: DateFields,
  [given = UNKNOWN, month = 0, day = 0]: readonly number[],
  now?: number,
): boolean {
  if (month < 1 || month > 12 || day < 1 || day > 31) return false
  const year = given === UNKNOWN ? null : fullYear(given)
  // If the year is invalid, the day is set anyway.
  if (now === undefined) Object.assign(fields, { month: month - 1, day })
  if (given !== UNKNOWN && year === null) return false
  if (now !== undefined) {
    const meant = secondsInUtc({ ...fields, year: year ?? fieldsAt(now).year, month: month - 1, day })
    if (meant !== null && now + TEN_DAYS_S < meant) return false
  }
  Object.assign(fields, { month: month - 1, day, ...(year !== null && { year }) })
  return true
}

/**
 * Numbers with the same separator: a time with `:`, or a date in one of the usual orders. Returns their length; 0 if
 * they are neither.
 */
export function takeNumbers(fields: DateFields, text: string, now: number): number {
  const [, first = '', sign = '', second = '', third] = /^(\d+)([-:/.])(\d+)(?:\2(\d+))?/.exec(text) ?? []
  if (first === '') return 0
  const length = first.length + 1 + second.length + (third === undefined ? 0 : third.length + 1)
  const [a, b, c] = [Number(first), Number(second), third === undefined ? UNKNOWN : Number(third)]
  if (sign === ':') {
    if (!setTime(fields, [a, b, Math.max(0, c)])) return 0
    const isDateKnown = fields.year !== UNKNOWN && fields.month !== UNKNOWN && fields.day !== UNKNOWN
    const fraction = isDateKnown ? (/^\.\d+/.exec(text.slice(length))?.[0].length ?? 0) : 0
    return length + fraction
  }
  const yearFirst = a > 70 && (setDate(fields, [a, b, c]) || setDate(fields, [a, c, b]))
  const isSet =
    yearFirst ||
    (sign !== '.' && setDate(fields, [c, a, b], now)) ||
    setDate(fields, [c, b, a], now) ||
    (sign === '.' && setDate(fields, [c, a, b], now))
  return isSet ? length : 0
}
