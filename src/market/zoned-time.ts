// Wall clocks of other zones, by the runtime's own zone tables, daylight saving included.

export type WallClock = {
  /** `YYYY-MM-DD` in the zone. */
  date: string
  secondOfDay: number
  /** Minutes east of UTC at that instant. */
  offsetMinutes: number
}

const DAY_MS = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    const numeric = '2-digit'
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    formats.set(zone, format)
  }
  return format
}

export function wallClock(epochMs: number, zone: string): WallClock {
  const parts: Record<string, string> = {}
  for (const { type, value } of formatOf(zone).formatToParts(epochMs)) parts[type] = value
  const secondOfDay = Number(parts.hour) * 3600 + Number(parts.minute) * 60 + Number(parts.second)
  const date = `${parts.year}-${parts.month}-${parts.day}`
  const asUtcMs = dateMs(date) + secondOfDay * 1000
  return { date, secondOfDay, offsetMinutes: Math.round((asUtcMs - epochMs) / 60_000) }
}

/** The instant at which the zone's clock shows this; in the hour that a clock skips or repeats, one close to it. */
export function instantAt(date: string, secondOfDay: number, zone: string): number {
  const asUtcMs = dateMs(date) + secondOfDay * 1000
  const guess = asUtcMs - wallClock(asUtcMs, zone).offsetMinutes * 60_000
  return asUtcMs - wallClock(guess, zone).offsetMinutes * 60_000
}

/** ISO 8601 with the zone's offset, to the second. */
export function isoWithOffset(epochMs: number, zone: string): string {
  const { offsetMinutes } = wallClock(epochMs, zone)
  const local = new Date(epochMs + offsetMinutes * 60_000).toISOString().slice(0, 19)
  const size = Math.abs(offsetMinutes)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${local}${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** The calendar date so many days later (earlier when negative). */
export function addDays(date: string, days: number): string {
  return new Date(dateMs(date) + days * DAY_MS).toISOString().slice(0, 10)
}

export function isWeekend(date: string): boolean {
  const weekday = new Date(dateMs(date)).getUTCDay()
  return weekday === 0 || weekday === 6
}

/** Whether the text is a date that exists, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(dateMs(text)) && addDays(text, 0) === text
}

function dateMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`)
}
