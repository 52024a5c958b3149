// Times in git's display formats, and the formats of given times.

import { UTC, type Zone } from '../../lib/clock.ts'
import { approximateDate } from './approximate-date.ts'
import { formattedDate } from './date-format.ts'
import { exactDate } from './exact-date.ts'
import { fatal } from './failure.ts'
import { parseDate } from './identity.ts'
import type { Signature } from './objects.ts'
import { offsetMs, offsetText, zoneIn } from './zone-offset.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** A name as in `--date`, with the local time zone if the name contains `local`. */
export type DateStyle = string | { name: string; clock: Zone }

export function styleIn(name: string, env: Readonly<Record<string, string>>): DateStyle {
  return /(^|-)local(:|$)/.test(name) ? { name, clock: zoneIn(env) } : name
}

type ZonedTime = Pick<Signature, 'seconds' | 'zone'>

export function showDate(when: ZonedTime, shown: DateStyle): string {
  const { name: style, clock } = typeof shown === 'string' ? { name: shown, clock: UTC } : shown
  const { seconds, zone } = when
  // In the default style it omits the zone.
  const named = /^(.+)-local(:.*)?$/s.exec(style.startsWith('format:') ? '' : style)
  const here = { seconds, zone: offsetText(clock, seconds * 1000) }
  if (named) return showDate(here, (named[1] ?? '') + (named[2] ?? ''))
  if (style === 'local') return showDate(here, 'default').replace(/ [+-]\d{4}$/, '')
  const local = new Date(seconds * 1000 + offsetMs(zone))
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:${two(local.getUTCSeconds())}`
  const day = `${local.getUTCFullYear()}-${two(local.getUTCMonth() + 1)}-${two(local.getUTCDate())}`
  const [weekday, month] = [DAYS[local.getUTCDay()], MONTHS[local.getUTCMonth()]]
  switch (style) {
    case 'default':
    case 'normal':
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
    case 'human':
      return human(local, when)
    default:
      return style.startsWith('format:') ? formattedDate(local, style.slice(7), when) : refuse(style)
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
  const age = currentSeconds() - seconds
  if (age < 0) return 'in the future'
  const [unit, length] = UNITS.find(([, , limit]) => age < limit) ?? ['second', 1]
  const count = Math.floor((age + length / 2) / length)
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

/** Shorter for recent times: `2 minutes ago`, `Tue 14:05`, `Nov 14 14:05`, `Nov 14 2023`. */
function human(local: Date, { seconds, zone }: ZonedTime): string {
  const today = new Date()
  const two = (value: number) => String(value).padStart(2, '0')
  const [weekday, month, day] = [DAYS[local.getUTCDay()], MONTHS[local.getUTCMonth()], local.getUTCDate()]
  const time = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}`
  const where = zone === '+0000' ? '' : ` ${zone}`
  if (local.getUTCFullYear() !== today.getUTCFullYear()) return `${month} ${day} ${local.getUTCFullYear()}`
  const daysAgo = local.getUTCMonth() === today.getUTCMonth() ? today.getUTCDate() - day : Number.POSITIVE_INFINITY
  if (daysAgo === 0) return relative(seconds)
  if (daysAgo > 0 && daysAgo < 5) return `${weekday} ${time}${where}`
  return `${weekday} ${month} ${day} ${time}`
}

/** `2024-01-31`, `2.weeks.ago`, `yesterday`; seconds since the epoch. Text without a time means now. */
export function parseMoment(text: string, clock: Zone = UTC): number {
  return momentIn(text, clock) ?? currentSeconds()
}

/** Like `parseMoment`; null for text without a time. */
export function momentIn(text: string, clock: Zone = UTC): number | null {
  const now = currentSeconds()
  return exactDate(text, clock, now)?.seconds ?? approximateDate(text, clock, now)
}

/** For a commit: a complete date, or a relative one that is not near the epoch. */
export function givenDate(text: string, clock: Zone): { seconds: number; zone: string } {
  const exact = exactDate(text, clock, currentSeconds())
  if (exact) return exact
  const seconds = momentIn(text, clock)
  if (seconds === null) throw fatal(`invalid date format: ${text}`)
  return parseDate(`@${seconds}`, clock)
}

const currentSeconds = (): number => Math.floor(Date.now() / 1000)
