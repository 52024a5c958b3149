// Formats times like the C library's `strftime` and GNU's `date`, in the locale C.

import { type Zone, zoneText } from '../../../lib/clock.ts'

export interface Moment {
  /** Since 1970, in UTC. */
  ms: number
  nanoseconds: number
  /** East of UTC. */
  offsetMinutes: number
  zone: string
  /** The broken-down time, if it is not derived from `ms`. */
  clock?: Clock
}

/** A broken-down time, like in the C library: its parts may be inconsistent. */
export interface Clock {
  year: number
  /** From 0, as `yearDay` and `weekday` are. */
  month: number
  day: number
  hour: number
  minute: number
  second: number
  weekday: number
  yearDay: number
}

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const MONTHS = 'January February March April May June July August September October November December'.split(' ')

const DAY_MS = 86_400_000

export function utcMoment(ms: number, nanoseconds = (((ms % 1000) + 1000) % 1000) * 1_000_000): Moment {
  return { ms, nanoseconds: Math.floor(nanoseconds), offsetMinutes: 0, zone: 'UTC' }
}

/** As a clock in the zone shows it. */
export function momentIn(zone: Zone, ms: number): Moment {
  return { ...utcMoment(ms), offsetMinutes: zone.offsetAt(ms), zone: zone.nameAt(ms) }
}

const DIRECTIVE = /%([-_0^#+]*)(\d*)([EO]?)(:{0,3}[a-zA-Z%+])/g

/** GNU's `date` and similar programs fill years up to four digits; the C library does not. */
export type YearStyle = 'filled' | 'library'

/** Unknown directives are unchanged. */
export function strftime(format: string, moment: Moment, years: YearStyle = 'filled'): string {
  return format.replace(DIRECTIVE, (whole, flags: string, width: string, modifier: string, letter: string) => {
    const style = modifier === 'E' && letter === 'Y' ? 'library' : years
    const found = expanded(letter, moment, { flags, width, years: style })
    if (found === null || (letter === '%' && whole.length > 2)) return whole
    return cased(padded(found, flags, width), flags, letter)
  })
}

/** A text, with its padding. */
type Expansion = { text: string; width: number; fill: '0' | ' ' | ''; signAbove?: number }

const number = (value: number, width: number, fill: '0' | ' ' = '0'): Expansion => ({
  text: String(value),
  width,
  fill,
})
const words = (text: string): Expansion => ({ text, width: 0, fill: '' })

function padded({ text, width, fill, signAbove = width }: Expansion, flags: string, asked: string): string {
  const last = [...flags].findLast((flag) => '-_0+'.includes(flag))
  const to = asked === '' ? width : Number(asked)
  if (last === '-') return text
  const by = last === '_' ? ' ' : last === '0' || last === '+' ? '0' : fill || ' '
  const isNegative = text.startsWith('-') && by === '0'
  // A plus is shown for a year with more digits than usual.
  if (last === '+' && fill === '0' && !isNegative && Math.max(to, text.length) > signAbove)
    return `+${text.padStart(to - 1, '0')}`
  return isNegative ? `-${text.slice(1).padStart(to - 1, by)}` : text.padStart(to, by)
}

function cased(text: string, flags: string, letter: string): string {
  if (flags.includes('#') && 'pZ'.includes(letter)) return text.toLowerCase()
  return /[\^#]/.test(flags) ? text.toUpperCase() : text
}

interface Filling {
  flags: string
  width: string
  years?: YearStyle
}

function expanded(letter: string, moment: Moment, { flags, width, years = 'filled' }: Filling): Expansion | null {
  const clock = moment.clock ?? clockAt(new Date(moment.ms + moment.offsetMinutes * 60_000))
  const again = (format: string): Expansion => words(strftime(format, moment, years))
  if (letter === 'F' && years === 'library' && width === '') return again(`%${flags}Y-%m-%d`)
  if (letter === 'F' && flags + width !== '') return again(`%${flags}${Math.max(1, Number(width) - DAY_LENGTH)}Y-%m-%d`)
  if (years === 'library' && Object.hasOwn(LIBRARY_FIELDS, letter)) return LIBRARY_FIELDS[letter]?.(clock) ?? null
  const composed = COMPOSED[letter]
  if (composed !== undefined) return words(strftime(composed, moment, letter === 'c' ? 'library' : years))
  if (letter.endsWith('z')) return words(zoneIn(zoneText(moment.offsetMinutes, letter.length - 1), { flags, width }))
  if (letter === 'N') return words(nanosecondsText(moment.nanoseconds, { flags, width }))
  if (letter === 's') return words(String(Math.floor(moment.ms / 1000)))
  if (letter === 'Z') return words(moment.zone)
  return FIELDS[letter]?.(clock) ?? null
}

/** Of month and day with their dashes. */
const DAY_LENGTH = 6

const COMPOSED: Readonly<Record<string, string>> = {
  ...{ D: '%m/%d/%y', x: '%m/%d/%y', F: '%+4Y-%m-%d', T: '%H:%M:%S', X: '%H:%M:%S', R: '%H:%M', r: '%I:%M:%S %p' },
  c: '%a %b %e %H:%M:%S %Y',
}

function clockAt(date: Date): Clock {
  const year = date.getUTCFullYear()
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((date.getTime() - new Date(0).setUTCFullYear(year, 0, 1)) / DAY_MS),
  }
}

const hour12 = ({ hour }: Clock): number => (hour > 12 ? hour - 12 : hour || 12)
const dayName = ({ weekday }: Clock): string => DAYS[weekday] ?? '?'
const monthName = ({ month }: Clock): string => MONTHS[month] ?? '?'
/** Of a day and of the first weekday of weeks. */
const weekOf = (yearDay: number, weekday: number): number => Math.trunc((yearDay - weekday + 7) / 7)

const FIELDS: Readonly<Record<string, (clock: Clock) => Expansion>> = {
  a: (clock) => words(dayName(clock).slice(0, 3)),
  A: (clock) => words(dayName(clock)),
  b: (clock) => words(monthName(clock).slice(0, 3)),
  h: (clock) => words(monthName(clock).slice(0, 3)),
  B: (clock) => words(monthName(clock)),
  C: ({ year }) => number(Math.floor(year / 100), 2),
  d: ({ day }) => number(day, 2),
  e: ({ day }) => number(day, 2, ' '),
  g: (clock) => number(isoWeek(clock).year % 100, 2),
  G: (clock) => number(isoWeek(clock).year, 4),
  H: ({ hour }) => number(hour, 2),
  I: (clock) => number(hour12(clock), 2),
  j: ({ yearDay }) => number(yearDay + 1, 3),
  k: ({ hour }) => number(hour, 2, ' '),
  l: (clock) => number(hour12(clock), 2, ' '),
  m: ({ month }) => number(month + 1, 2),
  M: ({ minute }) => number(minute, 2),
  n: () => words('\n'),
  p: ({ hour }) => words(hour < 12 ? 'AM' : 'PM'),
  P: ({ hour }) => words(hour < 12 ? 'am' : 'pm'),
  q: ({ month }) => number(Math.floor(month / 3) + 1, 1),
  S: ({ second }) => number(second, 2),
  t: () => words('\t'),
  u: ({ weekday }) => number(((weekday + 6) % 7) + 1, 1),
  U: ({ yearDay, weekday }) => number(weekOf(yearDay, weekday), 2),
  V: (clock) => number(isoWeek(clock).week, 2),
  w: ({ weekday }) => number(weekday, 1),
  W: ({ yearDay, weekday }) => number(weekOf(yearDay, (weekday + 6) % 7), 2),
  y: ({ year }) => number(((year % 100) + 100) % 100, 2),
  Y: ({ year }) => number(year, 4),
  '%': () => words('%'),
}

const LIBRARY_FIELDS: Readonly<Record<string, (clock: Clock) => Expansion>> = {
  C: ({ year }) => number(Math.floor(year / 100), 1),
  G: (clock) => number(isoWeek(clock).year, 1),
  Y: ({ year }) => ({ ...number(year, 1), signAbove: 4 }),
}

const daysIn = (year: number): number => (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 366 : 365)
const THURSDAY = 4

/** A week belongs to the year that contains its Thursday. */
function isoWeek({ year, yearDay, weekday }: Clock): { year: number; week: number } {
  const thursday = yearDay + THURSDAY - (weekday || 7)
  const weekIn = (day: number): number => Math.floor(day / 7) + 1
  if (thursday < 0) return { year: year - 1, week: weekIn(thursday + daysIn(year - 1)) }
  if (thursday >= daysIn(year)) return { year: year + 1, week: weekIn(thursday - daysIn(year)) }
  return { year, week: weekIn(thursday) }
}

/** A width is the number of digits, from the left. */
function nanosecondsText(nanoseconds: number, { flags, width }: Filling): string {
  const wanted = Number(width || 9)
  const digits = String(nanoseconds).padStart(9, '0').slice(0, wanted)
  const last = [...flags].findLast((flag) => '-_0+'.includes(flag))
  if (last !== '-' && last !== '_') return digits.padEnd(wanted, '0')
  return digits.replace(/(?!^)0+$/, '').padEnd(last === '_' ? wanted : 0)
}

/** The padding is between the sign and the hours. */
function zoneIn(text: string, { flags, width }: Filling): string {
  const last = [...flags].findLast((flag) => '-_0+'.includes(flag))
  if (last === undefined && width === '') return text
  const sign = text.charAt(0)
  const digits = text.slice(1).replace(/^0+(?=\d)/, '')
  if (last === '-') return sign + digits
  const wanted = Number(width || text.length)
  return last === '_' ? (sign + digits).padStart(wanted) : sign + digits.padStart(wanted - 1, '0')
}
