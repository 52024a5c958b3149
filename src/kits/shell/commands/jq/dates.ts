// Built-in functions of times: in UTC, or in the time zone of `TZ`.

import { utcOf, type Zone, zoneOf } from '../../../../lib/clock.ts'
import { type Clock, type Moment, momentIn, strftime, utcMoment } from '../strftime.ts'
import { JqError } from './operators.ts'
import { brokenTime, dayOf, readTime } from './strptime.ts'
import { isArray, type JqValue } from './value.ts'
import type { ValueFunction } from './value-function.ts'

export const DATE_FUNCTIONS: Readonly<Record<string, ValueFunction>> = {
  'now/0': () => Date.now() / 1000,
  'gmtime/0': (input) => shown(seconds(input, 'gmtime')),
  'localtime/0': (input, _, env) => {
    const at = seconds(input, 'localtime')
    return shown(at, zoneOf(env.TZ ?? '').offsetAt(at * 1000) * 60)
  },
  'mktime/0': madeTime,
  'strftime/1': (input, [format = null]) => {
    const time = timeOf(typeof input === 'number' ? shown(input) : input, 'strftime/1')
    return written(format, { ...utcMoment(secondsOf(time) * 1000), clock: time }, 'strftime/1')
  },
  'strflocaltime/1': (input, [format = null], env) => localText(input, format, zoneOf(env.TZ ?? '')),
  'strptime/1': parsedTime,
}

/** The range of JavaScript's dates, in seconds. */
const MAX_SECONDS = 8.64e12

function seconds(input: JqValue, name: string): number {
  if (typeof input !== 'number') throw new JqError(`${name}() requires numeric inputs`)
  return input
}

/** Whole seconds are truncated towards 1970, fractions are counted upwards. */
function shown(at: number, offset = 0): JqValue[] {
  if (!(Math.abs(at) <= MAX_SECONDS)) {
    throw new JqError('error converting number of seconds since epoch to datetime')
  }
  const time = brokenTime(Math.trunc(at) + offset)
  return partsOf({ ...time, second: time.second + (at - Math.floor(at)) })
}

const partsOf = ({ year, month, day, hour, minute, second, weekday, yearDay }: Clock): JqValue[] => [
  ...[year, month, day, hour, minute, second, weekday, yearDay],
]

function timeOf(input: JqValue, name: string): Clock {
  const parts = isArray(input) ? input.slice(0, 8) : []
  if (parts.length < 8 || !parts.every((part) => typeof part === 'number')) {
    throw new JqError(`${name} requires parsed datetime inputs`)
  }
  const whole = parts.map((part) => Math.trunc(Number(part)))
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, weekday = 0, yearDay = 0] = whole
  return { year, month, day, hour, minute, second, weekday, yearDay }
}

/** Values that are out of range are carried over. */
function secondsOf({ year, month, day, hour, minute, second }: Clock): number {
  return dayOf(year, month, day) / 1000 + hour * 3600 + minute * 60 + second
}

function madeTime(input: JqValue): number {
  if (!isArray(input)) throw new JqError('mktime requires array inputs')
  const seconds = secondsOf(timeOf(input, 'mktime'))
  if (seconds === -1) throw new JqError('invalid gmtime representation')
  return seconds
}

function written(format: JqValue, moment: Moment, name: string): string {
  if (typeof format !== 'string') throw new JqError(`${name} requires a string format`)
  const text = strftime(format, moment, 'library')
  if (text === '') throw new JqError(`${name}: unknown system failure`)
  return text
}

/** Broken-down times are local times, numbers are seconds since 1970. */
function localText(input: JqValue, format: JqValue, zone: Zone): string {
  const name = 'strflocaltime/1'
  if (typeof input === 'number') {
    shown(input)
    return written(format, momentIn(zone, Math.trunc(input) * 1000), name)
  }
  const time = timeOf(input, name)
  const shownMs = secondsOf(time) * 1000
  return written(format, { ...momentIn(zone, utcOf(shownMs, zone.offsetAt) ?? shownMs), clock: time }, name)
}

function parsedTime(input: JqValue, [format = null]: readonly JqValue[]): JqValue {
  if (typeof input !== 'string' || typeof format !== 'string') {
    throw new JqError('strptime/1 requires string inputs and arguments')
  }
  const read = readTime(input, format)
  if (read === null) throw new JqError(`date "${input}" does not match format "${format}"`)
  const parts = partsOf(read.time)
  return read.rest === '' ? parts : [...parts, read.rest]
}
