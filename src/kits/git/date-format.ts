// Times in a user-defined format: `--date=format:%Y-%m-%d`.

import { fatal } from './failure.ts'
import type { Signature } from './objects.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DAY_MS = 86_400_000

const two = (value: number, fill = '0') => String(value).padStart(2, fill)

/** `local` is the time in the zone, as if it were UTC. */
export function formattedDate(local: Date, format: string, when: Pick<Signature, 'zone' | 'seconds'>): string {
  return format.replace(/%([EO]?)(.)/gs, (whole, mark: string, letter: string) => {
    const part = mark === '' ? PARTS[letter] : undefined
    if (!part) throw fatal(`%${mark}${letter} in a format of dates is not available here`)
    return part(local, when) ?? whole
  })
}

type Part = (local: Date, when: Pick<Signature, 'zone' | 'seconds'>) => string

const dayOfYear = (local: Date) => Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS) + 1
const hour12 = (local: Date) => local.getUTCHours() % 12 || 12
const inFull =
  (format: string): Part =>
  (local, when) =>
    formattedDate(local, format, when)

/** The number of the week and its year. */
function isoWeek(local: Date): { week: number; year: number } {
  const thursday = new Date(local.getTime() + (3 - ((local.getUTCDay() + 6) % 7)) * DAY_MS)
  return { week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1, year: thursday.getUTCFullYear() }
}

const PARTS: Record<string, Part> = {
  a: (local) => (DAYS[local.getUTCDay()] ?? '').slice(0, 3),
  A: (local) => DAYS[local.getUTCDay()] ?? '',
  b: (local) => (MONTHS[local.getUTCMonth()] ?? '').slice(0, 3),
  B: (local) => MONTHS[local.getUTCMonth()] ?? '',
  c: inFull('%a %b %e %H:%M:%S %Y'),
  C: (local) => two(Math.floor(local.getUTCFullYear() / 100)),
  d: (local) => two(local.getUTCDate()),
  D: inFull('%m/%d/%y'),
  e: (local) => two(local.getUTCDate(), ' '),
  F: inFull('%Y-%m-%d'),
  g: (local) => two(isoWeek(local).year % 100),
  G: (local) => String(isoWeek(local).year),
  h: inFull('%b'),
  H: (local) => two(local.getUTCHours()),
  I: (local) => two(hour12(local)),
  j: (local) => String(dayOfYear(local)).padStart(3, '0'),
  k: (local) => two(local.getUTCHours(), ' '),
  l: (local) => two(hour12(local), ' '),
  m: (local) => two(local.getUTCMonth() + 1),
  M: (local) => two(local.getUTCMinutes()),
  n: () => '\n',
  p: (local) => (local.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: (local) => (local.getUTCHours() < 12 ? 'am' : 'pm'),
  r: inFull('%I:%M:%S %p'),
  R: inFull('%H:%M'),
  s: (_local, { seconds }) => String(seconds),
  S: (local) => two(local.getUTCSeconds()),
  t: () => '\t',
  T: inFull('%H:%M:%S'),
  u: (local) => String(local.getUTCDay() || 7),
  U: (local) => two(Math.floor((dayOfYear(local) + 6 - local.getUTCDay()) / 7)),
  V: (local) => two(isoWeek(local).week),
  w: (local) => String(local.getUTCDay()),
  W: (local) => two(Math.floor((dayOfYear(local) + 6 - ((local.getUTCDay() + 6) % 7)) / 7)),
  x: inFull('%m/%d/%y'),
  X: inFull('%H:%M:%S'),
  y: (local) => two(local.getUTCFullYear() % 100),
  Y: (local) => String(local.getUTCFullYear()),
  z: (_local, { zone }) => zone,
  // Git does not know the names of zones, so this is empty.
  Z: () => '',
  '%': () => '%',
}
