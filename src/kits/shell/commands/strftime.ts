// Times as text, as the C library's `strftime` and GNU's `date` write them, in the language of the locale C.

import { type Zone, zoneText } from '../../../lib/clock.ts'

export interface Moment {
  /** Since 1970, in UTC. */
  ms: number
  nanoseconds: number
  /** East of UTC. */
  offsetMinutes: number
  zone: string
}

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const MONTHS = 'January February March April May June July August September October November December'.split(' ')

const DAY_MS = 86_400_000

export function utcMoment(ms: number, nanoseconds = (((ms % 1000) + 1000) % 1000) * 1_000_000): Moment {
  return { ms, nanoseconds: Math.floor(nanoseconds), offsetMinutes: 0, zone: 'UTC' }
}

/** As a clock of the zone shows it. */
export function momentIn(zone: Zone, ms: number): Moment {
  return { ...utcMoment(ms), offsetMinutes: zone.offsetAt(ms), zone: zone.nameAt(ms) }
}

const DIRECTIVE = /%([-_0^#+]*)(\d*)([EO]?)(:{0,3}[a-zA-Z%+])/g

/** What is no directive stays as it is. */
export function strftime(format: string, moment: Moment): string {
  return format.replace(DIRECTIVE, (whole, flags: string, width: string, _: string, letter: string) => {
    const found = expanded(letter, moment, { flags, width })
    if (found === null || (letter === '%' && whole.length > 2)) return whole
    return cased(padded(found, flags, width), flags, letter)
  })
}

/** A text, with what it is filled up to and by what. */
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
  // A plus is shown for a year that has more digits than usual.
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
}

function expanded(letter: string, moment: Moment, { flags, width }: Filling): Expansion | null {
  const local = new Date(moment.ms + moment.offsetMinutes * 60_000)
  const again = (format: string): Expansion => words(strftime(format, moment))
  if (letter === 'F' && width !== '') return again(`%${flags}${Math.max(0, Number(width) - DAY_LENGTH)}Y-%m-%d`)
  const composed = COMPOSED[letter]
  if (composed !== undefined) return again(composed)
  if (letter.endsWith('z')) return words(zoneIn(zoneText(moment.offsetMinutes, letter.length - 1), { flags, width }))
  if (letter === 'N') return words(nanosecondsText(moment.nanoseconds, { flags, width }))
  if (letter === 's') return words(String(Math.floor(moment.ms / 1000)))
  if (letter === 'Z') return words(moment.zone)
  return FIELDS[letter]?.(local) ?? null
}

/** Of month and day with their dashes. */
const DAY_LENGTH = 6

const COMPOSED: Readonly<Record<string, string>> = {
  ...{ D: '%m/%d/%y', x: '%m/%d/%y', F: '%+4Y-%m-%d', T: '%H:%M:%S', X: '%H:%M:%S', R: '%H:%M', r: '%I:%M:%S %p' },
  c: '%a %b %e %H:%M:%S %Y',
}

const hour12 = (date: Date): number => date.getUTCHours() % 12 || 12
const dayOfYear = (date: Date): number =>
  Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1

const FIELDS: Readonly<Record<string, (date: Date) => Expansion>> = {
  a: (date) => words((DAYS[date.getUTCDay()] ?? '').slice(0, 3)),
  A: (date) => words(DAYS[date.getUTCDay()] ?? ''),
  b: (date) => words((MONTHS[date.getUTCMonth()] ?? '').slice(0, 3)),
  h: (date) => words((MONTHS[date.getUTCMonth()] ?? '').slice(0, 3)),
  B: (date) => words(MONTHS[date.getUTCMonth()] ?? ''),
  C: (date) => number(Math.floor(date.getUTCFullYear() / 100), 2),
  d: (date) => number(date.getUTCDate(), 2),
  e: (date) => number(date.getUTCDate(), 2, ' '),
  g: (date) => number(isoWeek(date).year % 100, 2),
  G: (date) => number(isoWeek(date).year, 4),
  H: (date) => number(date.getUTCHours(), 2),
  I: (date) => number(hour12(date), 2),
  j: (date) => number(dayOfYear(date), 3),
  k: (date) => number(date.getUTCHours(), 2, ' '),
  l: (date) => number(hour12(date), 2, ' '),
  m: (date) => number(date.getUTCMonth() + 1, 2),
  M: (date) => number(date.getUTCMinutes(), 2),
  n: () => words('\n'),
  p: (date) => words(date.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: (date) => words(date.getUTCHours() < 12 ? 'am' : 'pm'),
  q: (date) => number(Math.floor(date.getUTCMonth() / 3) + 1, 1),
  S: (date) => number(date.getUTCSeconds(), 2),
  t: () => words('\t'),
  u: (date) => number(date.getUTCDay() || 7, 1),
  U: (date) => number(Math.floor((dayOfYear(date) + 6 - date.getUTCDay()) / 7), 2),
  V: (date) => number(isoWeek(date).week, 2),
  w: (date) => number(date.getUTCDay(), 1),
  W: (date) => number(Math.floor((dayOfYear(date) + 6 - ((date.getUTCDay() + 6) % 7)) / 7), 2),
  y: (date) => number(((date.getUTCFullYear() % 100) + 100) % 100, 2),
  Y: (date) => ({ ...number(date.getUTCFullYear(), 1), signAbove: 4 }),
  '%': () => words('%'),
}

/** A week belongs to the year in which its Thursday is. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY_MS)
  return { year: thursday.getUTCFullYear(), week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1 }
}

/** A width says how many digits there are, counted from the left. */
function nanosecondsText(nanoseconds: number, { flags, width }: Filling): string {
  const wanted = Number(width || 9)
  const digits = String(nanoseconds).padStart(9, '0').slice(0, wanted)
  const last = [...flags].findLast((flag) => '-_0+'.includes(flag))
  if (last !== '-' && last !== '_') return digits.padEnd(wanted, '0')
  return digits.replace(/(?!^)0+$/, '').padEnd(last === '_' ? wanted : 0)
}

/** What is filled up stands between the sign and the hours. */
function zoneIn(text: string, { flags, width }: Filling): string {
  const last = [...flags].findLast((flag) => '-_0+'.includes(flag))
  if (last === undefined && width === '') return text
  const sign = text.charAt(0)
  const digits = text.slice(1).replace(/^0+(?=\d)/, '')
  if (last === '-') return sign + digits
  const wanted = Number(width || text.length)
  return last === '_' ? (sign + digits).padStart(wanted) : sign + digits.padStart(wanted - 1, '0')
}
