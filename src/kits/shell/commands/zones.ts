// Time zones, by the names that `TZ` knows.

import { zoneText } from './strftime.ts'

/** What the zones of the library have no short names for. Zones without a name of their own are shown by their offset. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ 'Asia/Tokyo': 'JST', 'Asia/Seoul': 'KST', 'Asia/Shanghai': 'CST', 'Asia/Hong_Kong': 'HKT' },
  ...{ 'Asia/Taipei': 'CST', 'Asia/Kolkata': 'IST' },
}
const CENTRAL_EUROPE: Readonly<Record<number, string>> = { 60: 'CET', 120: 'CEST' }

export type Zone = { offsetAt: (ms: number) => number; nameAt: (ms: number) => string }

/** A zone that is not known is taken for UTC with that name, as everywhere. */
export function zoneOf(name: string): Zone {
  const plain = name.replace(/^:/, '')
  if (plain === '' || plain === 'UTC' || plain === 'UTC0') return { offsetAt: () => 0, nameAt: () => 'UTC' }
  const fixed = /^<?([A-Za-z]{3,}|[+-]\d+)>?([+-]?\d{1,2})(?::(\d\d))?$/.exec(plain)
  if (fixed) {
    const [, shown = '', hours = '0', minutes = '0'] = fixed
    const offset = -(Number(hours) * 60 + (hours.startsWith('-') ? -1 : 1) * Number(minutes))
    return { offsetAt: () => offset, nameAt: () => shown }
  }
  return namedZone(plain) ?? { offsetAt: () => 0, nameAt: () => /^[A-Za-z]+/.exec(plain)?.[0] ?? 'UTC' }
}

function namedZone(name: string): Zone | null {
  const options = { timeZone: name, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' } as const
  let fields: Intl.DateTimeFormat
  let names: Intl.DateTimeFormat
  try {
    fields = new Intl.DateTimeFormat('en-US', { ...options, hour: 'numeric', minute: 'numeric', second: 'numeric' })
    names = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'short' })
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
    const central = name.startsWith('Europe/') ? CENTRAL_EUROPE[offsetAt(ms)] : undefined
    return NAMES[name] ?? central ?? zoneText(offsetAt(ms), 3).replace(':', '')
  }
  return { offsetAt, nameAt }
}
