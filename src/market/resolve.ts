// Converts user input to a listing. A code, an exact name or alias, and the exact pinyin of a name decide, in this
// order; five letters or fewer that are neither a known ticker nor a name are treated as a US ticker, which its source
// may or may not know. Everything else is refused with the possible listings: another company is never chosen silently.

import { candidates, type Listing, type NameIndex } from '../kits/market-names/index.ts'
import { displayCode, type Instrument, parseCode } from './instruments.ts'
import { keyOf } from './names/labels.ts'
import type { RejectionReason } from './names/rejection-texts.ts'

export type Resolved = {
  ok: true
  instrument: Instrument
  /** The spelling to store: the input in upper case; the display form if it was a name or four digits. */
  stockCode: string
  /** The listing's names; null when only its code is known. */
  listing: Listing | null
  /** The input, if it is not a name of the listing and the user confirmed the first candidate; else null. */
  readFrom: string | null
}

export type Rejected = {
  ok: false
  reason: 'character' | 'letters_with_digits' | 'wrong_exchange' | 'no_share' | 'ambiguous' | 'not_found' | 'too_long'
  /** The entry as it was given. */
  input: string
  /** The input of `rejectionText`, which has a sentence in every language. */
  why: RejectionReason
  /** The possible listings, the most likely first. */
  candidates: Listing[]
}

export type Resolution = Resolved | Rejected

const LONGEST_ENTRY = 100
const MOST_CHOICES = 6
const MOST_CANDIDATES = 5
const FORBIDDEN = /[^A-Za-z0-9.*\-+\u3400-\u9FFF\s]/u

/** The listing of the entry, the reason why there is none, or null for a blank entry. */
export function resolveInput(input: string, names: NameIndex): Resolution | null {
  const text = input.trim()
  if (text === '') return null
  if (text.length > LONGEST_ENTRY) {
    return reject(input, 'too_long', { kind: 'too_long', most: LONGEST_ENTRY })
  }
  const parsed = parseCode(text)
  if (parsed.ok) return resolveCode(text, parsed.instrument, names)
  const entry = { input, text }
  if (parsed.reason === 'no_share') return resolveNoShare(entry, names)
  if (parsed.reason === 'four_digits') return resolveFourDigits(entry, names)
  if (parsed.reason === 'wrong_exchange') {
    const { exchange, belongsTo } = parsed
    return reject(input, 'wrong_exchange', { kind: 'wrong_exchange', exchange, belongsTo })
  }
  return resolveText(entry, names)
}

/**
 * All entries at once: the distinct listings in their first spelling, and every entry without a listing. With `confirm`
 * an unclear entry is read as its first candidate.
 */
export function resolveEntries(
  inputs: readonly string[],
  names: NameIndex,
  { confirm = false, resolve = resolveInput }: { confirm?: boolean; resolve?: typeof resolveInput } = {},
): { targets: Resolved[]; rejected: Rejected[] } {
  const targets = new Map<string, Resolved>()
  const rejected: Rejected[] = []
  for (const input of inputs) {
    const strict = resolve(input, names)
    if (strict === null) continue
    const resolution = confirm ? confirmed(strict) : strict
    if (!resolution.ok) rejected.push(resolution)
    else if (!targets.has(resolution.instrument.key)) targets.set(resolution.instrument.key, resolution)
  }
  return { targets: [...targets.values()], rejected }
}

export type Entry = { input: string; text: string }

function resolveCode(text: string, instrument: Instrument, names: NameIndex): Resolved {
  const listing = names.byKey(instrument.key)
  if (/^[A-Za-z]{1,5}$/.test(text) && listing === null && !isKnownUsTicker(instrument.key)) {
    const only = onlyOne(names.named(text))
    if (only) return fromListing(only)
  }
  const inSeoul = listing === null ? seoulListing(text, names) : undefined
  if (inSeoul) return fromListing(inSeoul)
  return { ok: true, instrument, stockCode: text.toUpperCase(), listing, readFrom: null }
}

/** The Korean listing with these six digits: its numbers need no exchange when the mainland has no such number. */
function seoulListing(text: string, names: NameIndex): Listing | undefined {
  return /^\d{6}$/.test(text) ? onlyOne(known(names, `${text}.KS`, `${text}.KQ`)) : undefined
}

function resolveNoShare({ input, text }: Entry, names: NameIndex): Resolution {
  const inSeoul = seoulListing(text, names)
  if (inSeoul) return fromListing(inSeoul)
  return reject(input, 'no_share', { kind: 'no_share', sixDigits: /^\d{6}$/.test(text) ? text : null })
}

function resolveFourDigits({ input, text }: Entry, names: NameIndex): Resolution {
  const matches = known(names, `HK0${text}`, `${text}.T`, `${text}.TW`, `${text}.TWO`)
  if (matches.length === 0) return reject(input, 'not_found', { kind: 'four_digits', digits: text })
  return oneOf(input, matches)
}

/** The traded listings with these keys. */
function known(names: NameIndex, ...keys: string[]): Listing[] {
  return keys.flatMap((key) => names.byKey(key) ?? []).filter(({ active }) => active)
}

function resolveText({ input, text }: Entry, names: NameIndex): Resolution {
  const forbidden = FORBIDDEN.exec(text)?.[0]
  if (forbidden !== undefined) return reject(input, 'character', { kind: 'character', character: forbidden })
  if (/[A-Za-z]/.test(text) && /\d/.test(text)) {
    return reject(input, 'letters_with_digits', { kind: 'letters_with_digits' }, likely(text, names))
  }
  // Exactly, then by sound: the first of these that finds anything decides.
  for (const find of [names.named, names.spelled]) {
    const matches = find.call(names, text)
    if (matches.length > 0) return oneOf(input, matches)
  }
  return notFound({ input, text }, names)
}

export function notFound({ input, text }: Entry, names: NameIndex): Rejected {
  const found = likely(text, names)
  return reject(input, 'not_found', { kind: 'not_found', meant: found }, found)
}

/** The possible listings for a text that is no listing's name, the most likely first. */
export const likely = (text: string, names: NameIndex): Listing[] =>
  // One character, or signs alone, match everything; a sum of numbers matches no listing.
  (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < 2 || /^[\d\s.,]*\d\s*[+*/=^%()][^\p{L}]*$/u.test(text)
    ? []
    : candidates(names, text, { limit: MOST_CANDIDATES, keyOf })

/**
 * The first candidate of a refused entry, marked as read. An entry without candidates, or with characters that no name
 * may contain, stays refused.
 */
export function confirmed(resolution: Resolution): Resolution {
  if (resolution.ok) return resolution
  const {
    reason,
    input,
    candidates: [first],
  } = resolution
  const isUnclear = reason === 'ambiguous' || reason === 'not_found' || reason === 'letters_with_digits'
  if (!isUnclear || first === undefined) return resolution
  return { ...fromListing(first), readFrom: input.trim() }
}

function oneOf(input: string, matches: Listing[]): Resolution {
  const only = onlyOne(matches)
  return only ? fromListing(only) : rejectAmbiguous(input, matches)
}

export function onlyOne<T>(some: readonly T[]): T | undefined {
  return some.length === 1 ? some[0] : undefined
}

export function fromListing(listing: Listing): Resolved {
  const parsed = parseCode(listing.key)
  if (!parsed.ok) throw new Error(`the listing ${listing.key} is not a code`)
  return { ok: true, instrument: parsed.instrument, stockCode: displayCode(parsed.instrument), listing, readFrom: null }
}

function rejectAmbiguous(input: string, matches: readonly Listing[]): Rejected {
  const ordered = [...matches].sort((a, b) => b.popularity - a.popularity)
  const why: RejectionReason = {
    kind: 'ambiguous',
    meant: ordered.slice(0, MOST_CHOICES),
    more: Math.max(0, matches.length - MOST_CHOICES),
  }
  return reject(input, 'ambiguous', why, ordered.slice(0, MOST_CANDIDATES))
}

export function reject(
  input: string,
  reason: Rejected['reason'],
  why: RejectionReason,
  found: Listing[] = [],
): Rejected {
  return { ok: false, reason, input, why, candidates: found }
}

// US tickers that have priority over initials, in addition to those in the list of names: without them `mt` or `dow`
// would be read as pinyin.
const US_TICKERS = `
A AA AAL AAPL ABBV ABNB ABT ACN ADBE ADI ADM ADP ADSK AEP AFL AIG AMAT AMD AMGN AMT AMZN ANET AON APD APP ARM ASML AVGO AXP AZN
BA BABA BAC BAX BBY BDX BEN BEKE BIDU BIIB BILI BK BKNG BLK BMY BP BSX BUD BX C CAH CAT CB CCL CDNS CEG CHTR CI CL CMCSA CME CMG
COF COIN COP COST CPRT CRM CRWD CSCO CSX CTAS CVS CVX D DAL DASH DD DDOG DE DELL DHR DIA DIS DLR DOW DUK DVN E EA EBAY ECL EDU EL EMR
ENPH EOG EQIX ETN ETSY EW EXC F FCX FDX FSLR FTNT FUTU GD GE GEHC GEV GILD GIS GLD GM GME GOOG GOOGL GS GSK H HAL HD HON HOOD HPQ HSBC
HSY HUM IBM ICE INTC INTU ISRG IVV IWM JD JNJ JPM K KHC KKR KLAC KMB KO KR LCID LI LIN LLY LMT LOW LRCX LULU LUV LVS M MA MAR MARA
MCD MCHP MCK MCO MDB MDLZ MDT MELI MET META MMM MNST MO MPC MRK MRNA MRVL MS MSCI MSFT MSTR MT MTB MU NEE NEM NET NFLX NIO NKE NOC
NOW NSC NTES NTRS NUE NVDA NVO NVS NXPI O OKE OKTA ON ORCL ORLY OXY PANW PATH PDD PEP PFE PG PGR PH PINS PLTR PM PNC PRU PSX PYPL Q
QCOM QQQ RACE RBLX RCL REGN RIVN RIO ROKU ROP ROST RTX S SAP SBUX SCHW SE SHEL SHOP SHW SLB SMCI SNAP SNOW SNPS SO SOFI SONY SPG SPGI SPOT
SPY SQQQ SYK SYY T TCOM TEAM TGT TJX TLT TM TME TMO TMUS TQQQ TRV TSLA TSM TT TTD TTWO TWLO TXN U UAL UBER UL UNH UNP UPS USB V VALE
VIPS VLO VOO VRTX VTI VZ W WBA WB WBD WDAY WDC WFC WM WMB WMT X XLE XLF XLK XOM XPEV Y YUM YUMC Z ZM ZS ZTO ZTS
`

let usTickers: Set<string> | null = null

function isKnownUsTicker(ticker: string): boolean {
  usTickers ??= new Set(US_TICKERS.trim().split(/\s+/))
  return usTickers.has(ticker)
}
