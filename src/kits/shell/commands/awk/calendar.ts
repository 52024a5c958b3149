// `strftime` and `mktime`, in UTC: the machine has no other zone.

import { AwkError } from './syntax.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DAY_MS = 86_400_000

const two = (value: number, fill = '0'): string => String(value).padStart(2, fill)

export function strftime(format: string, seconds: number): string {
  const date = new Date(Math.floor(seconds) * 1000)
  if (Number.isNaN(date.getTime())) throw new AwkError('run time error: strftime has no such time')
  return format.replace(/%[EO]?([a-zA-Z%])/g, (all, letter: string) => part(letter, date) ?? all)
}

const JOINED: Readonly<Record<string, string>> = {
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  R: '%H:%M',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  c: '%a %b %e %H:%M:%S %Y',
  r: '%I:%M:%S %p',
  x: '%m/%d/%y',
}

const PARTS: Readonly<Record<string, (date: Date) => string>> = {
  A: (date) => DAYS[date.getUTCDay()] ?? '',
  B: (date) => MONTHS[date.getUTCMonth()] ?? '',
  C: (date) => two(Math.floor(date.getUTCFullYear() / 100)),
  G: (date) => String(weekOf(date).year),
  H: (date) => two(date.getUTCHours()),
  I: (date) => two(date.getUTCHours() % 12 || 12),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  U: (date) => two(Math.floor((dayOfYear(date) + 7 - date.getUTCDay()) / 7)),
  V: (date) => two(weekOf(date).week),
  W: (date) => two(Math.floor((dayOfYear(date) + 7 - ((date.getUTCDay() + 6) % 7)) / 7)),
  Y: (date) => String(date.getUTCFullYear()),
  Z: () => 'UTC',
  a: (date) => (DAYS[date.getUTCDay()] ?? '').slice(0, 3),
  b: (date) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  d: (date) => two(date.getUTCDate()),
  e: (date) => two(date.getUTCDate(), ' '),
  h: (date) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  j: (date) => String(dayOfYear(date) + 1).padStart(3, '0'),
  k: (date) => two(date.getUTCHours(), ' '),
  l: (date) => two(date.getUTCHours() % 12 || 12, ' '),
  m: (date) => two(date.getUTCMonth() + 1),
  n: () => '\n',
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  s: (date) => String(date.getTime() / 1000),
  t: () => '\t',
  u: (date) => String(date.getUTCDay() || 7),
  w: (date) => String(date.getUTCDay()),
  y: (date) => two(date.getUTCFullYear() % 100),
  z: () => '+0000',
  '%': () => '%',
}

function part(letter: string, date: Date): string | undefined {
  const joined = JOINED[letter]
  return joined === undefined ? PARTS[letter]?.(date) : strftime(joined, date.getTime() / 1000)
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS)
}

/** Of ISO 8601: the week belongs to the year of its Thursday. */
function weekOf(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY_MS)
  return { year: thursday.getUTCFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 }
}

/** Of `YYYY MM DD HH MM SS`; -1 for anything else. */
export function mktime(text: string): number {
  const numbers = text.trim().split(/\s+/).map(Number)
  if (numbers.length < 6 || numbers.some((number) => !Number.isInteger(number))) return -1
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = numbers
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000
}
