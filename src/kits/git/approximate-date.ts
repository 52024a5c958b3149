// A date in words, relative to now: `2 weeks ago`, `yesterday noon`, `last friday`, `Jan 5`.

import type { Zone } from '../../lib/clock.ts'
import {
  type DateFields,
  fieldsAt,
  lettersOf,
  monthNamed,
  shownSeconds,
  takeNumbers,
  UNKNOWN,
  weekdayNamed,
} from './date-fields.ts'

const NUMBERS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const DAY_S = 86_400
/** Larger numbers are not used as counts. */
const LARGEST = 100_000
const END_OF_TIME = 2 ** 64
const SPANS: readonly [string, number][] = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', DAY_S],
  ['weeks', 7 * DAY_S],
]

/** Null if no word or number refers to a time. Like in git, a time before 1970 becomes the latest possible time. */
export function approximateDate(text: string, clock: Zone, now: number): number | null {
  const seconds = new Approximation(clock, now).read(text)
  return seconds === null || seconds >= 0 ? seconds : END_OF_TIME
}

const weekdayOf = ({ year, month, day }: DateFields) => new Date(Date.UTC(year, month, day)).getUTCDay()

class Approximation {
  readonly #clock: Zone
  readonly #now: number
  readonly #today: DateFields
  /** The time of day is the current one until another is given; the date is unknown. */
  #fields: DateFields
  /** Of the last computed time: a day that was only named does not change it. */
  #weekday: number
  /** Also of the last computed time, so daylight saving time continues to apply in winter. */
  #offset: number
  /** A number without a known unit yet; 0 for none. */
  #number = 0
  #isTouched = false

  constructor(clock: Zone, now: number) {
    this.#clock = clock
    this.#now = now
    this.#today = fieldsAt(now, clock)
    this.#weekday = weekdayOf(this.#today)
    this.#offset = clock.offsetAt(now * 1000)
    this.#fields = { ...this.#today, year: UNKNOWN, month: UNKNOWN, day: UNKNOWN }
  }

  read(text: string): number | null {
    for (let at = 0; at < text.length; ) {
      const rest = text.slice(at)
      if (/^\d/.test(rest)) at += this.#takeNumber(rest)
      else if (/^[A-Za-z]/.test(rest)) at += this.#takeWord(rest)
      else at++
    }
    this.#placeNumber()
    return this.#isTouched ? this.#settle(0) : null
  }

  #takeNumber(text: string): number {
    this.#placeNumber()
    this.#isTouched = true
    const several = takeNumbers(this.#fields, text, this.#now)
    if (several > 0) return several
    const digits = /^\d+/.exec(text)?.[0] ?? ''
    if (!digits.startsWith('0') || digits.length <= 2) this.#number = Math.min(Number(digits), LARGEST)
    return digits.length
  }

  /** A number without a unit is a day, a month or a year, whichever is unknown. */
  #placeNumber(): void {
    const [number, fields] = [this.#number, this.#fields]
    this.#number = 0
    if (number === 0) return
    if (fields.day === UNKNOWN && number < 32) fields.day = number
    else if (fields.month === UNKNOWN && number < 13) fields.month = number - 1
    else if (fields.year === UNKNOWN) {
      if (number > 1969 && number < 2100) fields.year = number
      else if (number > 69 && number < 100) fields.year = number + 1900
      else if (number < 38) fields.year = number + 2000
    }
  }

  /** Sets the unknown fields, and subtracts the seconds. */
  #settle(back: number): number {
    const [fields, today] = [this.#fields, this.#today]
    if (fields.day === UNKNOWN) fields.day = today.day
    if (fields.month === UNKNOWN) fields.month = today.month
    if (fields.year === UNKNOWN) fields.year = fields.month > today.month ? today.year - 1 : today.year
    const seconds = shownSeconds(fields) - this.#offset * 60 - back
    // Impossible years are not changed.
    if (!Number.isFinite(seconds)) return seconds
    this.#offset = this.#clock.offsetAt(seconds * 1000)
    this.#fields = fieldsAt(seconds, this.#clock)
    this.#weekday = weekdayOf(this.#fields)
    return seconds
  }

  #takeWord(text: string): number {
    const word = /^[A-Za-z]+/.exec(text)?.[0] ?? ''
    const month = monthNamed(text)
    if (month >= 0) this.#fields.month = month
    if (month >= 0 || this.#takeMoment(text) || this.#takeCount(text) || this.#takeSpan(text)) this.#isTouched = true
    return word.length
  }

  #takeMoment(text: string): boolean {
    const is = (name: string) => lettersOf(text, name) === name.length
    if (is('yesterday') || is('now')) {
      this.#number = 0
      this.#settle(is('now') ? 0 : DAY_S)
    } else if (is('noon')) this.#atHour(12)
    else if (is('midnight')) this.#atHour(0)
    else if (is('tea')) this.#atHour(17)
    else if (is('PM')) this.#inHalf(12)
    else if (is('AM')) this.#inHalf(0)
    else if (is('never')) {
      this.#fields = fieldsAt(0, this.#clock)
      this.#offset = this.#clock.offsetAt(0)
      this.#weekday = weekdayOf(this.#fields)
      this.#number = 0
    } else return false
    return true
  }

  /** The last time when it was that hour. */
  #atHour(hour: number): void {
    this.#placeNumber()
    if (this.#fields.hour < hour) this.#settle(DAY_S)
    Object.assign(this.#fields, { hour, minute: 0, second: 0 })
  }

  #inHalf(from: number): void {
    if (this.#number > 0) Object.assign(this.#fields, { hour: this.#number, minute: 0, second: 0 })
    this.#number = 0
    this.#fields.hour = (this.#fields.hour % 12) + from
  }

  #takeCount(text: string): boolean {
    if (this.#number > 0) return false
    const index = NUMBERS.findIndex((name) => lettersOf(text, name) === name.length)
    const isLast = lettersOf(text, 'last') === 4
    if (index >= 0 || isLast) this.#number = isLast ? 1 : index + 1
    return index >= 0 || isLast
  }

  #takeSpan(text: string): boolean {
    const number = this.#number
    if (number === 0) return false
    const weekday = weekdayNamed(text)
    const span = SPANS.find(([name]) => lettersOf(text, name) >= name.length - 1)
    if (span) this.#settle(span[1] * number)
    else if (weekday >= 0) {
      const since = this.#weekday - weekday
      this.#settle((since + 7 * (since <= 0 ? number : number - 1)) * DAY_S)
    } else if (lettersOf(text, 'months') >= 5) this.#monthsBack(number)
    else if (lettersOf(text, 'years') >= 4) this.#monthsBack(12 * number)
    else return false
    this.#number = 0
    return true
  }

  #monthsBack(count: number): void {
    this.#settle(0)
    const fields = this.#fields
    const months = fields.year * 12 + fields.month - count
    Object.assign(fields, { year: Math.floor(months / 12), month: ((months % 12) + 12) % 12 })
  }
}
