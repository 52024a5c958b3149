// How an entry of a list would be read, before anything is done with it: what a person is shown and asked.

import type { Listing, NameIndex } from '../kits/market-names/index.ts'
import { parseCode } from './instruments.ts'
import { confirmed, likely, type Rejected, type Resolution, type Resolved } from './resolve.ts'
import { resolvePasted } from './resolve-pasted.ts'

/** `code`: what was typed is the code. `reading`: it means this one. `candidates`: it may mean these. `unknown`: nobody knows. */
export const READING_KINDS = ['code', 'reading', 'candidates', 'unknown'] as const
export type ReadingKind = (typeof READING_KINDS)[number]

export type Reading = {
  /** What was typed. */
  input: string
  kind: ReadingKind
  resolved: Resolved | null
  rejected: Rejected | null
  /** Of an unclear entry, and of letters that are a ticker only because no list knows them: what else may be meant. */
  candidates: readonly Listing[]
}

/** How the entry is read; null for a blank one. */
export function readEntry(
  input: string,
  names: NameIndex,
  resolve: (input: string, names: NameIndex) => Resolution | null = resolvePasted,
): Reading | null {
  const resolution = resolve(input, names)
  if (resolution === null) return null
  if (!resolution.ok) {
    const { candidates } = resolution
    const kind = candidates.length > 0 ? 'candidates' : 'unknown'
    return { input, kind, resolved: null, rejected: resolution, candidates }
  }
  const kind = isItsCode(input, resolution) ? 'code' : 'reading'
  const candidates = kind === 'code' && resolution.listing === null ? likely(input, names) : []
  return { input, kind, resolved: resolution, rejected: null, candidates }
}

/** The reading that somebody confirmed without another word: an unclear entry as its first candidate. */
export function takeFirst(reading: Reading): Reading {
  const { input, rejected } = reading
  const taken = rejected === null ? null : confirmed(rejected)
  return taken?.ok ? { input, kind: 'reading', resolved: taken, rejected: null, candidates: [] } : reading
}

function isItsCode(input: string, { instrument, readFrom }: Resolved): boolean {
  const parsed = parseCode(input)
  return readFrom === null && parsed.ok && parsed.instrument.key === instrument.key
}
