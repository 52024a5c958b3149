// The listings that may be meant by a text that is no exact name. Nothing is decided here: the user selects one.

import { editDistance } from './edit-distance.ts'
import { fold, isHan } from './fold.ts'
import type { Listing } from './listing.ts'
import type { Layer, NameIndex } from './name-index.ts'
import { type SuggestOptions, suggest } from './search.ts'
import { mayBeWithin, signatureOf, signaturesOf } from './signatures.ts'
import { TERM, type TermKind } from './terms.ts'

/** A text of this length is still recognizable with two errors; a shorter one with one. */
const LENGTH_FOR_TWO = 6
const LONGEST = 60

/** The quality of a match, the best first. */
const RANK = { sound: 0, initials: 1, oneError: 2, part: 3, twoErrors: 4 } as const

type Ranked = { listing: Listing; rank: number }

/**
 * At most `limit` active listings: those that sound the same in Chinese, those with these initials, those whose name,
 * pinyin or ticker differs by one error (one character added, missing or different, or two exchanged), those with the
 * text in their name, those that differ by two errors. Among equals the more popular one comes first.
 */
export function candidates(names: NameIndex, text: string, { limit, keyOf }: SuggestOptions): Listing[] {
  const folded = fold(text)
  if (folded === '' || folded.length > LONGEST) return []
  const found: Ranked[] = [
    ...names.soundingLike(text).map((listing) => ({ listing, rank: RANK.sound })),
    ...names.withInitials(folded).map((listing) => ({ listing, rank: RANK.initials })),
    ...suggest(names, text, { limit, keyOf }).map(({ listing }) => ({ listing, rank: RANK.part })),
    ...names.layers.flatMap((layer) => similarIn(layer, folded)),
  ]
  const best = new Map<string, Ranked>()
  for (const one of found) {
    const known = best.get(one.listing.key)
    if (known === undefined || one.rank < known.rank) best.set(one.listing.key, one)
  }
  return [...best.values()]
    .sort((a, b) => a.rank - b.rank || b.listing.popularity - a.listing.popularity)
    .slice(0, limit)
    .map(({ listing }) => listing)
}

/** The listings of the layer with a term at most two errors away. */
function similarIn({ table, hidden }: Layer, folded: string): Ranked[] {
  const most = folded.length >= LENGTH_FOR_TWO ? 2 : 1
  // Blanks between the words of an English name, or the syllables of pinyin, are not errors.
  const forms = [...new Set([folded, folded.replaceAll(' ', '')])]
  const signatures = signaturesOf(table)
  const own = forms.map(signatureOf)
  const kinds = isHan(folded) ? HAN_KINDS : LETTER_KINDS
  const found: Ranked[] = []
  for (let place = 0; place < table.texts.length; place++) {
    const signature = signatures[place] ?? 0
    if (!own.some((one) => mayBeWithin(one, signature, most))) continue
    const owner = table.owners[place] ?? 0
    if (hidden[owner] !== 0 || !kinds.has((table.kinds[place] ?? TERM.code) as TermKind)) continue
    const term = table.texts[place] ?? ''
    const errors = Math.min(...forms.map((form) => editDistance(form, term, most)))
    if (errors > most) continue
    const listing = table.listing(owner)
    if (listing.active) found.push({ listing, rank: errors <= 1 ? RANK.oneError : RANK.twoErrors })
  }
  return found
}

const HAN_KINDS: ReadonlySet<TermKind> = new Set([TERM.name])
const LETTER_KINDS: ReadonlySet<TermKind> = new Set([TERM.code, TERM.name, TERM.pinyin])
