// Searches names in the packaged list and its later changes. A changed listing hides its packaged line; the layers are
// otherwise searched one after another and their results combined.

import { fold, isHan } from './fold.ts'
import type { Listing } from './listing.ts'
import type { NameTable } from './name-table.ts'
import type { CharacterLists } from './similarity.ts'
import { spellerFrom } from './speller.ts'
import { TERM, type TermKind } from './terms.ts'

/** A table, and the lines in it that another layer replaces. */
export type Layer = {
  readonly table: NameTable
  readonly hidden: Uint8Array
  /** Built when first needed. */
  lists: CharacterLists | null
  /** The positions of names with several words; built when first needed. */
  phrases: Uint16Array | null
}

export class NameIndex {
  /** Changes whenever a result may change. */
  readonly version: string
  readonly layers: readonly Layer[]
  /** Built when first needed, because it reads every line. */
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

  /** Active listings whose complete Chinese name has this pinyin. */
  spelled(text: string): Listing[] {
    return leadingOnly(this.#exactly(fold(text).replaceAll(' ', ''), TERM.pinyin))
  }

  /** Active listings whose Chinese name is pronounced like this text in other Chinese characters. */
  soundingLike(text: string): Listing[] {
    const folded = fold(text)
    if (!isHan(folded)) return []
    this.#spell ??= spellerFrom(this.all())
    return this.spelled(this.#spell(folded))
  }

  /** Active listings whose Chinese name has these pinyin initials. */
  withInitials(text: string): Listing[] {
    return leadingOnly(this.#exactly(fold(text).replaceAll(' ', ''), TERM.initials))
  }

  /** Every visible listing, the most popular first. */
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

/** The shares of one company count once: if the main listing was found too, the others are left out. */
function leadingOnly(found: Listing[]): Listing[] {
  if (found.length < 2) return found
  const keys = new Set(found.map(({ key }) => key))
  return found.filter(({ leading }) => leading === null || !keys.has(leading))
}
