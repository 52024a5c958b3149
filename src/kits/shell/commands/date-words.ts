// Times in words, as `date -d` and `touch -d` understand them: dates, clocks, zones, weekdays, and steps from there.

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
  utc: 0,
  gmt: 0,
  ut: 0,
  z: 0,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
  cet: 60,
  cest: 120,
  bst: 60,
  jst: 540,
}
const MONTH = MONTHS.map((name) => `${name}|${name.slice(0, 3)}`).join('|')
const DAY = `${DAYS.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|tues|wednes|thur|thurs`

/** What has been read so far. */
interface Reading {
  date: { year: number; month: number; day: number } | null
  clock: { hour: number; minute: number; second: number; nanoseconds: number } | null
  offsetMinutes: number | null
  weekday: { day: number; ordinal: number } | null
  epoch: Instant | null
  steps: { unit: 'month' | 'day' | 'second'; count: number }[]
  nowYear: number
  /** A zone further from UTC than there is any. */
  isImpossible: boolean
}

type Rule = { pattern: RegExp; read: (reading: Reading, groups: string[]) => boolean }

const rule = (source: string, read: Rule['read']): Rule => ({
  pattern: new RegExp(`^(?:${source})(?![a-z0-9])`, 'i'),
  read,
})

const RULES: readonly Rule[] = [
  rule('@(-?\\d+)(?:[.,](\\d+))?', (reading, [seconds = '', fraction = '']) => {
    if (reading.epoch) return false
    reading.epoch = { ms: Number(seconds) * 1000, nanoseconds: Number(fraction.padEnd(9, '0').slice(0, 9)) }
    return true
  }),
  {
    pattern: /^(\d{4})-(\d{1,2})-(\d{1,2})(?=$|[\sT+])T?(?=$|\s|\d|[+])/i,
    read: (reading, [year, month, day]) => setDate(reading, [year, month, day]),
  },
  rule('(\\d{4})(\\d\\d)(\\d\\d)', (reading, parts) => reading.date === null && setDate(reading, parts)),
  rule('(\\d{1,2})/(\\d{1,2})/(\\d{4}|\\d\\d)', (reading, [month, day, year]) =>
    setDate(reading, [fullYear(year), month, day]),
  ),
  rule('(\\d{4})/(\\d{1,2})/(\\d{1,2})', (reading, parts) => setDate(reading, parts)),
  rule('(\\d{1,2})/(\\d{1,2})', (reading, [month, day]) => setDate(reading, [String(reading.nowYear), month, day])),
  rule(`(\\d{1,2})(?:-|\\s*)(${MONTH})\\.?(?:,?(?:-|\\s*)(\\d{4}))?`, (reading, [day, month, year]) =>
    setDate(reading, [year ?? String(reading.nowYear), monthOf(month), day]),
  ),
  rule(`(${MONTH})\\.?(?:-|\\s+)(\\d{1,2})(?:,? +(\\d{4})(?!:)|,)?`, (reading, [month, day, year]) =>
    setDate(reading, [year ?? String(reading.nowYear), monthOf(month), day]),
  ),
  {
    pattern: /^T?(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:\s*([ap])\.?m\.?(?![a-z]))?/i,
    read: setClock,
  },
  rule('(\\d{1,2})\\s*([ap])\\.?m\\.?', (reading, [hour, half]) =>
    setClock(reading, [hour, '0', undefined, undefined, half]),
  ),
  { pattern: /^([+-]\s*\d{1,2}(?!\d)|[+-]\d\d(?=\d\d)):?(\d\d)?(?![\d:])/, read: setOffset },
  rule('(\\d{4})', setFour),
  rule('now', () => true),
  rule('today', () => true),
  rule('tomorrow', (reading) => step(reading, 1, 'day')),
  rule('yesterday', (reading) => step(reading, -1, 'day')),
  rule('ago', (reading) => {
    if (reading.steps.length === 0) return false
    reading.steps = reading.steps.map(({ unit, count }) => ({ unit, count: -count }))
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
    if (reading.weekday) return false
    const index = DAYS.findIndex((name) => name.slice(0, 3).toLowerCase() === day.slice(0, 3).toLowerCase())
    reading.weekday = { day: index, ordinal: ordinal === undefined ? 0 : (ORDINALS[ordinal.toLowerCase()] ?? 0) }
    return true
  }),
  rule(`(${Object.keys(ZONES).join('|')})`, (reading, [zone = '']) => {
    if (reading.offsetMinutes !== null) return false
    reading.offsetMinutes = ZONES[zone.toLowerCase()] ?? 0
    return true
  }),
  { pattern: /^,/, read: () => true },
]

/** The time that the words mean, or null when they mean none. `zoneOffset` tells how far a time without a zone is from UTC; `TZ="name"` in front names another zone. */
export function timeOf(text: string, now: Instant, zoneOffset: ZoneOffset): Instant | null {
  const zoned = /^\s*TZ="((?:[^"\\]|\\.)*)"\s*([\s\S]*)$/.exec(text)
  if (!zoned) return timeIn(text, now, zoneOffset)
  const zone = zoneOf((zoned[1] ?? '').replace(/\\(.)/g, '$1'))
  return timeIn(zoned[2] ?? '', now, (ms) => zone.offsetAt(ms))
}

type ZoneOffset = (utcMs: number) => number

function timeIn(text: string, now: Instant, zoneOffset: ZoneOffset): Instant | null {
  const local = new Date(now.ms + zoneOffset(now.ms) * 60_000)
  const reading: Reading = {
    ...{ date: null, clock: null, offsetMinutes: null, weekday: null, epoch: null, steps: [] },
    isImpossible: false,
    nowYear: local.getUTCFullYear(),
  }
  let rest = text.replace(/\([^)]*\)/g, ' ').trim()
  if (rest === '') setClock(reading, ['0', '0'])
  while (rest !== '') {
    const next = readOne(rest, reading)
    if (next === null) return null
    rest = next.trim()
  }
  if (reading.isImpossible) return null
  if (reading.epoch) return moved(reading.epoch, reading)
  return placed(reading, local, { now, zoneOffset })
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
  const date = { year: Number(year), month: Number(month) - 1, day: Number(day) }
  const last = new Date(Date.UTC(date.year, date.month + 1, 0)).getUTCDate()
  if (reading.date || date.month < 0 || date.month > 11 || date.day < 1 || date.day > last) return false
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

/** Four digits: a year behind a whole date and time, a time everywhere else. */
function setFour(reading: Reading, [digits = '']: Groups): boolean {
  if (reading.date && reading.clock) {
    reading.date.year = Number(digits)
    return true
  }
  return setClock(reading, [digits.slice(0, 2), digits.slice(2)])
}

const MOST_ZONE_HOURS = 24

/** Behind a time a signed number is a zone, whatever comes after it. */
function setOffset(reading: Reading, [signed = '', minutes = '0']: Groups): boolean {
  if (reading.offsetMinutes !== null || reading.clock === null) return false
  const hours = signed.replace(/\s+/g, '')
  if (Math.abs(Number(hours)) > MOST_ZONE_HOURS) reading.isImpossible = true
  reading.offsetMinutes = Number(hours) * 60 + (hours.startsWith('-') ? -1 : 1) * Number(minutes)
  return true
}

function step(reading: Reading, count: number, unit: string): boolean {
  const known = UNITS[unit.toLowerCase()]
  if (!known) return false
  reading.steps.push({ unit: known.unit, count: count * known.count })
  return true
}

const monthOf = (name = ''): string =>
  String(MONTHS.findIndex((month) => month.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase()) + 1)

function fullYear(text = ''): string {
  return text.length === 4 ? text : String(Number(text) + (Number(text) < 69 ? 2000 : 1900))
}

type Reference = { now: Instant; zoneOffset: ZoneOffset }

function placed(reading: Reading, local: Date, { now, zoneOffset }: Reference): Instant | null {
  const { date, clock, weekday, offsetMinutes } = reading
  const day = date ?? { year: local.getUTCFullYear(), month: local.getUTCMonth(), day: local.getUTCDate() }
  // A day alone begins at midnight; steps alone go from this very moment.
  const isWholeDay = clock === null && (date !== null || weekday !== null)
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

const DAY_MS = 86_400_000

/** Today counts for the day itself, unless the next or last one is asked for. */
function daysTo({ day, ordinal }: NonNullable<Reading['weekday']>, today: number): number {
  const ahead = (day - today + 7) % 7
  if (ordinal < 0) return ahead - 7
  return ordinal > 0 && ahead > 0 ? ahead + (ordinal - 1) * 7 : ahead + ordinal * 7
}

function moved({ ms, nanoseconds }: Instant, { steps }: Reading): Instant {
  const at = new Date(ms)
  for (const { unit, count } of steps) {
    if (unit === 'month') at.setUTCMonth(at.getUTCMonth() + count)
    else if (unit === 'day') at.setUTCDate(at.getUTCDate() + count)
    else at.setTime(at.getTime() + count * 1000)
  }
  return { ms: at.getTime(), nanoseconds }
}
