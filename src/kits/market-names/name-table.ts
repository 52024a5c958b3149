// One list of listings with its terms in sorted order. Exact matches use a map; prefixes use a binary search. A line is
// parsed when its listing is first needed, which most never are.

import type { Listing } from './listing.ts'
import { eachTerm, type TermKind } from './terms.ts'

export type NameTable = {
  readonly size: number
  listing(row: number): Listing
  /** The terms in ascending order; parallel arrays have the kind and the listing of each. */
  readonly texts: readonly string[]
  readonly kinds: Uint8Array
  readonly owners: Uint16Array
  /** The position of the first term with this text. */
  readonly places: ReadonlyMap<string, number>
}

/** The terms of some listings, sorted, in the form in which the packaged list stores them. */
export type Terms = Pick<NameTable, 'texts' | 'kinds' | 'owners'>

export function tableOf(size: number, listing: (row: number) => Listing, terms: Terms): NameTable {
  const { texts } = terms
  const places = new Map<string, number>()
  // Backwards, so that the first one of equal texts is kept.
  for (let place = texts.length - 1; place >= 0; place--) places.set(texts[place] ?? '', place)
  return { size, listing, ...terms, places }
}

/** The table of the given listings. */
export function nameTable(listings: readonly Listing[]): NameTable {
  const listing = (row: number): Listing => {
    const found = listings[row]
    if (found === undefined) throw new RangeError(`no listing ${row} of ${listings.length}`)
    return found
  }
  return tableOf(listings.length, listing, sortedTerms(listings))
}

export function sortedTerms(listings: readonly Listing[]): Terms {
  const terms: { text: string; kind: TermKind; owner: number }[] = []
  for (const [owner, listing] of listings.entries()) {
    eachTerm(listing, (kind, text) => terms.push({ text, kind, owner }))
  }
  // Equal texts stay in the order of their listings.
  terms.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return {
    texts: terms.map(({ text }) => text),
    kinds: Uint8Array.from(terms, ({ kind }) => kind),
    owners: Uint16Array.from(terms, ({ owner }) => owner),
  }
}

/** The position of the first term that is not before `text`. */
export function lowerBound(texts: readonly string[], text: string): number {
  let low = 0
  let high = texts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((texts[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}
