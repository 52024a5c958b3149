// How an entry of a list would be interpreted, before anything is done with it: what the user is shown and asked.

import { fold, type Listing, type NameIndex } from '../kits/market-names/index.ts'
import { parseCode } from './instruments.ts'
import { pastedParts, plainText, withoutCompanyForm } from './pasted.ts'
import {
  confirmed,
  fromListing,
  likely,
  notFound,
  onlyOne,
  type Rejected,
  type Resolution,
  type Resolved,
  reject,
  resolveInput,
} from './resolve.ts'

/** `code`: the input is the code. `reading`: it means this one. `candidates`: it may mean these. `unknown`: nothing matches. */
export const READING_KINDS = ['code', 'reading', 'candidates', 'unknown'] as const
export type ReadingKind = (typeof READING_KINDS)[number]

export type Reading = {
  /** The user's input. */
  input: string
  kind: ReadingKind
  resolved: Resolved | null
  rejected: Rejected | null
  /** For an unclear entry, and for letters that are only assumed to be a ticker: other possible meanings. */
  candidates: readonly Listing[]
}

/** The reading of an entry; null for a blank one. */
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

/** The reading that the user confirmed without a choice: the first candidate of an unclear entry. */
export function takeFirst(reading: Reading): Reading {
  const { input, rejected } = reading
  const taken = rejected === null ? null : confirmed(rejected)
  return taken?.ok ? { input, kind: 'reading', resolved: taken, rejected: null, candidates: [] } : reading
}

function isItsCode(input: string, { instrument, readFrom }: Resolved): boolean {
  const parsed = parseCode(input)
  return readFrom === null && parsed.ok && parsed.instrument.key === instrument.key
}

// Converts pasted text to a listing: like `resolveInput`, and also accepts marks, full-width characters, names in any
// script, and codes with their names. A name that contradicts its code is never ignored.

const LONGEST_ENTRY = 100

/** The listing that the text means, the reason why there is none, or null for a blank text. */
export function resolvePasted(input: string, names: NameIndex): Resolution | null {
  if (input.length > LONGEST_ENTRY) return resolveInput(input, names)
  const { code, name } = pastedParts(input)
  // `Russell 2000` is a name as a whole.
  const whole = code !== null && name !== null ? onlyOne(names.named(plainText(input))) : undefined
  if (whole !== undefined) return fromListing(whole)
  const resolution =
    code !== null && name !== null
      ? resolveBoth(input, { code, name }, names)
      : resolveOne(input, code ?? name ?? '', names)
  return resolution === null || resolution.ok ? resolution : { ...resolution, input }
}

function resolveOne(input: string, text: string, names: NameIndex): Resolution | null {
  const strict = resolveInput(text, names)
  if (strict === null || strict.ok) return strict
  const named = onlyOne(called(text, names))
  if (named !== undefined) return fromListing(named)
  // Names in other scripts contain characters that the interface for programs does not accept.
  const isName = strict.reason === 'character' && !/[\p{Cc}\p{Cf}]/u.test(text)
  return isName ? notFound({ input, text }, names) : strict
}

/** A code with a name, for instance from one table row. An unknown name does not contradict the code. */
export function resolveBoth(
  input: string,
  { code, name }: { code: string; name: string },
  names: NameIndex,
): Resolution | null {
  const byCode = resolveInput(code, names)
  const byName = called(name, names)
  if (byCode === null) return resolveOne(input, name, names)
  if (byCode.ok) {
    const { listing } = byCode
    if (byName.length === 0 || (listing !== null && isCalled(listing, { name, byName }))) return byCode
    return contradiction({ input, code, name }, [...(listing === null ? [] : [listing]), ...byName])
  }
  // Four digits are a code of several exchanges: the name decides.
  const meant = byCode.candidates.filter((listing) => isCalled(listing, { name, byName }))
  const only = onlyOne(meant) ?? onlyOne(byName)
  return only === undefined ? byCode : fromListing(only)
}

function contradiction(
  { input, code, name }: { input: string; code: string; name: string },
  candidates: Listing[],
): Resolution {
  return reject(input, 'ambiguous', { kind: 'other_name', name, code, meant: candidates }, candidates)
}

/** Listings with exactly this name, with or without the legal form. */
function called(name: string, names: NameIndex): Listing[] {
  const exactly = names.named(name)
  const bare = exactly.length === 0 ? withoutCompanyForm(name) : null
  const found = bare === null ? exactly : names.named(bare)
  return found.length === 0 ? names.spelled(name) : found
}

/** Whether the name next to a code is that of its listing. */
export const isNameOf = (listing: Listing, name: string, names: NameIndex): boolean =>
  isCalled(listing, { name, byName: called(name, names) })

/** Whether the listing, or another listing of the same company, has the name. */
function isCalled(
  { key, zh, en, aliases, leading }: Listing,
  { name, byName }: { name: string; byName: readonly Listing[] },
): boolean {
  const typed = fold(withoutCompanyForm(name) ?? name)
  // With a code, the beginning of its name is enough, because nothing is looked up by it.
  const isOwn = (own: string): boolean => own === typed || (typed.length > 1 && own.startsWith(typed))
  if ([zh, en, ...aliases].some((own) => isOwn(fold(own)))) return true
  return byName.some((other) => other.key === key || other.key === leading || other.leading === key)
}
