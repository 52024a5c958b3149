// The author of a commit, and its time.

import { UTC, type Zone } from '../../lib/clock.ts'
import { exactDate } from './exact-date.ts'
import { fatal } from './failure.ts'
import type { Signature } from './objects.ts'
import { offsetText, zoneIn } from './zone-offset.ts'

/** If the user has no configured identity. */
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

/** `Name <email>`, as in `--author`. */
export function parseIdentity(text: string): { name: string; email: string } {
  const match = /^(.*?)\s*<([^>]*)>\s*$/.exec(text)
  if (!match) throw fatal(`--author '${text}' is not 'Name <email>' and matches no existing author`)
  return { name: clean(match[1] ?? ''), email: clean(match[2] ?? '') }
}

function clean(text: string): string {
  // Like git: characters that cannot be part of a name are removed at both ends.
  return text.replace(/[<>\n\0]/g, '').replace(/^[\s.,:;"\\']+|[\s.,:;"\\']+$/g, '')
}

export function now(clock: Zone = UTC): { seconds: number; zone: string } {
  return { seconds: Math.floor(Date.now() / 1000), zone: offsetText(clock, Date.now()) }
}

/** A complete date; without a zone it is in the local time zone. */
export function parseDate(text: string, clock: Zone = UTC): { seconds: number; zone: string } {
  const date = exactDate(text, clock, now().seconds)
  if (!date) throw fatal(`invalid date format: ${text}`)
  return date
}
