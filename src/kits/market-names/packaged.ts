// The list that comes with the program, in three texts: the listings, their terms in sorted order, and the kind and
// listing of each term. Everything that can be precomputed is. Loaded on first use in each isolate.

import { type Listing, parseRow } from './listing.ts'
import { NameIndex } from './name-index.ts'
import { type NameTable, nameTable, type Terms, tableOf } from './name-table.ts'

type Packaged = { version: string; table: NameTable }

let loaded: Packaged | null = null

export async function packagedTable(): Promise<Packaged> {
  loaded ??= await load()
  return loaded
}

export async function packagedNames(): Promise<NameIndex> {
  const { version, table } = await packagedTable()
  return new NameIndex(version, table)
}

/** The packaged names, with changed listings replacing their lines. */
export async function layeredNames(revision: string, changed: readonly Listing[]): Promise<NameIndex> {
  const { version, table } = await packagedTable()
  return new NameIndex(`${version}-${revision}`, table, nameTable(changed))
}

async function load(): Promise<Packaged> {
  const { OWNERS, ROWS, TERMS, VERSION } = await import('./packaged.generated.ts')
  return { version: VERSION, table: unpacked(ROWS, { texts: TERMS, owners: OWNERS }) }
}

export type PackedTerms = { texts: string; owners: string }

const SEPARATOR = '\n'
const OWNER_BITS = 13

/** The lines are ordered by popularity, so the position of a line determines the popularity of its listing. */
export function unpacked(rows: string, packed: PackedTerms): NameTable {
  const lines = rows.split(SEPARATOR)
  const read: (Listing | undefined)[] = new Array(lines.length)
  const listing = (row: number): Listing => {
    const known = read[row]
    if (known !== undefined) return known
    const fresh = parseRow(lines[row] ?? '', popularityAt(row, lines.length))
    read[row] = fresh
    return fresh
  }
  return tableOf(lines.length, listing, unpackedTerms(packed))
}

const MOST_POPULAR = 100

function popularityAt(row: number, count: number): number {
  return MOST_POPULAR - Math.floor((row * MOST_POPULAR) / count)
}

function unpackedTerms(packed: PackedTerms): Terms {
  const texts = packed.texts.split(SEPARATOR)
  const bytes = atob(packed.owners)
  const owners = new Uint16Array(texts.length)
  const kinds = new Uint8Array(texts.length)
  for (let place = 0; place < texts.length; place++) {
    const both = bytes.charCodeAt(2 * place) | (bytes.charCodeAt(2 * place + 1) << 8)
    owners[place] = both & ((1 << OWNER_BITS) - 1)
    kinds[place] = both >> OWNER_BITS
  }
  return { texts, kinds, owners }
}

/** The input of `unpacked`. */
export function packedTerms({ texts, kinds, owners }: Terms): PackedTerms {
  let bytes = ''
  for (const [place, owner] of owners.entries()) {
    if (owner >> OWNER_BITS !== 0) throw new RangeError(`${owner} listings are more than the packed form counts`)
    const both = owner | ((kinds[place] ?? 0) << OWNER_BITS)
    bytes += String.fromCharCode(both & 0xff, both >> 8)
  }
  return { texts: texts.join(SEPARATOR), owners: btoa(bytes) }
}
