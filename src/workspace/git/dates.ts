// Times as git shows them, and the ways in which people give them.

import { fatal } from './failure.ts'
import { offsetMs, parseDate } from './identity.ts'
import type { Signature } from './objects.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

export type DateStyle = string

type When = Pick<Signature, 'seconds' | 'zone'>

export function showDate(when: When, style: DateStyle): string {
  const { seconds, zone } = when
  const local = new Date(seconds * 1000 + offsetMs(zone))
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:${two(local.getUTCSeconds())}`
  const day = `${local.getUTCFullYear()}-${two(local.getUTCMonth() + 1)}-${two(local.getUTCDate())}`
  const [weekday, month] = [DAYS[local.getUTCDay()], MONTHS[local.getUTCMonth()]]
  switch (style) {
    case 'default':
    case 'normal':
    case 'local':
      return `${weekday} ${month} ${local.getUTCDate()} ${time} ${local.getUTCFullYear()} ${zone}`
    case 'iso':
    case 'iso8601':
      return `${day} ${time} ${zone}`
    case 'iso-strict':
    case 'iso8601-strict':
      return `${day}T${time}${zone === '+0000' ? '+00:00' : `${zone.slice(0, 3)}:${zone.slice(3)}`}`
    case 'rfc':
    case 'rfc2822':
      return `${weekday}, ${local.getUTCDate()} ${month} ${local.getUTCFullYear()} ${time} ${zone}`
    case 'short':
      return day
    case 'unix':
      return String(seconds)
    case 'raw':
      return `${seconds} ${zone}`
    case 'relative':
      return relative(seconds)
    default:
      return style.startsWith('format:') ? formatted(local, style.slice(7), when) : refuse(style)
  }
}

function refuse(style: string): never {
  throw fatal(`unknown date format ${style}`)
}

const UNITS: readonly [string, number, number][] = [
  ['second', 1, 90],
  ['minute', 60, 90 * 60],
  ['hour', 3600, 36 * 3600],
  ['day', 86_400, 14 * 86_400],
  ['week', 604_800, 70 * 86_400],
  ['month', 2_629_800, 365 * 86_400],
  ['year', 31_557_600, Number.POSITIVE_INFINITY],
]

function relative(seconds: number): string {
  const age = Math.floor(Date.now() / 1000) - seconds
  if (age < 0) return 'in the future'
  const [unit, length] = UNITS.find(([, , limit]) => age < limit) ?? ['second', 1]
  const count = Math.floor((age + length / 2) / length)
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

function formatted(local: Date, format: string, { zone, seconds }: When): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const parts: Record<string, () => string> = {
    Y: () => String(local.getUTCFullYear()),
    m: () => two(local.getUTCMonth() + 1),
    d: () => two(local.getUTCDate()),
    H: () => two(local.getUTCHours()),
    M: () => two(local.getUTCMinutes()),
    S: () => two(local.getUTCSeconds()),
    y: () => two(local.getUTCFullYear() % 100),
    a: () => DAYS[local.getUTCDay()] ?? '',
    b: () => MONTHS[local.getUTCMonth()] ?? '',
    F: () => local.toISOString().slice(0, 10),
    T: () => local.toISOString().slice(11, 19),
    z: () => zone,
    e: () => String(local.getUTCDate()).padStart(2),
    s: () => String(seconds),
    '%': () => '%',
  }
  return format.replace(/%(.)/g, (whole, letter: string) => parts[letter]?.() ?? whole)
}

/** `2024-01-31`, `2.weeks.ago`, `yesterday`; seconds since the epoch. */
export function parseMoment(text: string): number {
  const seconds = Math.floor(Date.now() / 1000)
  const words = text.trim().replace(/[ ._]+/g, ' ')
  const ago = /^(\d+|an?|one|last) (second|minute|hour|day|week|month|year)s?(?: ago)?$/.exec(words)
  const count = /^\d/.test(ago?.[1] ?? '') ? Number(ago?.[1]) : 1
  if (ago) return seconds - count * (UNITS.find(([unit]) => unit === ago[2])?.[1] ?? 1)
  if (text === 'now') return seconds
  if (text === 'today' || text === 'midnight') return seconds - (seconds % 86_400)
  if (text === 'yesterday') return seconds - 86_400
  return parseDate(text).seconds
}
