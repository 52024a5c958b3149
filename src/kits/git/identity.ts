// Who makes a commit, and when.

import { UTC, utcOf, type Zone, zoneOf, zoneText } from '../../lib/clock.ts'
import { fatal } from './failure.ts'
import type { Signature } from './objects.ts'

/** For somebody who never said who they are. */
export const DEFAULT_IDENTITY = { name: 'bellwether', email: 'bellwether@users.noreply.bellwether.dev' } as const

export interface IdentitySources {
  env: Readonly<Record<string, string>>
  setting: (key: string) => string | null
}

export function signature(role: 'author' | 'committer', { env, setting }: IdentitySources): Signature {
  const prefix = role === 'author' ? 'GIT_AUTHOR' : 'GIT_COMMITTER'
  const pick = (what: 'name' | 'email') =>
    env[`${prefix}_${what.toUpperCase()}`] ||
    setting(`${role}.${what}`) ||
    setting(`user.${what}`) ||
    (what === 'email' ? env.EMAIL : undefined) ||
    DEFAULT_IDENTITY[what]
  const at = env[`${prefix}_DATE`]
  return {
    name: clean(pick('name')),
    email: clean(pick('email')),
    ...(at ? parseDate(at, zoneIn(env)) : now(zoneIn(env))),
  }
}

/** `Name <email>`, as `--author` takes it. */
export function parseIdentity(text: string): { name: string; email: string } {
  const match = /^(.*?)\s*<([^>]*)>\s*$/.exec(text)
  if (!match) throw fatal(`--author '${text}' is not 'Name <email>' and matches no existing author`)
  return { name: clean(match[1] ?? ''), email: clean(match[2] ?? '') }
}

function clean(text: string): string {
  // As git has it: signs that are no part of a name are left out at both ends.
  return text.replace(/[<>\n\0]/g, '').replace(/^[\s.,:;"\\']+|[\s.,:;"\\']+$/g, '')
}

/** The zone of the clock that `TZ` names. */
export function zoneIn(env: Readonly<Record<string, string>>): Zone {
  return zoneOf(env.TZ ?? '')
}

/** The offset of the zone at that time, as commits have it. */
export function offsetText(zone: Zone, ms: number): string {
  return zoneText(zone.offsetAt(ms), 0)
}

export function now(clock: Zone = UTC): { seconds: number; zone: string } {
  return { seconds: Math.floor(Date.now() / 1000), zone: offsetText(clock, Date.now()) }
}

/** `1700000000 +0100`, `@1700000000`, or a date as most programs write it; without a zone it is of the clock. */
export function parseDate(text: string, clock: Zone = UTC): { seconds: number; zone: string } {
  const raw = /^@?(\d{1,12})(?: ([+-]\d{4}))?$/.exec(text.trim())
  if (raw) return { seconds: Number(raw[1]), zone: raw[2] ?? offsetText(clock, Number(raw[1]) * 1000) }
  const written =
    /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/.exec(text.trim())
  const named = written ? written[7] : /(?:GMT|UTC|Z|[+-]\d{4})\s*$/.exec(text)?.[0].trim()
  const shownMs = written ? calendarMs(written) : Date.parse(`${named ? text.slice(0, -named.length) : text} GMT`)
  if (!Number.isFinite(shownMs)) throw fatal(`invalid date format: ${text}`)
  const isOfClock = named === undefined
  const zone = isOfClock ? null : /\d/.test(named) ? named.replace(':', '') : '+0000'
  const at = zone === null ? (utcOf(shownMs, clock.offsetAt) ?? shownMs) : shownMs - offsetMs(zone)
  return { seconds: Math.floor(at / 1000), zone: zone ?? offsetText(clock, at) }
}

function calendarMs([, year, month, day, hour = '0', minute = '0', second = '0']: RegExpExecArray): number {
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
}

export function offsetMs(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}
