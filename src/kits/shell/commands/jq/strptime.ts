// Parses times from a text like the C library's `strptime`.

import { type Clock, DAYS, MONTHS } from '../strftime.ts'
import { JqError } from './operators.ts'

/** jq's values for parts that are not in the format. */
const UNTOLD = { weekday: 8, yearDay: 367 }

const COMPOSED: Readonly<Record<string, string>> = {
  ...{ T: '%H:%M:%S', X: '%H:%M:%S', R: '%H:%M', r: '%I:%M:%S %p', D: '%m/%d/%y', x: '%m/%d/%y', F: '%Y-%m-%d' },
  c: '%a %b %e %H:%M:%S %Y',
}
const DIRECTIVE = /%[-_0^#]*([\s\S])|\s+|[^%]/g
/** Fields that are read but do not affect the time, such as a zone. */
const PASSED_OVER: Readonly<Record<string, RegExp>> = {
  ...{ '%': /%/y, G: /\d+/y, Z: /\s*\S*/y, z: /\s*(?:Z|[+-]\d\d(?::?[0-5]\d)?(?!\d))/y },
}
const UNKNOWN_HERE = 'UWEO'

type TimeField = 'month' | 'day' | 'weekday' | 'yearDay' | 'date'

/** The time, and the text after it; null if the text does not match the format. */
export function readTime(text: string, format: string): { time: Clock; rest: string } | null {
  const reader = new TimeReader(text)
  if (!reader.reads(format)) return null
  const { rest } = reader
  return rest === '' || /^\s/.test(rest) ? { time: reader.time(), rest } : null
}

class TimeReader {
  readonly #text: string
  #at = 0
  readonly #time: Clock = { year: 1900, month: 0, day: 0, hour: 0, minute: 0, second: 0, ...UNTOLD }
  readonly #told = new Set<TimeField>()
  #isPm: boolean | null = null
  #hasHour12 = false
  #century: number | null = null
  #yearOfCentury: number | null = null
  #epoch: number | null = null

  constructor(text: string) {
    this.#text = text
  }

  get rest(): string {
    return this.#text.slice(this.#at)
  }

  reads(format: string): boolean {
    for (const [part, letter] of format.matchAll(DIRECTIVE)) {
      if (letter !== undefined) {
        if (!this.#directive(letter)) return false
      } else if (/^\s/.test(part)) this.#skipSpace()
      else if (this.#text.startsWith(part, this.#at)) this.#at += part.length
      else return false
    }
    return true
  }

  time(): Clock {
    if (this.#epoch !== null) return brokenTime(this.#epoch)
    const time = { ...this.#time }
    if (this.#century !== null) time.year = this.#century * 100 + (this.#yearOfCentury ?? 0)
    if (this.#hasHour12 && this.#isPm) time.hour += 12
    if (!this.#told.has('date')) return time
    const hasDay = this.#told.has('month') && this.#told.has('day')
    if (!hasDay && this.#told.has('yearDay')) {
      const day = new Date(dayOf(time.year, 0, 1 + time.yearDay))
      if (!this.#told.has('month')) time.month = day.getUTCMonth()
      if (!this.#told.has('day')) time.day = day.getUTCDate()
    }
    const day = dayOf(time.year, time.month, time.day)
    if (!this.#told.has('weekday')) time.weekday = new Date(day).getUTCDay()
    if (!this.#told.has('yearDay')) time.yearDay = (day - dayOf(time.year, 0, 1)) / DAY_MS
    return time
  }

  #skipSpace(): void {
    while (/^\s$/.test(this.#text.charAt(this.#at))) this.#at++
  }

  #directive(letter: string): boolean {
    const composed = COMPOSED[letter]
    if (composed !== undefined) return this.reads(composed)
    if (UNKNOWN_HERE.includes(letter)) throw new JqError(`strptime/1: %${letter} is not available here`)
    const number = NUMBERS[letter]
    if (number !== undefined) return this.#numbered(letter, number)
    const passed = PASSED_OVER[letter]
    if (passed !== undefined) return this.#matches(passed) !== null
    switch (letter) {
      case 'n':
      case 't':
        this.#skipSpace()
        return true
      case 'a':
      case 'A':
        return this.#named(DAYS, 'weekday')
      case 'b':
      case 'B':
      case 'h':
        this.#told.add('date')
        return this.#named(MONTHS, 'month')
      case 'p': {
        const found = this.#matches(/[ap]m/iy)
        this.#isPm = found !== null && /^p/i.test(found)
        return found !== null
      }
      case 's': {
        const found = this.#matches(/\d+/y)
        this.#epoch = Number(found)
        return found !== null
      }
      default:
        return false
    }
  }

  #matches(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? null
    this.#at += found?.length ?? 0
    return found
  }

  #named(names: readonly string[], field: 'weekday' | 'month'): boolean {
    const place = names.findIndex((name) => {
      const pattern = new RegExp(`${name}|${name.slice(0, 3)}`, 'iy')
      return this.#matches(pattern) !== null
    })
    if (place < 0) return false
    this.#time[field] = place
    this.#told.add(field)
    return true
  }

  #numbered(letter: string, range: NumberRange): boolean {
    const value = this.#number(range)
    if (value === null) return false
    const { field, less = 0, tells = [] } = range
    if (field !== undefined) this.#time[field] = value - less
    for (const one of tells) this.#told.add(one)
    if (letter === 'I' || letter === 'l') {
      this.#time.hour = value % 12
      this.#hasHour12 = true
    } else if (letter === 'H' || letter === 'k') this.#hasHour12 = false
    else if (letter === 'u') this.#time.weekday = value % 7
    else if (letter === 'C') this.#century = value
    else if (letter === 'y') {
      this.#yearOfCentury = value
      this.#time.year = value + (value >= 69 ? 1900 : 2000)
    } else if (letter === 'Y') this.#century = null
    return true
  }

  /** At most the number of digits of the range. */
  #number({ from, to, digits }: NumberRange): number | null {
    this.#matches(/ */y)
    let [value, read] = [0, 0]
    while (read < digits && (read === 0 || value * 10 <= to) && /^\d$/.test(this.#text.charAt(this.#at))) {
      value = value * 10 + Number(this.#text.charAt(this.#at))
      this.#at++
      read++
    }
    return read === 0 || value < from || value > to ? null : value
  }
}

type NumberRange = {
  from: number
  to: number
  digits: number
  field?: keyof Clock
  less?: number
  tells?: readonly TimeField[]
}

const DAY_RANGE: NumberRange = { from: 1, to: 31, digits: 2, field: 'day', tells: ['day', 'date'] }
const HOUR: NumberRange = { from: 0, to: 23, digits: 2, field: 'hour' }
const HOUR_12: NumberRange = { from: 1, to: 12, digits: 2 }
const NUMBERS: Readonly<Record<string, NumberRange>> = {
  ...{ d: DAY_RANGE, e: DAY_RANGE, H: HOUR, k: HOUR, I: HOUR_12, l: HOUR_12 },
  M: { from: 0, to: 59, digits: 2, field: 'minute' },
  S: { from: 0, to: 61, digits: 2, field: 'second' },
  m: { from: 1, to: 12, digits: 2, field: 'month', less: 1, tells: ['month', 'date'] },
  Y: { from: 0, to: 9999, digits: 4, field: 'year', tells: ['date'] },
  y: { from: 0, to: 99, digits: 2, tells: ['date'] },
  C: { from: 0, to: 99, digits: 2, tells: ['date'] },
  j: { from: 1, to: 366, digits: 3, field: 'yearDay', less: 1, tells: ['yearDay'] },
  u: { from: 1, to: 7, digits: 1, tells: ['weekday'] },
  w: { from: 0, to: 6, digits: 1, field: 'weekday', tells: ['weekday'] },
  V: { from: 0, to: 53, digits: 2 },
  g: { from: 0, to: 99, digits: 2 },
}

const DAY_MS = 86_400_000

/** The start of the day, since 1970; years before 100 are literal. */
export function dayOf(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

/** From whole seconds since 1970. */
export function brokenTime(seconds: number): Clock {
  const date = new Date(seconds * 1000)
  const year = date.getUTCFullYear()
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((date.getTime() - dayOf(year, 0, 1)) / DAY_MS),
  }
}
