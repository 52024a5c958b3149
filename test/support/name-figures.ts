// Counts how invented names, every name and code of the lists, and names with one typing error are resolved, with a fixed
// seed. The expected results come from the lists, not from the index under test.

import { candidates, joinedPinyin, type Listing, type NameIndex } from '../../src/kits/market-names/index.ts'
import { canonicalCode, instrumentOf, keyOf } from '../../src/market/names/labels.ts'
import { resolvePasted } from '../../src/market/readings.ts'
import { type Resolution, resolveInput } from '../../src/market/resolve.ts'
import { madeUpNames, REAL_BUT_NOT_LISTED } from './made-up-names.ts'
import { codeErrors, nameErrors, namesOf, seeded } from './name-errors.ts'

const CHOICES = 5
const SHORTEST_IN_REACH = 3
/** Prefixes and suffixes that exchanges add to a name temporarily or for a class of shares. */
const MARKS = /^S?\*?ST|[AB]$|-[A-Z]{1,2}$/g
const US_TICKER = /^[A-Za-z]{1,5}(?:[.-][A-Za-z])?$/

const keyIn = (resolution: Resolution | null): string | null =>
  resolution?.ok === true ? resolution.instrument.key : null

/** All names of a listing, pinyin included, with only the case folded. */
function calledIn(listings: readonly Listing[]): Map<string, Set<string>> {
  const called = new Map<string, Set<string>>()
  for (const listing of listings) {
    const bare = namesOf(listing).map((name) => name.replace(MARKS, ''))
    for (const name of [...namesOf(listing), ...bare, joinedPinyin(listing)]) {
      const text = name.toLowerCase()
      called.set(text, (called.get(text) ?? new Set()).add(listing.key))
    }
  }
  return called
}

export type MadeUp = { asked: number; keptAsTicker: number; resolved: string[] }

/** Invented names, and companies that are in no list: none may be resolved to a listing. */
export function askMadeUp(names: NameIndex, { count, seed }: { count: number; seed: number }): MadeUp {
  const known = calledIn(names.all())
  const invented = madeUpNames(seeded(seed), count, (name) => known.has(name.toLowerCase()))
  const outcome: MadeUp = { asked: 0, keptAsTicker: 0, resolved: [] }
  for (const text of [...REAL_BUT_NOT_LISTED, ...invented]) {
    outcome.asked++
    const isTicker = US_TICKER.test(text.trim())
    for (const resolution of [resolveInput(text, names), resolvePasted(text, names)]) {
      const key = keyIn(resolution)
      if (key === null) continue
      // Letters that no list knows stay a ticker, which its source knows or does not know.
      if (isTicker && key === text.trim().toUpperCase().replace('-', '.')) outcome.keptAsTicker++
      else outcome.resolved.push(`${text} → ${key}`)
    }
  }
  return outcome
}

export type NameLookups = {
  codes: number
  names: number
  toItself: number
  toLeading: number
  shared: number
  tickers: string[]
  wrong: string[]
}

/** Every code and every full name of the lists: itself, the listing that leads under a shared name, or refused with both named. */
export function askOwn(names: NameIndex, every = 1): NameLookups {
  const outcome: NameLookups = { codes: 0, names: 0, toItself: 0, toLeading: 0, shared: 0, tickers: [], wrong: [] }
  const all = names.all().filter(({ active }) => active)
  for (const [place, listing] of all.entries()) {
    if (place % every !== 0) continue
    for (const code of new Set([listing.key, canonicalCode(instrumentOf(listing))])) {
      outcome.codes++
      const key = keyIn(resolveInput(code, names))
      if (key === listing.key) outcome.toItself++
      else outcome.wrong.push(`${code} → ${key}`)
    }
    for (const name of namesOf(listing)) {
      outcome.names++
      judgeOwn(listing, { name, resolution: resolvePasted(name, names) }, outcome)
    }
  }
  return outcome
}

function judgeOwn(
  { key, leading }: Listing,
  { name, resolution }: { name: string; resolution: Resolution | null },
  outcome: NameLookups,
): void {
  const found = keyIn(resolution)
  if (found === key) outcome.toItself++
  else if (found !== null && found === leading) outcome.toLeading++
  else if (resolution?.ok === false && resolution.candidates.some((one) => one.key === key)) outcome.shared++
  else if (found !== null && found === name.toUpperCase()) outcome.tickers.push(`${name} (${key})`)
  else if (resolution?.ok === false && resolution.reason === 'ambiguous' && leading !== null) outcome.toLeading++
  else outcome.wrong.push(`${name} (${key}) → ${found ?? (resolution?.ok === false ? resolution.reason : 'blank')}`)
}

export type Errors = {
  asked: number
  /** The error made the listing's own other name of it. */
  toItself: number
  refused: number
  keptAsTicker: number
  /** What was typed is another listing's own name or its pinyin, to the letter: nobody could tell that something else was meant. */
  anothersName: string[]
  wrong: string[]
  inReach: number
  amongFirstFive: number
  missed: string[]
}

export function askWithErrors(names: NameIndex, { count, seed }: { count: number; seed: number }): Errors {
  const random = seeded(seed)
  const called = calledIn(names.all())
  const outcome: Errors = {
    asked: 0,
    toItself: 0,
    refused: 0,
    keptAsTicker: 0,
    anothersName: [],
    wrong: [],
    inReach: 0,
    amongFirstFive: 0,
    missed: [],
  }
  for (const { listing, name, typed, kind } of nameErrors(names.all(), random, count)) {
    outcome.asked++
    const resolution = resolvePasted(typed, names)
    const key = keyIn(resolution)
    if (key === listing.key || (key !== null && key === listing.leading)) outcome.toItself++
    else if (key !== null && US_TICKER.test(typed) && key === typed.toUpperCase()) outcome.keptAsTicker++
    else if (key !== null) {
      const list = called.get(typed.toLowerCase())?.has(key) ? outcome.anothersName : outcome.wrong
      list.push(`${kind}: ${name} → ${typed} → ${key}`)
    } else outcome.refused++
    if (key !== null || typed.length < SHORTEST_IN_REACH) continue
    outcome.inReach++
    const offered = candidates(names, typed, { limit: CHOICES, keyOf }).map((one) => one.key)
    if (offered.includes(listing.key) || offered.includes(listing.leading ?? '')) outcome.amongFirstFive++
    else outcome.missed.push(`${kind}: ${name} → ${typed} (${offered.join(' ')})`)
  }
  return outcome
}

export type CodeErrors = {
  asked: number
  anotherListing: number
  unknownCode: number
  refused: number
  otherwise: string[]
}

/** Codes with one error: a number is a number, so some are another listing's, and that is all they may be. */
export function askCodesWithErrors(names: NameIndex, { count, seed }: { count: number; seed: number }): CodeErrors {
  const outcome: CodeErrors = { asked: 0, anotherListing: 0, unknownCode: 0, refused: 0, otherwise: [] }
  for (const { typed } of codeErrors(names.all(), seeded(seed), count)) {
    outcome.asked++
    const key = keyIn(resolveInput(typed, names))
    if (key === null) outcome.refused++
    else if (!sameCode(key, typed)) outcome.otherwise.push(`${typed} → ${key}`)
    else if (names.byKey(key) === null) outcome.unknownCode++
    else outcome.anotherListing++
  }
  return outcome
}

/** Whether the key has nothing but what was typed: its digits and letters, without the exchange and leading zeros. */
function sameCode(key: string, typed: string): boolean {
  const bare = (text: string): string =>
    text
      .toUpperCase()
      .replace(/^(?:HK|SH|SZ|BJ)\.?(?=\d)/, '')
      .replace(/(?<=\d)\.?(?:HK|SH|SZ|BJ|T|KS|KQ|TWO|TW)$/, '')
      .replace(/^0+/, '')
      .replace('-', '.')
  return bare(key) === bare(typed)
}
