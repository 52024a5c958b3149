// Built-in functions of times: in UTC, or in the zone that `TZ` names.

import { utcOf, type Zone, zoneOf } from '../../../../lib/clock.ts'
import { DAYS, MONTHS, momentIn, strftime, utcMoment } from '../strftime.ts'
import { JqError } from './operators.ts'
import { isArray, type JqValue } from './value.ts'
import type { ValueFunction } from './value-function.ts'

export const DATE_FUNCTIONS: Readonly<Record<string, ValueFunction>> = {
  'now/0': () => Date.now() / 1000,
  'gmtime/0': (input) => brokenDown(seconds(input, 'gmtime')),
  'localtime/0': (input, _, env) => localParts(seconds(input, 'localtime'), zoneOf(env.TZ ?? '')),
  'mktime/0': (input) => Math.floor(secondsOf(input, 'mktime')),
  'strftime/1': (input, [format = null]) => timeText(input, format, 'strftime/1'),
  'strflocaltime/1': (input, [format = null], env) => localText(input, format, zoneOf(env.TZ ?? '')),
  'strptime/1': parsedTime,
}

function seconds(input: JqValue, name: string): number {
  if (typeof input !== 'number') throw new JqError(`${name}() requires a number`)
  return input
}

function localParts(at: number, zone: Zone): JqValue[] {
  return brokenDown(at + zone.offsetAt(at * 1000) * 60)
}

function brokenDown(seconds: number): JqValue[] {
  const whole = Math.floor(seconds)
  const date = new Date(whole * 1000)
  const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1)
  return [
    ...[date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()],
    ...[date.getUTCSeconds() + (seconds - whole), date.getUTCDay()],
    Math.floor((whole * 1000 - yearStart) / 86_400_000),
  ]
}

function secondsOf(input: JqValue, name: string): number {
  if (!isArray(input)) throw new JqError(`${name} requires array of 6 numbers`)
  if (input.length < 6 || !input.every((part) => typeof part === 'number')) {
    throw new JqError(`${name} requires parsed datetime inputs`)
  }
  const [year = 0, month = 0, day = 1, hour = 0, minute = 0, second = 0] = input.map((part) => Math.floor(Number(part)))
  return Date.UTC(year, month, day, hour, minute, second) / 1000
}

function timeText(input: JqValue, format: JqValue, name: string): string {
  if (typeof input !== 'number' && !isArray(input)) throw new JqError(`${name} requires parsed datetime inputs`)
  if (typeof format !== 'string') throw new JqError(`${name} requires a string format`)
  const seconds = secondsOf(typeof input === 'number' ? brokenDown(input) : input, name)
  return strftime(format, utcMoment(seconds * 1000))
}

/** Broken-down times are taken for those of the zone, numbers for seconds since 1970. */
function localText(input: JqValue, format: JqValue, zone: Zone): string {
  if (typeof input === 'number' && typeof format === 'string') return strftime(format, momentIn(zone, input * 1000))
  if (!isArray(input)) throw new JqError('strflocaltime/1 requires parsed datetime inputs')
  if (typeof format !== 'string') throw new JqError('strflocaltime/1 requires a string format')
  const shownMs = secondsOf(input, 'strflocaltime/1') * 1000
  return strftime(format, momentIn(zone, utcOf(shownMs, zone.offsetAt) ?? shownMs))
}

/** What one directive of a format reads, and what it says about the time. */
type Field = { pattern: string; set: (time: Time, text: string) => void }
type Time = {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  pm: boolean | null
  epoch: number | null
  yearDay: number | null
}

const names = (list: readonly string[]): string => list.flatMap((name) => [name, name.slice(0, 3)]).join('|')
const placeOf = (list: readonly string[], text: string): number =>
  list.findIndex((name) => name.slice(0, 3).toLowerCase() === text.slice(0, 3).toLowerCase())
const MONTH: Field = {
  pattern: names(MONTHS),
  set: (time, text) => Object.assign(time, { month: placeOf(MONTHS, text) }),
}
const DAY: Field = { pattern: names(DAYS), set: () => undefined }
const digits = (most: number, name: keyof Time, less = 0): Field => ({
  pattern: `\\s*[+-]?\\d{1,${most}}`,
  set: (time, text) => Object.assign(time, { [name]: Number(text) - less }),
})

const FIELDS: Readonly<Record<string, Field>> = {
  ...{ Y: digits(4, 'year'), m: digits(2, 'month', 1), d: digits(2, 'day'), e: digits(2, 'day') },
  ...{ H: digits(2, 'hour'), k: digits(2, 'hour'), I: digits(2, 'hour'), l: digits(2, 'hour') },
  ...{ M: digits(2, 'minute'), S: digits(2, 'second'), j: digits(3, 'yearDay', 1), s: digits(12, 'epoch') },
  ...{ b: MONTH, B: MONTH, h: MONTH, a: DAY, A: DAY },
  y: {
    pattern: '\\d{2}',
    set: (time, text) => Object.assign(time, { year: Number(text) + (Number(text) < 69 ? 2000 : 1900) }),
  },
  p: { pattern: '[AaPp][Mm]', set: (time, text) => Object.assign(time, { pm: /^p/i.test(text) }) },
  // A zone is read and passed over, as the C library does it.
  Z: { pattern: '[A-Za-z]+', set: () => undefined },
  z: { pattern: 'Z|[+-]\\d{2}:?(?:\\d{2})?', set: () => undefined },
}
const COMPOSED: Readonly<Record<string, string>> = {
  ...{ T: '%H:%M:%S', R: '%H:%M', D: '%m/%d/%y', F: '%Y-%m-%d', c: '%a %b %e %H:%M:%S %Y' },
}

function parsedTime(input: JqValue, [format = null]: readonly JqValue[]): JqValue {
  if (typeof input !== 'string' || typeof format !== 'string') {
    throw new JqError('strptime/1 requires string inputs and arguments')
  }
  const used: Field[] = []
  const plain = format.replace(/%([TRDFc])/g, (_, letter: string) => COMPOSED[letter] ?? '')
  const pattern = plain.replace(/%(.)|\s+|([^%\s]+)/gs, (_, letter?: string, text?: string) => {
    if (text !== undefined) return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
    if (letter === undefined || letter === 'n' || letter === 't') return '\\s*'
    if (letter === '%') return '%'
    const field = FIELDS[letter]
    if (!field) throw new JqError(`strptime/1: %${letter} is not available here`)
    used.push(field)
    return `(${field.pattern})`
  })
  const match = new RegExp(`^${pattern}$`, 'i').exec(input)
  if (!match) throw new JqError(`date "${input}" does not match format "${format}"`)
  const time: Time = {
    year: 1900,
    month: 0,
    day: 0,
    hour: 0,
    minute: 0,
    second: 0,
    pm: null,
    epoch: null,
    yearDay: null,
  }
  for (const [i, field] of used.entries()) field.set(time, match[i + 1] ?? '')
  return fieldsOf(time)
}

function fieldsOf(time: Time): JqValue[] {
  if (time.epoch !== null) return brokenDown(time.epoch)
  const hour = time.pm === null ? time.hour : (time.hour % 12) + (time.pm ? 12 : 0)
  const date = new Date(Date.UTC(time.year, time.month, time.day || 1))
  const yearDay = time.yearDay ?? Math.floor((date.getTime() - Date.UTC(time.year, 0, 1)) / 86_400_000)
  return [time.year, time.month, time.day, hour, time.minute, time.second, date.getUTCDay(), yearDay]
}
