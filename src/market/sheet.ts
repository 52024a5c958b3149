// The first sheet of a workbook (XLSX) as rows of texts. A workbook is a ZIP archive of XML, of which three kinds of
// files are read: the list of sheets, the cells, and the texts that cells share. Nothing in it is evaluated or
// followed: a formula is the value that was stored with it, and references to other files are not opened.

import { DEFLATED, ENCRYPTED, readZipDirectory, STORED, unpackedEntries, type ZipEntry } from '../kits/zip/index.ts'

export type SheetRow = { row: number; cells: string[] }

export type SheetFault = 'not_workbook' | 'encrypted' | 'too_large' | 'damaged'
/** `total` also counts rows that were not read: reading ends after the wanted number. */
export type Sheet = { ok: true; rows: SheetRow[]; total: number } | { ok: false; reason: SheetFault; file?: string }

/** For all unpacked data; a list of stocks has a hundredth of it. */
const MAX_UNPACKED_BYTES = 20 * 1024 * 1024
const MAX_ENTRIES = 2_000
/** An import reads nothing after these columns. */
const MAX_COLUMNS = 64
const MAX_CELL_CHARACTERS = 2_000
/** For one file: about two seconds of computing. A thousand rows of 64 cells have a quarter of it. */
const MAX_MARKS = 1_000_000

/** Every ZIP begins like this, unless it is empty. */
export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04

/** The older format, which Excel also uses as a wrapper for encrypted workbooks. */
export const isOldOffice = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xd0 && bytes[1] === 0xcf && bytes[2] === 0x11 && bytes[3] === 0xe0

class Unreadable extends Error {
  readonly reason: SheetFault
  readonly file: string | undefined

  constructor(reason: SheetFault, file?: string) {
    super(reason)
    this.reason = reason
    this.file = file
  }
}

export async function firstSheet(archive: Uint8Array, mostRows: number): Promise<Sheet> {
  try {
    return { ok: true, ...(await rowsIn(archive, mostRows)) }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { ok: false, reason: error.reason, ...(error.file === undefined ? {} : { file: error.file }) }
  }
}

type Rows = { rows: SheetRow[]; total: number }

async function rowsIn(archive: Uint8Array, mostRows: number): Promise<Rows> {
  const directory = readZipDirectory(archive, MAX_ENTRIES)
  if (!directory.ok) throw new Unreadable(directory.isTooMany === true ? 'too_large' : 'damaged')
  const book = new PackageParts(directory.entries)
  if (!book.has('xl/workbook.xml')) throw new Unreadable('not_workbook')
  const id = firstOf(await book.text('xl/workbook.xml'), 'sheet', ({ id: found }) => found)
  const target = firstOf(await book.text('xl/_rels/workbook.xml.rels'), 'Relationship', ({ Id, Target }) =>
    Id === id ? Target : undefined,
  )
  const path = target === undefined ? null : new URL(target, 'zip://book/xl/').pathname.slice(1)
  if (id === undefined || path === null || !book.has(path)) throw new Unreadable('not_workbook')
  const shared = book.has('xl/sharedStrings.xml') ? textsIn(await book.text('xl/sharedStrings.xml')) : []
  return cellsIn(await book.text(path), { shared, mostRows })
}

/** The files of the archive, unpacked one at a time and only up to the limit. */
class PackageParts {
  readonly #entries: ReadonlyMap<string, ZipEntry>
  #room = MAX_UNPACKED_BYTES

  constructor(entries: readonly ZipEntry[]) {
    this.#entries = new Map(entries.flatMap((entry) => (entry.name === null ? [] : [[entry.name, entry] as const])))
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  async text(name: string): Promise<string> {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw new Unreadable('not_workbook', name)
    if ((entry.flags & ENCRYPTED) !== 0) throw new Unreadable('encrypted', name)
    if (entry.method !== STORED && entry.method !== DEFLATED) throw new Unreadable('damaged', name)
    if (entry.sizeBytes > this.#room) throw new Unreadable('too_large', name)
    this.#room -= entry.sizeBytes
    const bytes = (await (await unpackedEntries([entry])).next()).value ?? null
    if (bytes === null) throw new Unreadable('damaged', name)
    const text = decoded(bytes)
    // A document type may declare entities that expand without limit; no program writes one into a workbook.
    if (text === null || text.includes('<!DOCTYPE')) throw new Unreadable('damaged', name)
    return text
  }
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return null
  }
}

// The tags of an XML text, in one pass. Namespace prefixes are removed, because programs use different ones.

type Mark = { name: string; kind: 'open' | 'close' | 'empty'; attributes: string; at: number; end: number }

const MARK = /<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/g

function* marksIn(xml: string): Generator<Mark> {
  let count = 0
  for (const match of xml.matchAll(MARK)) {
    count += 1
    if (count > MAX_MARKS) throw new Unreadable('too_large')
    const [whole, closes = '', name = '', attributes = '', isEmpty = ''] = match
    const kind = closes !== '' ? 'close' : isEmpty !== '' ? 'empty' : 'open'
    yield { name, kind, attributes, at: match.index, end: match.index + whole.length }
  }
}

function attributesOf(text: string): Record<string, string | undefined> {
  const found: Record<string, string> = Object.create(null)
  for (const [, name = '', double, single] of text.matchAll(/(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    found[name] = plain(double ?? single ?? '')
  }
  return found
}

/** The first present one among the tags of that name. */
function firstOf(
  xml: string,
  name: string,
  pick: (attributes: Record<string, string | undefined>) => string | undefined,
): string | undefined {
  for (const mark of marksIn(xml)) {
    const found = mark.name === name && mark.kind !== 'close' ? pick(attributesOf(mark.attributes)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const plain = (xml: string): string =>
  xml.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[String(name)] ?? whole
    const point = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16)
    return point > 0x10ffff ? whole : String.fromCodePoint(point)
  })

/** The shared texts: each is the concatenation of its runs, without phonetic readings. */
function textsIn(xml: string): string[] {
  const texts: string[] = []
  let text = ''
  let reading = 0
  let from: number | null = null
  for (const { name, kind, at, end } of marksIn(xml)) {
    if (name === 'rPh') reading += kind === 'open' ? 1 : kind === 'close' ? -1 : 0
    else if (name === 't' && kind === 'open') from = end
    else if (name === 't' && kind === 'close' && from !== null) {
      if (reading === 0) text += plain(xml.slice(from, at))
      from = null
    } else if (name === 'si' && kind !== 'open') {
      texts.push(text.slice(0, MAX_CELL_CHARACTERS))
      text = ''
    }
  }
  return texts
}

type Cell = { column: number; type: string; value: string }

const ROW = /<(?:[\w.-]+:)?row[\s/>]/g

/** The rows that have a cell, with their numbers. */
function cellsIn(xml: string, { shared, mostRows }: { shared: readonly string[]; mostRows: number }): Rows {
  const rows: SheetRow[] = []
  let row: SheetRow = { row: 0, cells: [] }
  let cell: Cell | null = null
  let from: number | null = null
  for (const { name, kind, attributes, at, end } of marksIn(xml)) {
    if (name === 'row' && kind !== 'close') {
      row = { row: Number(attributesOf(attributes).r ?? row.row + 1), cells: [] }
    } else if (name === 'row' && row.cells.length > 0) {
      rows.push(row)
      if (rows.length === mostRows) return { rows, total: mostRows + (xml.slice(end).match(ROW)?.length ?? 0) }
    } else if (name === 'c' && kind === 'open') {
      const { r = '', t = 'n' } = attributesOf(attributes)
      cell = { column: columnOf(r) ?? row.cells.length, type: t, value: '' }
    } else if ((name === 'v' || name === 't') && kind === 'open') from = end
    else if ((name === 'v' || name === 't') && kind === 'close' && cell !== null && from !== null) {
      cell.value += plain(xml.slice(from, at))
      from = null
    } else if (name === 'c' && kind === 'close' && cell !== null) {
      put(row, cell, shared)
      cell = null
    }
  }
  return { rows, total: rows.length }
}

function put({ row, cells }: SheetRow, { column, type, value }: Cell, shared: readonly string[]): void {
  if (column >= MAX_COLUMNS || !Number.isSafeInteger(row)) return
  while (cells.length <= column) cells.push('')
  cells[column] = textOf(type, value, shared).trim().slice(0, MAX_CELL_CHARACTERS)
}

function textOf(type: string, value: string, shared: readonly string[]): string {
  if (type === 's') return shared[Number(value)] ?? ''
  // A formula that failed is not a text of the list.
  if (type === 'e') return ''
  // A code that was entered as a number: `6.00519E5` and `600519.0` would not be recognised as a code.
  const number = type === 'n' && /^(?:[\d.]+E[+-]?\d+|\d+\.0+)$/i.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? String(number) : value
}

/** `B7` is in the second column; null when a program omits the position. */
function columnOf(place: string): number | null {
  const [letters] = /^[A-Z]{1,3}/.exec(place) ?? []
  if (letters === undefined) return null
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}
