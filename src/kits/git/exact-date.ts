// A complete date: day and time, in any of the formats of programs and mails.

import { utcOf, type Zone, zoneText } from '../../lib/clock.ts'
import {
  type DateFields,
  fieldsAt,
  lettersOf,
  monthNamed,
  noFields,
  secondsInUtc,
  setDate,
  setTime,
  takeNumbers,
  UNKNOWN,
  weekdayNamed,
} from './date-fields.ts'
import { offsetMs } from './zone-offset.ts'

/** Hours east of Greenwich. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ IDLW: -12, NT: -11, CAT: -10, HST: -10, HDT: -9, YST: -9, YDT: -8, PST: -8, PDT: -7, MST: -7, MDT: -6 },
  ...{ CST: -6, CDT: -5, EST: -5, EDT: -4, AST: -4, ADT: -3, WAT: -1, GMT: 0, UTC: 0, Z: 0, WET: 0 },
  ...{ BST: 1, MET: 1, MEWT: 1, MEST: 2, CET: 1, CEST: 2, FWT: 1, FST: 2, EET: 2, EEST: 3, WAST: 7, WADT: 8 },
  ...{ CCT: 8, JST: 9, EAST: 10, EADT: 11, GST: 10, NZT: 12, NZST: 12, NZDT: 13, IDLE: 12 },
}

interface Reading {
  fields: DateFields
  /** Minutes; null until a zone is given. */
  offset: number | null
  /** A number of seconds was given, which is UTC whatever zone is given. */
  isCount: boolean
  now: number
}

/** Null for an incomplete date. Without a zone it is in the local time zone. */
export function exactDate(text: string, clock: Zone, now: number): { seconds: number; zone: string } | null {
  const [, count, zone] = /^@(\d+) ([+-]\d{4})(?:\n|$)/.exec(text) ?? []
  if (count !== undefined && zone !== undefined)
    return { seconds: Number(count), zone: zoneText(offsetMs(zone) / 60_000, 0) }
  const reading: Reading = { fields: noFields(), offset: null, isCount: false, now }
  const line = text.split('\n')[0] ?? ''
  for (let at = 0; at < line.length; ) at += Math.max(1, takeOne(reading, line.slice(at)))
  const shown = secondsInUtc(reading.fields)
  if (shown === null) return null
  const offset = reading.offset ?? clock.offsetAt(utcOf(shown * 1000, clock.offsetAt) ?? shown * 1000)
  return { seconds: reading.isCount ? shown : shown - offset * 60, zone: zoneText(offset, 0) }
}

function takeOne(reading: Reading, text: string): number {
  if (/^[A-Za-z]/.test(text)) return takeWord(reading, text)
  if (/^\d/.test(text)) return takeNumber(reading, text)
  return /^[-+]\d/.test(text) ? takeOffset(reading, text) : 1
}

function takeWord(reading: Reading, text: string): number {
  const word = /^[A-Za-z]+/.exec(text)?.[0] ?? ''
  const month = monthNamed(text)
  if (month >= 0) {
    reading.fields.month = month
    return word.length
  }
  if (weekdayNamed(text) >= 0) return word.length
  for (const [name, hours] of Object.entries(ZONES)) {
    const letters = lettersOf(text, name)
    if (letters < 3 && letters !== name.length) continue
    reading.offset ??= hours * 60
    return letters
  }
  if (lettersOf(text, 'PM') === 2) return halfOfDay(reading.fields, 12)
  if (lettersOf(text, 'AM') === 2) return halfOfDay(reading.fields, 0)
  return word.length
}

function halfOfDay(fields: DateFields, from: number): number {
  fields.hour = (fields.hour % 12) + from
  return 2
}

const isBlank = (fields: DateFields) => Object.values(fields).every((value) => value === UNKNOWN)

function takeNumber(reading: Reading, text: string): number {
  const { fields, now } = reading
  const digits = /^\d+/.exec(text)?.[0] ?? ''
  const [value, length] = [Number(digits), digits.length]
  if (value >= 100_000_000 && isBlank(fields) && value < 1e12) {
    Object.assign(fields, fieldsAt(value))
    reading.isCount = true
    return length
  }
  const several = takeNumbers(fields, text, now)
  if (several > 0) return several
  const pairs = [Math.floor(value / 10_000), Math.floor(value / 100) % 100, value % 100]
  if (length === 8) {
    setDate(fields, pairs)
    return length
  }
  if (length === 6)
    return setTime(fields, pairs) ? length + (/^\.\d+/.exec(text.slice(length))?.[0].length ?? 0) : length
  takeLoneNumber(reading, value, length)
  return length
}

/** A year, a zone without its sign, a day or a month, whichever is still unknown. */
function takeLoneNumber(reading: Reading, value: number, length: number): void {
  const { fields } = reading
  if (length === 4) {
    if (value <= 1400 && reading.offset === null) reading.offset = Math.floor(value / 100) * 60 + (value % 100)
    else if (value > 1900 && value < 2100) fields.year = value
    return
  }
  if (length > 2) return
  if (value > 0 && value < 32 && fields.day === UNKNOWN) {
    fields.day = value
    return
  }
  if (length === 2 && fields.year === UNKNOWN) {
    if (value < 10 && fields.day !== UNKNOWN) {
      fields.year = value + 2000
      return
    }
    if (value >= 70) {
      fields.year = value + 1900
      return
    }
  }
  if (value > 0 && value < 13 && fields.month === UNKNOWN) fields.month = value - 1
}

/** `+0100`, `+01:00` or `+01`; other numbers after a sign are skipped. */
function takeOffset(reading: Reading, text: string): number {
  const digits = /^.(\d+)/.exec(text)?.[1] ?? ''
  const minutes = digits.length === 2 ? /^.\d\d:(\d*)/.exec(text)?.[1] : undefined
  const length = 1 + digits.length + (minutes === undefined ? 0 : 1 + minutes.length)
  const isKnown = digits.length === 4 || (digits.length === 2 && (minutes === undefined || minutes.length === 2))
  const written = digits.length === 4 ? digits : digits + (minutes ?? '00')
  if (isKnown && Number(written.slice(2)) < 60 && Number(written.slice(0, 2)) < 24)
    reading.offset = offsetMs(text[0] + written) / 60_000
  return length
}
