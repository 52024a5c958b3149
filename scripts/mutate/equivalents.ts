// Mutants that were looked at and cannot change behaviour. They are known by their content, so that they are still known when
// the code moves, and are looked at anew when it changes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutation } from './mutations.ts'
import { hashOf } from './reach.ts'

type Equivalent = { hash: string; where: string; change: string; reason: string }

const FILE = join(import.meta.dirname, 'equivalents.json')

export function contentHash({ around, start, original, replacement }: Mutation): string {
  return hashOf(JSON.stringify([around.text, start - around.start, original, replacement]))
}

/** The reasons by hash. */
export function knownEquivalents(): Map<string, string> {
  const known = JSON.parse(readFileSync(FILE, 'utf8')) as Equivalent[]
  return new Map(known.map(({ hash, reason }) => [hash, reason]))
}
