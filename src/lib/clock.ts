// The time, and time zones by the names that `TZ` accepts.

/** A source of the current time in epoch milliseconds. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/**
 * ISO 8601 in UTC with six decimals and `Z`: the only form of time on the wire; its width is fixed so that text order
 * is time order.
 */
export function isoMicros(epochMs: number): string {
  if (epochMs !== written.at) written = { at: epochMs, text: `${new Date(epochMs).toISOString().slice(0, -1)}000Z` }
  return written.text
}

/** A cache: events that are stored together often have the same millisecond. */
let written = { at: Number.NaN, text: '' }

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** An ISO 8601 date, or date and time, in the form of `isoMicros`; without a zone it is UTC. Null when it is neither. */
export function isoMicrosOf(text: string): string | null {
  const [, date, minutes = '00:00', seconds = '00', fraction = '', zone = 'Z'] = ISO.exec(text.trim()) ?? []
  if (date === undefined) return null
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  const epochMs = Date.parse(`${date}T${minutes}:${seconds}${offset.toUpperCase()}`)
  if (Number.isNaN(epochMs)) return null
  return `${new Date(epochMs).toISOString().slice(0, 19)}.${fraction.padEnd(6, '0').slice(0, 6)}Z`
}

// Time zones, by the names that `TZ` accepts.

/** Zones for which the library has no short names. Other zones without one are shown by their offset. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ 'Asia/Tokyo': 'JST', 'Asia/Seoul': 'KST', 'Asia/Shanghai': 'CST', 'Asia/Hong_Kong': 'HKT' },
  ...{ 'Asia/Taipei': 'CST', 'Asia/Kolkata': 'IST', 'Europe/Moscow': 'MSK' },
  ...{ 'Africa/Johannesburg': 'SAST', 'Africa/Lagos': 'WAT', 'Africa/Nairobi': 'EAT' },
}
/** The locale whose short names are used for a zone: each region has those of its own zones (`BST`, `CEST`, `EET`). */
const SPEAKERS: readonly [names: RegExp, locale: string][] = [
  [/^Europe\/Dublin$/, 'en-IE'],
  [/^(?:Europe|Africa|Atlantic)\//, 'en-GB'],
]

export interface Zone {
  /** Minutes east of UTC. */
  offsetAt: (ms: number) => number
  nameAt: (ms: number) => string
}

export const UTC: Zone = { offsetAt: () => 0, nameAt: () => 'UTC' }

const DAY_MS = 86_400_000

/** An unknown zone is treated as UTC with that name, as in other systems. */
export function zoneOf(name: string): Zone {
  const plain = name.replace(/^:/, '')
  if (plain === '' || plain === 'UTC' || plain === 'UTC0') return UTC
  const fixed = /^<?([A-Za-z]{3,}|[+-]\d+)>?([+-]?\d{1,2})(?::(\d\d))?$/.exec(plain)
  if (fixed) {
    const [, shown = '', hours = '0', minutes = '0'] = fixed
    const offset = -(Number(hours) * 60 + (hours.startsWith('-') ? -1 : 1) * Number(minutes))
    return { offsetAt: () => offset, nameAt: () => shown }
  }
  return (
    ruledZone(plain) ?? namedZone(plain) ?? { offsetAt: () => 0, nameAt: () => /^[A-Za-z]+/.exec(plain)?.[0] ?? 'UTC' }
  )
}

const RULED =
  /^<?([A-Za-z]{3,}|[+-]\d+)>?([+-]?\d{1,2}(?::\d\d)?)<?([A-Za-z]{3,}|[+-]\d+)>?([+-]?\d{1,2}(?::\d\d)?)?,([^,]+),([^,]+)$/
const CHANGE = /^M(\d{1,2})\.([1-5])\.([0-6])(?:\/([+-]?\d{1,3})(?::(\d\d))?)?$/

/** `CET-1CEST,M3.5.0,M10.5.0/3`: standard and summer time, and the days on which they change. */
function ruledZone(text: string): Zone | null {
  const [, winter = '', west = '', summer = '', summerWest, from = '', to = ''] = RULED.exec(text) ?? []
  const [begin, end] = [CHANGE.exec(from), CHANGE.exec(to)]
  if (!begin || !end) return null
  const usual = -minutesOf(west)
  const shifted = summerWest === undefined ? usual + 60 : -minutesOf(summerWest)
  const isSummer = (ms: number) => {
    const year = new Date(ms + usual * 60_000).getUTCFullYear()
    const [first, last] = [changeMs(year, begin) - usual * 60_000, changeMs(year, end) - shifted * 60_000]
    return first < last ? ms >= first && ms < last : ms >= first || ms < last
  }
  return {
    offsetAt: (ms) => (isSummer(ms) ? shifted : usual),
    nameAt: (ms) => (isSummer(ms) ? summer : winter),
  }
}

function minutesOf(text: string): number {
  const [hours = '0', minutes = '0'] = text.split(':')
  return Number(hours) * 60 + (hours.startsWith('-') ? -1 : 1) * Number(minutes)
}

/** The n-th such weekday of a month (5 means the last one), in the local time before the change. */
function changeMs(
  year: number,
  [, month = '', week = '', day = '', hour = '2', minute = '0']: RegExpExecArray,
): number {
  const first = new Date(Date.UTC(year, Number(month) - 1, 1)).getUTCDay()
  const days = new Date(Date.UTC(year, Number(month), 0)).getUTCDate()
  let date = 1 + ((Number(day) - first + 7) % 7) + 7 * (Number(week) - 1)
  if (date > days) date -= 7
  return Date.UTC(year, Number(month) - 1, date, Number(hour), Number(minute))
}

function namedZone(name: string): Zone | null {
  const options = { timeZone: name, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' } as const
  let fields: Intl.DateTimeFormat
  let names: Intl.DateTimeFormat
  try {
    fields = new Intl.DateTimeFormat('en-US', { ...options, hour: 'numeric', minute: 'numeric', second: 'numeric' })
    names = new Intl.DateTimeFormat(SPEAKERS.find(([zones]) => zones.test(name))?.[1] ?? 'en-US', {
      timeZone: name,
      timeZoneName: 'short',
    })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
  const offsetAt = (ms: number) => {
    const part = Object.fromEntries(fields.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
    return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000) / 60_000)
  }
  const nameAt = (ms: number) => {
    const short = names.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? name
    if (!/^GMT[+-]/.test(short)) return short
    return NAMES[name] ?? zoneText(offsetAt(ms), 3).replace(':', '')
  }
  return { offsetAt, nameAt }
}

/** When a clock with that offset shows the time; null when it never does, because it was put forward. */
export function utcOf(localMs: number, offsetAt: Zone['offsetAt']): number | null {
  // Of the zone's offsets a day before and a day after, one is right, whatever changes in between.
  for (const around of [localMs - DAY_MS, localMs + DAY_MS]) {
    const utcMs = localMs - offsetAt(around) * 60_000
    if (utcMs + offsetAt(utcMs) * 60_000 === localMs) return utcMs
  }
  return null
}

/** `+0130`; with one colon `+01:30`; with two `+01:30:00`; with three the shortest exact form. */
export function zoneText(offsetMinutes: number, colons: number): string {
  const sign = offsetMinutes < 0 ? '-' : '+'
  const of = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const [hours, minutes] = [of(Math.abs(offsetMinutes) / 60), of(Math.abs(offsetMinutes) % 60)]
  if (colons === 3) return minutes === '00' ? `${sign}${hours}` : `${sign}${hours}:${minutes}`
  return `${sign}${hours}${colons > 0 ? ':' : ''}${minutes}${colons === 2 ? ':00' : ''}`
}
