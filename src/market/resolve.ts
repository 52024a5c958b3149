// What a person typed, made into a listing. The order matters: a code is a code even if a name looks
// like it, but five letters or fewer may be a US ticker or somebody's pinyin initials, and then the
// known ticker wins, an exact name comes next, and an unknown ticker is what remains.

import { displayCode, type Instrument, parseCode } from './instruments.ts'
import type { Listing } from './names/listing.ts'
import type { NameIndex } from './names/name-index.ts'
import { isKnownUsTicker } from './names/us-tickers.ts'

export type Resolved = {
  ok: true
  instrument: Instrument
  /** The spelling to keep: what was typed, upper-cased; the display form where it was a name or four digits. */
  stockCode: string
  /** The listing's names, null when only its code is known. */
  listing: Listing | null
}

export type Rejected = {
  ok: false
  reason: 'character' | 'letters_with_digits' | 'wrong_exchange' | 'ambiguous' | 'unknown' | 'too_long'
  /** The entry as it was given. */
  input: string
  /** A sentence that names the entry. */
  message: string
}

export type Resolution = Resolved | Rejected

const LONGEST_ENTRY = 100
const MOST_CHOICES = 6
const FORBIDDEN = /[^A-Za-z0-9.*\-+\u3400-\u9FFF\s]/u

/** The listing that the entry means, why there is none, or null for a blank entry. */
export function resolveInput(input: string, names: NameIndex): Resolution | null {
  const text = input.trim()
  if (text === '') return null
  if (text.length > LONGEST_ENTRY) {
    return reject(input, 'too_long', `is longer than ${LONGEST_ENTRY} characters`)
  }
  const parsed = parseCode(text)
  if (parsed.ok) return resolveCode(text, parsed.instrument, names)
  const entry = { input, text }
  if (parsed.reason === 'four_digits') return resolveFourDigits(entry, names)
  if (parsed.reason === 'wrong_exchange') {
    const why = `names the exchange ${parsed.exchange}, but that number belongs to ${parsed.belongsTo}`
    return reject(input, 'wrong_exchange', why)
  }
  return resolveText(entry, names)
}

/** All entries at once: the distinct listings in their first spelling, and every entry that means none. */
export function resolveEntries(
  inputs: readonly string[],
  names: NameIndex,
): { targets: Resolved[]; rejected: Rejected[] } {
  const targets = new Map<string, Resolved>()
  const rejected: Rejected[] = []
  for (const input of inputs) {
    const resolution = resolveInput(input, names)
    if (resolution === null) continue
    if (!resolution.ok) rejected.push(resolution)
    else if (!targets.has(resolution.instrument.key)) targets.set(resolution.instrument.key, resolution)
  }
  return { targets: [...targets.values()], rejected }
}

type Entry = { input: string; text: string }

function resolveCode(text: string, instrument: Instrument, names: NameIndex): Resolved {
  const listing = names.byKey(instrument.key)
  if (/^[A-Za-z]{1,5}$/.test(text) && listing === null && !isKnownUsTicker(instrument.key)) {
    const only = onlyOne(names.named(text)) ?? onlyOne(names.spelled(text))
    if (only) return fromListing(only)
  }
  if (/^\d{6}$/.test(text) && listing === null) {
    const elsewhere = onlyOne(known(names, `${text}.KS`, `${text}.KQ`))
    if (elsewhere) return fromListing(elsewhere)
  }
  return { ok: true, instrument, stockCode: text.toUpperCase(), listing }
}

function resolveFourDigits({ input, text }: Entry, names: NameIndex): Resolution {
  const matches = known(names, `HK0${text}`, `${text}.T`, `${text}.TW`, `${text}.TWO`)
  if (matches.length === 0) {
    const choices = `HK0${text} for Hong Kong, ${text}.T for Tokyo, ${text}.TW for Taipei`
    return reject(input, 'unknown', `is no known four-digit code; name the exchange: ${choices}`)
  }
  return oneOf(input, matches)
}

/** The listings of these keys that are traded. */
function known(names: NameIndex, ...keys: string[]): Listing[] {
  return keys.flatMap((key) => names.byKey(key) ?? []).filter(({ active }) => active)
}

function resolveText({ input, text }: Entry, names: NameIndex): Resolution {
  const forbidden = FORBIDDEN.exec(text)?.[0]
  if (forbidden !== undefined)
    return reject(input, 'character', `contains ${describeCharacter(forbidden)}, which is not allowed`)
  if (/[A-Za-z]/.test(text) && /\d/.test(text)) {
    return reject(input, 'letters_with_digits', 'mixes letters and digits and is no known form of a code')
  }
  // Exactly, then as it sounds, then nearly: the first of these that finds anything decides.
  for (const find of [names.named, names.spelled, names.closest]) {
    const matches = find.call(names, text)
    if (matches.length > 0) return oneOf(input, matches)
  }
  return reject(input, 'unknown', 'is neither a stock code nor the name of a known stock')
}

function oneOf(input: string, matches: Listing[]): Resolution {
  const only = onlyOne(matches)
  return only ? fromListing(only) : rejectAmbiguous(input, matches)
}

function onlyOne<T>(some: readonly T[]): T | undefined {
  return some.length === 1 ? some[0] : undefined
}

function fromListing(listing: Listing): Resolved {
  const parsed = parseCode(listing.key)
  if (!parsed.ok) throw new Error(`the listing ${listing.key} is not a code`)
  return { ok: true, instrument: parsed.instrument, stockCode: displayCode(parsed.instrument), listing }
}

function rejectAmbiguous(input: string, matches: readonly Listing[]): Rejected {
  const named = matches.slice(0, MOST_CHOICES).map(({ key, zh, en }) => `${key} (${en || zh})`)
  const rest = matches.length > MOST_CHOICES ? [`${matches.length - MOST_CHOICES} more`] : []
  return reject(input, 'ambiguous', `may be any of ${[...named, ...rest].join(', ')}; give the code`)
}

function reject(input: string, reason: Rejected['reason'], why: string): Rejected {
  // JSON quoting, so that a control character in the entry stays visible and harmless in a log or a page.
  const shown = input.length > 40 ? `${input.slice(0, 40)}…` : input
  return { ok: false, reason, input, message: `${JSON.stringify(shown)} ${why}` }
}

function describeCharacter(character: string): string {
  const codePoint = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `${character} (${codePoint})` : codePoint
}
