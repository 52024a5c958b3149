// What a person typed, made into a listing. The order matters: a code is a code even if a name looks
// like it, but five letters or fewer may be a US ticker or somebody's pinyin initials, and then the
// known ticker wins, an exact name comes next, and an unknown ticker is what remains.

import { displayCode, type Instrument, parseCode } from './instruments.ts'
import { isKnownUsTicker, LISTINGS, type Listing } from './names.ts'

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
const FORBIDDEN = /[^A-Za-z0-9.*\-+\u3400-\u9FFF\s]/u

/** The listing that the entry means, why there is none, or null for a blank entry. */
export function resolveInput(input: string): Resolution | null {
  const text = input.trim()
  if (text === '') return null
  if (text.length > LONGEST_ENTRY) {
    return reject(input, 'too_long', `is longer than ${LONGEST_ENTRY} characters`)
  }
  const parsed = parseCode(text)
  if (parsed.ok) return resolveCode(text, parsed.instrument)
  if (parsed.reason === 'four_digits') return resolveFourDigits(input, text)
  if (parsed.reason === 'wrong_exchange') {
    const why = `names the exchange ${parsed.exchange}, but that number belongs to ${parsed.belongsTo}`
    return reject(input, 'wrong_exchange', why)
  }
  return resolveText(input, text)
}

/** All entries at once: the distinct listings in their first spelling, and every entry that means none. */
export function resolveEntries(inputs: readonly string[]): { targets: Resolved[]; rejected: Rejected[] } {
  const targets = new Map<string, Resolved>()
  const rejected: Rejected[] = []
  for (const input of inputs) {
    const resolution = resolveInput(input)
    if (resolution === null) continue
    if (!resolution.ok) rejected.push(resolution)
    else if (!targets.has(resolution.instrument.key)) targets.set(resolution.instrument.key, resolution)
  }
  return { targets: [...targets.values()], rejected }
}

/** Every listing with exactly this name, alias, pinyin or initials, in any case. */
export function resolveName(text: string): Listing[] {
  return nameIndex().get(normalizeName(text)) ?? []
}

export function listingOf(key: string): Listing | null {
  return LISTINGS.find((listing) => listing.key === key) ?? null
}

function resolveCode(text: string, instrument: Instrument): Resolved {
  if (/^[A-Za-z]{1,5}$/.test(text) && instrument.kind === 'stock' && !isKnownUsTicker(instrument.key)) {
    const [only, ...others] = resolveName(text)
    if (only && others.length === 0) return fromListing(only)
  }
  if (/^\d{6}$/.test(text)) {
    const elsewhere = bareNumberElsewhere(instrument)
    if (elsewhere) return fromListing(elsewhere)
  }
  return { ok: true, instrument, stockCode: text.toUpperCase(), listing: listingOf(instrument.key) }
}

/** The one listing in Seoul or Tokyo that has this number, when no mainland listing is known by it. */
function bareNumberElsewhere({ key, code }: Instrument): Listing | null {
  if (listingOf(key)) return null
  const [only, ...others] = LISTINGS.filter((listing) => new RegExp(`^${code}\\.(T|KS|KQ)$`).test(listing.key))
  return only && others.length === 0 ? only : null
}

function resolveFourDigits(input: string, digits: string): Resolution {
  const keys = [`HK0${digits}`, `${digits}.T`, `${digits}.TW`, `${digits}.TWO`]
  const matches = LISTINGS.filter(({ key }) => keys.includes(key))
  const [only, ...others] = matches
  if (!only) {
    const choices = `HK0${digits} for Hong Kong, ${digits}.T for Tokyo, ${digits}.TW for Taipei`
    return reject(input, 'unknown', `is no known four-digit code; name the exchange: ${choices}`)
  }
  return others.length === 0 ? fromListing(only) : rejectAmbiguous(input, matches)
}

function resolveText(input: string, text: string): Resolution {
  const forbidden = FORBIDDEN.exec(text)?.[0]
  if (forbidden !== undefined) return reject(input, 'character', `contains ${describeCharacter(forbidden)}, which is not allowed`)
  if (/[A-Za-z]/.test(text) && /\d/.test(text)) {
    return reject(input, 'letters_with_digits', 'mixes letters and digits and is no known form of a code')
  }
  const matches = resolveName(text)
  const [only, ...others] = matches
  if (!only) return reject(input, 'unknown', 'is neither a stock code nor the name of a known stock')
  return others.length === 0 ? fromListing(only) : rejectAmbiguous(input, matches)
}

function fromListing(listing: Listing): Resolved {
  const parsed = parseCode(listing.key)
  if (!parsed.ok) throw new Error(`the bundled listing ${listing.key} is not a code`)
  return { ok: true, instrument: parsed.instrument, stockCode: displayCode(parsed.instrument), listing }
}

function rejectAmbiguous(input: string, matches: Listing[]): Rejected {
  const choices = matches.map(({ key, en }) => `${key} (${en})`).join(', ')
  return reject(input, 'ambiguous', `may be any of ${choices}; give the code`)
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

let index: Map<string, Listing[]> | null = null

function nameIndex(): Map<string, Listing[]> {
  index ??= buildNameIndex()
  return index
}

function buildNameIndex(): Map<string, Listing[]> {
  const built = new Map<string, Listing[]>()
  for (const listing of LISTINGS) {
    const { zh, en, pinyin, initials, aliases } = listing
    for (const name of new Set([zh, en, pinyin, initials, ...aliases].map(normalizeName))) {
      if (name !== '') built.set(name, [...(built.get(name) ?? []), listing])
    }
  }
  return built
}

const normalizeName = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase()
