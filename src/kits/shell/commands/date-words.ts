// Parses times in words for `date -d` and `touch -d`: dates, times, zones, weekdays, and relative steps.

import { utcOf, zoneOf } from '../../../lib/clock.ts'
import { DAYS, MONTHS } from './strftime.ts'

export interface Instant {
  ms: number
  nanoseconds: number
}

const UNITS: Readonly<Record<string, { unit: 'month' | 'day' | 'second'; count: number }>> = {
  ...{ year: { unit: 'month', count: 12 }, month: { unit: 'month', count: 1 }, fortnight: { unit: 'day', count: 14 } },
  ...{ week: { unit: 'day', count: 7 }, day: { unit: 'day', count: 1 }, hour: { unit: 'second', count: 3600 } },
  ...{ minute: { unit: 'second', count: 60 }, min: { unit: 'second', count: 60 } },
  ...{ second: { unit: 'second', count: 1 }, sec: { unit: 'second', count: 1 } },
}
const ORDINALS: Readonly<Record<string, number>> = {
  ...{ last: -1, this: 0, next: 1, first: 1, third: 3, fourth: 4, fifth: 5, sixth: 6 },
  ...{ seventh: 7, eighth: 8, ninth: 9, tenth: 10, eleventh: 11, twelfth: 12 },
}
const ZONES: Readonly<Record<string, number>> = {
  ...{ utc: 0, gmt: 0, ut: 0, wet: 0, west: 60, bst: 60, art: -180, brt: -180, brst: -120, nst: -210 },
  ...{ ndt: -150, ast: -240, adt: -180, clt: -240, clst: -180, est: -300, edt: -240, cst: -360, cdt: -300, mst: -420 },
  ...{ mdt: -360, pst: -480, pdt: -420, akst: -540, akdt: -480, hst: -600, hast: -600, hadt: -540, sst: -720, wat: 60 },
  ...{ cet: 60, cest: 120, met: 60, mez: 60, mest: 120, mesz: 120, eet: 120, eest: 180, cat: 120, sast: 120 },
  ...{ eat: 180, msk: 180, msd: 240, ist: 330, sgt: 480, kst: 540, jst: 540, gst: 600, nzst: 720, nzdt: 780 },
  // Military time zones.
  ...{ a: 60, b: 120, c: 180, d: 240, e: 300, f: 360, g: 420, h: 480, i: 540, k: 600 },
  ...{ l: 660, m: 720, n: -60, o: -120, p: -180, q: -240, r: -300, s: -360, t: -420, u: -480 },
  ...{ v: -540, w: -600, x: -660, y: -720, z: 0 },
}
const MONTH = `${MONTHS.map((name) => `${name}(?!\\.)|${name.slice(0, 3)}\\.?`).join('|')}|sept(?!\\.)`
/** A year of two digits must not be an hour. */
const YEAR = '(\\d{4}|\\d\\d)(?![:\\d])(?!\\s*[ap]\\.?m)'
const DAY = `${DAYS.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|tues|wednes|thurs|thur`

/** The fields read so far. */
interface Reading {
  date: { year: number; month: number; day: number; hasYear: boolean } | null
  clock: { hour: number; minute: number; second: number; nanoseconds: number } | null
  offsetMinutes: number | null
  /** It was written with a colon, so a signed number after it is a zone. */
  takesOffset: boolean
  weekday: { day: number; ordinal: number } | null
  steps: { unit: 'month' | 'day' | 'second'; count: number; canTurn: boolean }[]
  /** The zone's distance from UTC is impossible. */
  isImpossible: boolean
}

type Rule = { pattern: RegExp; read: (reading: Reading, groups: string[]) => boolean }

const rule = (source: string, read: Rule['read']): Rule => ({
  pattern: new RegExp(`^(?:${source})(?![a-z0-9])`, 'i'),
  read,
})

const RULES: readonly Rule[] = [
  {
    pattern: /^(\d+)-(\d{1,2})-(\d{1,2})(?:T(?=\d{1,2}(?::|[-+]\d))|(?=$|[\sT+]))/i,
    read: (reading, [year, month, day]) => setDate(reading, [fullYear(year), month, day]),
  },
  rule('(\\d+)(\\d\\d)(\\d\\d)', (reading, [year, month, day]) => setDate(reading, [fullYear(year), month, day])),
  rule('(\\d{1,2})/(\\d{1,2})/(\\d{4}|\\d\\d)', (reading, [month, day, year]) =>
    setDate(reading, [fullYear(year), month, day]),
  ),
  rule('(\\d{4})/(\\d{1,2})/(\\d{1,2})', (reading, parts) => setDate(reading, parts)),
  rule('(\\d{1,2})/(\\d{1,2})', (reading, [month, day]) => setDate(reading, [undefined, month, day])),
  rule(`(\\d{1,2})(?:-|\\s*)(${MONTH})(?:,?(?:-|\\s*)${YEAR})?`, (reading, [day, month, year]) =>
    setDate(reading, [year === undefined ? undefined : fullYear(year), monthOf(month), day]),
  ),
  rule(`(${MONTH})(?:-|\\s+)(\\d{1,2})(?:(?:,? +|-)(\\d{4})(?!:)|,)?`, (reading, [month, day, year]) =>
    setDate(reading, [year, monthOf(month), day]),
  ),
  {
    pattern: /^T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?(?:\s*([ap])\.?m\.?(?![a-z]))?/i,
    read: (reading, groups) => setClock(reading, groups) && takeOffset(reading),
  },
  {
    pattern: /^(\d{1,2})(?=[-+]\d)/,
    read: (reading, [hour]) => reading.date !== null && setClock(reading, [hour, '0']) && takeOffset(reading),
  },
  rule('(\\d{1,2})\\s*([ap])\\.?m\\.?', (reading, [hour, half]) =>
    setClock(reading, [hour, '0', undefined, undefined, half]),
  ),
  { pattern: /^([+-]\s*\d{1,2}(?=\d\d(?!\d))|[+-]\s*\d{1,2}(?!\d)):?(\d{1,2})?(?![\d:])/, read: setOffset },
  rule('now', (reading) => step(reading, 0, 'second')),
  rule('today', (reading) => step(reading, 0, 'day')),
  rule('tomorrow', (reading) => step(reading, 1, 'day')),
  rule('yesterday', (reading) => step(reading, -1, 'day')),
  rule('ago', (reading) => {
    const last = reading.steps.pop()
    if (!last?.canTurn) return false
    reading.steps.push({ unit: last.unit, count: -last.count, canTurn: false })
    return true
  }),
  rule(`([-+]?)\\s*(\\d*)\\s*(${Object.keys(UNITS).join('|')})s?`, (reading, [sign, count, unit = '']) =>
    step(reading, (sign === '-' ? -1 : 1) * (count === '' || count === undefined ? 1 : Number(count)), unit),
  ),
  rule(
    `(${Object.keys(ORDINALS).join('|')})\\s+(${Object.keys(UNITS).join('|')})s?`,
    (reading, [ordinal = '', unit = '']) => step(reading, ORDINALS[ordinal.toLowerCase()] ?? 0, unit),
  ),
  rule(`(?:(${Object.keys(ORDINALS).join('|')})\\s+)?(${DAY})[.,]?`, (reading, [ordinal, day = '']) => {
    return setWeekday(reading, day, ordinal === undefined ? 0 : (ORDINALS[ordinal.toLowerCase()] ?? 0))
  }),
  rule(`(\\d+)\\s*(${DAY})`, (reading, [count = '', day = '']) => setWeekday(reading, day, Number(count))),
  rule(
    `(${Object.keys(ZONES).join('|')})(?: +(dst)|([+-]\\d{1,2}?)(?::?(\\d\\d))?)?`,
    (reading, [zone = '', summer, hours = '0', minutes = '0']) => {
      if (reading.offsetMinutes !== null) return false
      const sign = hours.startsWith('-') ? -1 : 1
      reading.offsetMinutes = (ZONES[zone.toLowerCase()] ?? 0) + Number(hours) * 60 + sign * Number(minutes)
      if (summer !== undefined) reading.offsetMinutes += 60
      return true
    },
  ),
  { pattern: /^(\d{1,4})(?!\d)/, read: setNumber },
  // A sign without a number after it is skipped.
  { pattern: /^[-+](?!\s*\d)/, read: () => true },
]

/**
 * The time of the words, or null if they are invalid. `zoneOffset` returns the offset from UTC of a time without a
 * zone; `TZ="name"` at the start selects another zone.
 */
export function timeOf(text: string, now: Instant, zoneOffset: ZoneOffset): Instant | null {
  const zoned = /^\s*TZ="((?:[^"\\]|\\.)*)"\s*([\s\S]*)$/.exec(text)
  if (!zoned) return timeIn(text, now, zoneOffset)
  const zone = zoneOf((zoned[1] ?? '').replace(/\\(.)/g, '$1'))
  return timeIn(zoned[2] ?? '', now, (ms) => zone.offsetAt(ms))
}

type ZoneOffset = (utcMs: number) => number

function timeIn(text: string, now: Instant, zoneOffset: ZoneOffset): Instant | null {
  const epoch = /^\s*@\s*([-+]?)(\d+)(?:[.,](\d+))?\s*$/.exec(text)
  if (epoch) return epochOf(epoch)
  const local = new Date(now.ms + zoneOffset(now.ms) * 60_000)
  const reading: Reading = {
    ...{ date: null, clock: null, offsetMinutes: null, weekday: null, takesOffset: false, steps: [] },
    isImpossible: false,
  }
  let rest = withoutComments(text).trim()
  if (rest === '') setClock(reading, ['0', '0'])
  while (rest !== '') {
    const next = readOne(rest, reading)
    if (next === null) return null
    rest = next.trim()
  }
  if (reading.isImpossible) return null
  return placed(reading, local, { now, zoneOffset })
}

/** Seconds since 1970, which cannot be combined with anything. */
function epochOf([, sign, seconds = '', fraction = '']: Groups): Instant {
  const part = Number(fraction.padEnd(9, '0').slice(0, 9))
  // For a negative number, further digits round down.
  const isMore = sign === '-' && /[1-9]/.test(fraction.slice(9))
  const nanoseconds = part + (isMore ? 1 : 0)
  const isBelow = sign === '-' && nanoseconds > 0
  const whole = (sign === '-' ? -1 : 1) * Number(seconds) - (isBelow ? 1 : 0)
  return { ms: whole * 1000, nanoseconds: isBelow ? 1e9 - nanoseconds : nanoseconds }
}

/** Parentheses may be nested; an unclosed one extends to the end. */
function withoutComments(text: string): string {
  let [depth, kept] = [0, '']
  for (const char of text) {
    if (char === '(') depth++
    if (depth === 0) kept += char
    if (char === ')' && depth > 0) depth--
  }
  return kept
}

function readOne(rest: string, reading: Reading): string | null {
  for (const { pattern, read } of RULES) {
    const match = pattern.exec(rest)
    if (match && read(reading, match.slice(1))) return rest.slice(match[0].length)
  }
  return null
}

type Groups = readonly (string | undefined)[]

function setDate(reading: Reading, [year, month, day]: Groups): boolean {
  const date = { year: Number(year ?? 0), month: Number(month) - 1, day: Number(day), hasYear: year !== undefined }
  if (reading.date || date.month < 0 || date.month > 11 || date.day < 1 || date.day > 31) return false
  reading.date = date
  return true
}

function setClock(reading: Reading, [hour, minute, second = '0', fraction = '', half]: Groups): boolean {
  const isHalf = half !== undefined
  if (reading.clock || Number(minute) > 59 || Number(second) > 59) return false
  if (Number(hour) > (isHalf ? 12 : 23) || (isHalf && Number(hour) === 0)) return false
  const hours = isHalf ? (Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0) : Number(hour)
  const nanoseconds = Number(fraction.padEnd(9, '0').slice(0, 9))
  reading.clock = { hour: hours, minute: Number(minute), second: Number(second), nanoseconds }
  return true
}

function takeOffset(reading: Reading): boolean {
  reading.takesOffset = true
  return true
}

/** A year if the date has none yet, otherwise a time. */
function setNumber(reading: Reading, [digits = '']: Groups): boolean {
  const { date, clock, steps } = reading
  if (date && !date.hasYear && steps.length === 0 && (clock || digits.length > 2)) {
    reading.date = { ...date, year: Number(fullYear(digits)), hasYear: true }
    return true
  }
  return digits.length > 2
    ? setClock(reading, [digits.slice(0, -2), digits.slice(-2)])
    : setClock(reading, [digits, '0'])
}

function setWeekday(reading: Reading, name: string, ordinal: number): boolean {
  if (reading.weekday) return false
  const day = DAYS.findIndex((one) => one.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase())
  reading.weekday = { day, ordinal }
  return true
}

const MOST_ZONE_HOURS = 24

/** After a time, a signed number is a zone, whatever follows it. */
function setOffset(reading: Reading, [signed = '', minutes = '0']: Groups): boolean {
  if (reading.offsetMinutes !== null || !reading.takesOffset) return false
  const hours = signed.replace(/\s+/g, '')
  if (Math.abs(Number(hours)) > MOST_ZONE_HOURS) reading.isImpossible = true
  reading.offsetMinutes = Number(hours) * 60 + (hours.startsWith('-') ? -1 : 1) * Number(minutes)
  return true
}

function step(reading: Reading, count: number, unit: string): boolean {
  const known = UNITS[unit.toLowerCase()]
  if (!known) return false
  reading.steps.push({ unit: known.unit, count: count * known.count, canTurn: true })
  return true
}

const monthOf = (name = ''): string =>
  String(MONTHS.findIndex((month) => month.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase()) + 1)

function fullYear(text = ''): string {
  return text.length !== 2 ? text : String(Number(text) + (Number(text) < 69 ? 2000 : 1900))
}

type Reference = { now: Instant; zoneOffset: ZoneOffset }

function placed(reading: Reading, local: Date, { now, zoneOffset }: Reference): Instant | null {
  const { date, clock, weekday, offsetMinutes } = reading
  const year = date?.hasYear === false ? local.getUTCFullYear() : (date?.year ?? 0)
  if (date && date.day > lastDayOf(year, date.month)) return null
  const day = date
    ? { ...date, year }
    : { year: local.getUTCFullYear(), month: local.getUTCMonth(), day: local.getUTCDate() }
  // A day alone starts at midnight; relative steps alone start at the current time.
  const isWholeDay = clock === null && (date !== null || weekday !== null || reading.steps.length === 0)
  const hour = clock?.hour ?? (isWholeDay ? 0 : local.getUTCHours())
  const minute = clock?.minute ?? (isWholeDay ? 0 : local.getUTCMinutes())
  const second = clock?.second ?? (isWholeDay ? 0 : local.getUTCSeconds())
  const sum = (unit: string) => reading.steps.reduce((total, one) => total + (one.unit === unit ? one.count : 0), 0)
  const at = new Date(Date.UTC(day.year, day.month + sum('month'), day.day + sum('day'), hour, minute, second))
  if (day.year < 100) at.setUTCFullYear(day.year)
  const ahead = weekday && date === null ? daysTo(weekday, at.getUTCDay()) : 0
  const localMs = at.getTime() + ahead * DAY_MS
  const utcMs = offsetMinutes === null ? utcOf(localMs, zoneOffset) : localMs - offsetMinutes * 60_000
  if (utcMs === null) return null
  const ms = utcMs + sum('second') * 1000
  const isNow = clock === null && !isWholeDay
  return { ms: isNow ? ms + (now.ms % 1000) : ms, nanoseconds: clock?.nanoseconds ?? (isNow ? now.nanoseconds : 0) }
}

function lastDayOf(year: number, month: number): number {
  const day = new Date(Date.UTC(2000, month + 1, 0))
  day.setUTCFullYear(year, month + 1, 0)
  return day.getUTCDate()
}

const DAY_MS = 86_400_000

/** Today counts as the weekday itself, unless the next or last one is requested. */
function daysTo({ day, ordinal }: NonNullable<Reading['weekday']>, today: number): number {
  const ahead = (day - today + 7) % 7
  if (ordinal < 0) return ahead - 7
  return ordinal > 0 && ahead > 0 ? ahead + (ordinal - 1) * 7 : ahead + ordinal * 7
}
