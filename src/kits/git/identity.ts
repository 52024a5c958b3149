// Who makes a commit, and when.

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
  return { name: clean(pick('name')), email: clean(pick('email')), ...(at ? parseDate(at) : now()) }
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

export function now(): { seconds: number; zone: string } {
  return { seconds: Math.floor(Date.now() / 1000), zone: '+0000' }
}

/** `1700000000 +0100`, `@1700000000`, or a date as most programs write it; without a zone it is UTC. */
export function parseDate(text: string): { seconds: number; zone: string } {
  const raw = /^@?(\d{1,12})(?: ([+-]\d{4}))?$/.exec(text.trim())
  if (raw) return { seconds: Number(raw[1]), zone: raw[2] ?? '+0000' }
  const written =
    /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/.exec(text.trim())
  const zone = written?.[7] && written[7] !== 'Z' ? written[7].replace(':', '') : '+0000'
  const at = written
    ? Date.UTC(
        Number(written[1]),
        Number(written[2]) - 1,
        Number(written[3]),
        Number(written[4] ?? 0),
        Number(written[5] ?? 0),
        Number(written[6] ?? 0),
      ) - offsetMs(zone)
    : Date.parse(/[+-]\d{4}|GMT|UTC|Z\s*$/.test(text) ? text : `${text} GMT`)
  if (!Number.isFinite(at)) throw fatal(`invalid date format: ${text}`)
  const named = /([+-]\d{4})\s*$/.exec(text)?.[1]
  return { seconds: Math.floor(at / 1000), zone: written ? zone : (named ?? '+0000') }
}

export function offsetMs(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}
