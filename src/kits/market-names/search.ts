// Suggestions during input. Every matching term gives its listing a rank; the best rank of a listing counts, and within
// a rank the more popular listing comes first.

import { fold, isHan } from './fold.ts'
import type { Listing } from './listing.ts'
import type { Layer, NameIndex } from './name-index.ts'
import { lowerBound } from './name-table.ts'
import { characterLists, namesWith } from './similarity.ts'
import { TERM, type TermKind } from './terms.ts'

/** How a listing was found, the best match first. */
export const MATCHES = ['code', 'name', 'code_prefix', 'name_prefix', 'initials', 'pinyin', 'name_part'] as const
export type Match = (typeof MATCHES)[number]

export type Suggestion = { listing: Listing; match: Match }

const RANK = { code: 0, name: 1, codePrefix: 2, namePrefix: 3, initials: 4, pinyin: 5, part: 6, none: 7 } as const
const LONGEST_QUERY = 60

export type SuggestOptions = {
  limit: number
  /** The key of the code if the text is a spelling of one (`sh600519`, `0700.hk`); otherwise null. */
  keyOf: (text: string) => string | null
}

/** At most `limit` active listings for the text so far. */
export function suggest(names: NameIndex, query: string, { limit, keyOf }: SuggestOptions): Suggestion[] {
  const text = fold(query)
  if (text === '' || text.length > LONGEST_QUERY) return []
  const found = names.layers.flatMap((layer) => best(layer, ranksIn(layer, text), limit))
  const spelled = byKey(names, keyOf(text))
  return [
    ...(spelled ? [{ listing: spelled, rank: RANK.code }] : []),
    ...found.filter(({ listing }) => listing !== spelled),
  ]
    .sort((a, b) => a.rank - b.rank || b.listing.popularity - a.listing.popularity)
    .slice(0, limit)
    .map(({ listing, rank }) => ({ listing, match: MATCHES[rank] ?? 'name_part' }))
}

function byKey(names: NameIndex, key: string | null): Listing | null {
  const listing = key === null ? null : names.byKey(key)
  return listing?.active ? listing : null
}

/** The best rank of each listing of the layer. */
function ranksIn(layer: Layer, text: string): Uint8Array {
  const { table } = layer
  const ranks = new Uint8Array(table.size).fill(RANK.none)
  const mark = (place: number, rank: number): void => {
    const row = table.owners[place] ?? 0
    if (rank < (ranks[row] ?? 0)) ranks[row] = rank
  }
  markPrefixes(layer, text, mark)
  const bare = text.replaceAll(' ', '')
  if (bare !== text) markPrefixes(layer, bare, mark)
  markParts(layer, text, mark)
  return ranks
}

type Mark = (place: number, rank: number) => void

function markPrefixes({ table }: Layer, text: string, mark: Mark): void {
  const { texts, kinds } = table
  for (let place = lowerBound(texts, text); texts[place]?.startsWith(text); place++) {
    mark(place, rankOf((kinds[place] ?? TERM.code) as TermKind, texts[place] === text))
  }
}

function rankOf(kind: TermKind, isWhole: boolean): number {
  if (kind === TERM.code) return isWhole ? RANK.code : RANK.codePrefix
  if (kind === TERM.name) return isWhole ? RANK.name : RANK.namePrefix
  return kind === TERM.initials ? RANK.initials : RANK.pinyin
}

/** Names that contain the text. Only names with its rarest character are compared. */
function markParts(layer: Layer, text: string, mark: Mark): void {
  const { table } = layer
  if (!isHan(text)) {
    if (text.length > 1) markWords(layer, text, mark)
    return
  }
  layer.lists ??= characterLists(table)
  const { lists } = layer
  const holders = [...text].map((character) => namesWith(lists, character.charCodeAt(0)))
  const fewest = holders.reduce((least, some) => (some.length < least.length ? some : least))
  for (const number of fewest) {
    const place = lists.terms[number] ?? 0
    if (table.texts[place]?.includes(text)) mark(place, RANK.part)
  }
}

/** English names in which a later word starts with the text. */
function markWords(layer: Layer, text: string, mark: Mark): void {
  const { texts } = layer.table
  layer.phrases ??= phrasesIn(layer)
  const word = ` ${text}`
  for (const place of layer.phrases) if (texts[place]?.includes(word)) mark(place, RANK.part)
}

function phrasesIn({ table: { texts, kinds } }: Layer): Uint16Array {
  const places: number[] = []
  for (const [place, text] of texts.entries()) if (kinds[place] === TERM.name && text.includes(' ')) places.push(place)
  return Uint16Array.from(places)
}

function best({ table, hidden }: Layer, ranks: Uint8Array, limit: number): { listing: Listing; rank: number }[] {
  const byRank: number[][] = Array.from({ length: RANK.none }, () => [])
  for (let row = 0; row < ranks.length; row++) {
    const rows = byRank[ranks[row] ?? RANK.none]
    if (rows !== undefined && hidden[row] === 0 && rows.length < limit) rows.push(row)
  }
  return byRank.flatMap((rows, rank) =>
    rows.map((row) => ({ listing: table.listing(row), rank })).filter(({ listing }) => listing.active),
  )
}
