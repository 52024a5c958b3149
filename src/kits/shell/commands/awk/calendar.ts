// `strftime` and `mktime`, in the time zone of `TZ`.

import { UTC, utcOf, type Zone } from '../../../../lib/clock.ts'
import { strftime as formatted, momentIn } from '../strftime.ts'
import { AwkError } from './syntax.ts'

export function strftime(format: string, seconds: number, zone: Zone = UTC): string {
  const ms = Math.floor(seconds) * 1000
  if (Number.isNaN(new Date(ms).getTime())) throw new AwkError('run time error: strftime has no such time')
  return formatted(format, momentIn(zone, ms), 'library')
}

/** From `YYYY MM DD HH MM SS`; -1 for anything else. */
export function mktime(text: string, zone: Zone): number {
  const numbers = text.trim().split(/\s+/).map(Number)
  if (numbers.length < 6 || numbers.some((number) => !Number.isInteger(number))) return -1
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = numbers
  const shownMs = Date.UTC(year, month - 1, day, hour, minute, second)
  return (utcOf(shownMs, zone.offsetAt) ?? shownMs - zone.offsetAt(shownMs) * 60_000) / 1000
}
