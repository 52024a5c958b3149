// File times in the output of commands, in the time zone of `TZ`.

import type { Zone } from '../../../lib/clock.ts'
import { momentIn, strftime } from './strftime.ts'

export const DAY_MS = 86_400_000
const HALF_YEAR_MS = (31_556_952 / 2) * 1000

/** Letters of `date` that no C library has. */
const NOT_OF_C = new Set('Nq')

/** `2024-01-10 12:47:00.123000000 +0000` */
export function fullTime(ms: number, zone: Zone): string {
  return strftime('%Y-%m-%d %H:%M:%S.%N %z', momentIn(zone, ms))
}

/** As in long listings: with the time for the last half year, otherwise with the year. */
export function listTime(ms: number, nowMs: number, zone: Zone): string {
  const isRecent = ms <= nowMs && nowMs - ms < HALF_YEAR_MS
  return strftime(isRecent ? '%b %e %H:%M' : '%b %e  %Y', momentIn(zone, ms))
}

/** Null for a letter that is not a field. */
export function timeField(letter: string, ms: number, zone: Zone): string | null {
  if (NOT_OF_C.has(letter)) return null
  const text = strftime(`%${letter}`, momentIn(zone, ms))
  return text === `%${letter}` ? null : text
}

/** A text with `%` fields; unknown fields are unchanged. */
export function formatTime(format: string, ms: number, zone: Zone): string {
  return strftime(format, momentIn(zone, ms))
}
