// Every question about names, asked of the packaged list and of what has changed since it was made. A listing that changed
// hides its packaged line; the layers are otherwise asked one after another and answer as one.

import { fold, isHan } from './fold.ts'
import type { Listing } from './listing.ts'
import type { NameTable } from './name-table.ts'
import type { CharacterLists } from './similarity.ts'
import { spellerFrom } from './speller.ts'
import { TERM, type TermKind } from './terms.ts'

/** A table and which of its lines another layer replaces. */
export type Layer = {
  readonly table: NameTable
  readonly hidden: Uint8Array
  /** Made when first needed. */
  lists: CharacterLists | null
  /** The places of names of several words; made when first needed. */
  phrases: Uint16Array | null
}

export class NameIndex {
  /** Changes whenever an answer may. */
  readonly version: string
  readonly layers: readonly Layer[]
  /** Made when first needed: it reads every line. */
  #spell: ((name: string) => string) | null = null

  constructor(version: string, base: NameTable, changed: NameTable | null = null) {
    this.version = version
    const layer = (table: NameTable): Layer => {
      return { table, hidden: new Uint8Array(table.size), lists: null, phrases: null }
    }
    const packaged = layer(base)
    this.layers = changed === null ? [packaged] : [layer(changed), packaged]
    for (let row = 0; row < (changed?.size ?? 0); row++) {
      const replaced = rowOf(base, changed?.listing(row).key ?? '')
      if (replaced !== null) packaged.hidden[replaced] = 1
    }
  }

  byKey(key: string): Listing | null {
    for (const { table, hidden } of this.layers) {
      const row = rowOf(table, key)
      if (row !== null && hidden[row] === 0) return table.listing(row)
    }
    return null
  }

  /** Active listings with exactly this name or alias, in any case, simplified or traditional. */
  named(text: string): Listing[] {
    return leadingOnly(this.#exactly(fold(text), TERM.name))
  }

  /** Active listings whose whole Chinese name is spelled so in pinyin. */
  spelled(text: string): Listing[] {
    return leadingOnly(this.#exactly(fold(text).replaceAll(' ', ''), TERM.pinyin))
  }

  /** Active listings whose Chinese name is read like this text in other Chinese characters. */
  soundingLike(text: string): Listing[] {
    const folded = fold(text)
    if (!isHan(folded)) return []
    this.#spell ??= spellerFrom(this.all())
    return this.spelled(this.#spell(folded))
  }

  /** Active listings of whose Chinese name these are the initials in pinyin. */
  withInitials(text: string): Listing[] {
    return leadingOnly(this.#exactly(fold(text).replaceAll(' ', ''), TERM.initials))
  }

  /** Every visible listing, the most looked-for first. */
  all(): Listing[] {
    const listings: Listing[] = []
    for (const { table, hidden } of this.layers) {
      for (let row = 0; row < table.size; row++) if (hidden[row] === 0) listings.push(table.listing(row))
    }
    return this.layers.length === 1 ? listings : listings.sort((a, b) => b.popularity - a.popularity)
  }

  #exactly(text: string, kind: TermKind): Listing[] {
    const found: Listing[] = []
    for (const layer of this.layers) {
      const { texts, kinds, places } = layer.table
      for (let place = places.get(text) ?? texts.length; texts[place] === text; place++) {
        if (kinds[place] === kind) addVisible(layer, place, found)
      }
    }
    return found
  }
}

function addVisible({ table, hidden }: Layer, place: number, found: Listing[]): void {
  const row = table.owners[place] ?? 0
  if (hidden[row] !== 0) return
  const listing = table.listing(row)
  if (listing.active && !found.includes(listing)) found.push(listing)
}

function rowOf({ texts, kinds, owners, places, listing }: NameTable, key: string): number | null {
  const code = key.toLowerCase()
  for (let place = places.get(code) ?? texts.length; texts[place] === code; place++) {
    const row = owners[place] ?? 0
    if (kinds[place] === TERM.code && listing(row).key === key) return row
  }
  return null
}

/** One company's shares count once: where its leading listing has been found too, the others step back. */
function leadingOnly(found: Listing[]): Listing[] {
  if (found.length < 2) return found
  const keys = new Set(found.map(({ key }) => key))
  return found.filter(({ leading }) => leading === null || !keys.has(leading))
}
