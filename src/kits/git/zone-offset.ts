// The offset of a time zone from UTC, in the form of commits: `+0130`.

import { type Zone, zoneOf, zoneText } from '../../lib/clock.ts'

/** The time zone in `TZ`. */
export function zoneIn(env: Readonly<Record<string, string>>): Zone {
  return zoneOf(env.TZ ?? '')
}

/** The offset of the zone at that time, in the form of commits. */
export function offsetText(zone: Zone, ms: number): string {
  return zoneText(zone.offsetAt(ms), 0)
}

export function offsetMs(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}
