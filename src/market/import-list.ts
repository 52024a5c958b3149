// A user's list of stocks: text or a table, from a file or pasted. Its rows become readings; the user sees every
// decision.

import { fold, type NameIndex } from '../kits/market-names/index.ts'
import { parseCode } from './instruments.ts'
import { codesApart, pastedParts } from './pasted.ts'
import { isNameOf, type Reading, readEntry, resolveBoth } from './readings.ts'
import type { Resolution } from './resolve.ts'
import type { SheetRow } from './sheet.ts'

export const MOST_ROWS = 1_000
// In the form that `fold` returns: `铭柄名` is 銘柄名, and 代碼 is found as 代码.
const CODE_HEADERS = new Set([
  'code',
  'stock_code',
  'stock code',
  'symbol',
  'ticker',
  '代码',
  '股票代码',
  '证券代码',
  '종목코드',
  'コード',
])
const NAME_HEADERS = new Set(['name', 'stock_name', 'stock name', '名称', '股票名称', '证券名称', '종목명', '铭柄名'])

const GROUP_HEADERS = new Set(['group', 'watchlist', '分组', '自选组', '그룹', 'グループ'])
const NOTE_HEADERS = new Set(['note', 'notes', 'remark', 'memo', '备注', '메모', 'メモ'])
const HEADERS = { code: CODE_HEADERS, name: NAME_HEADERS, group: GROUP_HEADERS, note: NOTE_HEADERS }

/** One entry of the list: a code and its name if the row has both. */
export type ImportRow = {
  code: string | null
  name: string | null
  /** The group and the note; null when the list has no such column, or the row no value. */
  group: string | null
  note: string | null
  /** Its row number, from 1 and including the header. */
  row: number
}

/** A row as it was read. */
export type ReadRow = ImportRow & { reading: Reading }

/** The text of a file: UTF-8, else the encoding of older Chinese programs. Null for any other file, such as a picture. */
export function textOfFile(bytes: Uint8Array): string | null {
  for (const encoding of encodingsOf(bytes)) {
    try {
      const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes)
      return /[^\P{Cc}\t\n\v\f\r]/u.test(text) ? null : text
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
  return null
}

/** Two bytes at the start identify the encoding that spreadsheets call Unicode text. */
function encodingsOf([first, second]: Uint8Array): string[] {
  if (first === 0xff && second === 0xfe) return ['utf-16le']
  return first === 0xfe && second === 0xff ? ['utf-16be'] : ['utf-8', 'gb18030']
}

/** The entries of a text, or the number of its lines when there are more than an import accepts. */
export function rowsOf(text: string): ImportRow[] | number {
  const lines = text.split(/\r\n|\r|\n/)
  const filled = lines.filter((line) => line.trim() !== '')
  const separator = separatorOf(filled.slice(0, MOST_ROWS))
  const width = separator === '\t' ? separator : SEPARATORS
  const header = headerOf(cellsOf(filled[0] ?? '', separator ?? ''))
  const count = filled.length - (header === null ? 0 : 1)
  if (count > MOST_ROWS) return count
  const parting = header === null ? width : (separator ?? '')
  const numbered = lines.map((line, i) => ({ row: i + 1, cells: cellsOf(line, parting) }))
  return entriesOf(numbered, header)
}

/** The same for the rows of a sheet, of which `total` exist. */
export function rowsOfSheet({ rows, total }: { rows: readonly SheetRow[]; total: number }): ImportRow[] | number {
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell !== ''))
  const header = headerOf(filled[0]?.cells ?? [])
  const count = total - (rows.length - filled.length) - (header === null ? 0 : 1)
  return count > MOST_ROWS ? count : entriesOf(filled, header)
}

function entriesOf(table: readonly SheetRow[], header: Header | null): ImportRow[] | number {
  const filled = table.filter(({ cells }) => cells.some((cell) => cell !== ''))
  const rows = filled.slice(header === null ? 0 : 1).flatMap(({ cells, row }) => {
    const entries = header === null ? looseRows(cells) : [tableRow(cells, header)]
    return entries.map((entry) => ({ ...entry, row }))
  })
  const named = rows.filter(({ code, name }) => code !== null || name !== null)
  return named.length > MOST_ROWS ? named.length : named
}

/** The reading of each row, each listing once in a group. Unclear rows stay in the list. */
export function readRows(rows: readonly ImportRow[], names: NameIndex): ReadRow[] {
  const seen = new Set<string>()
  const read: ReadRow[] = []
  for (const row of rows) {
    const reading = readRow(row, names)
    const key = reading?.resolved?.instrument.key ?? reading?.input
    const place = JSON.stringify([row.group, key])
    if (reading === null || key === undefined || seen.has(place)) continue
    seen.add(place)
    read.push({ ...row, reading })
  }
  return read
}

function readRow({ code, name }: Cells, names: NameIndex): Reading | null {
  if (code === null || name === null) {
    const text = code ?? name ?? ''
    const reading = readEntry(text, names)
    const parts = pastedParts(text)
    return parts.code === null || parts.name === null ? reading : agreed(reading, parts, names)
  }
  const both = (input: string): Resolution | null => resolveBoth(input, { code, name }, names)
  return agreed(readEntry(`${code} ${name}`, names, both), { code, name }, names)
}

/** A row whose code and name agree names its code directly; with another or an unknown name it is a reading. */
function agreed(reading: Reading | null, { code, name }: Cells, names: NameIndex): Reading | null {
  if (reading?.resolved == null) return reading
  const { listing } = reading.resolved
  const isAgreed =
    code !== null && name !== null && parseCode(code).ok && listing !== null && isNameOf(listing, name, names)
  return { ...reading, kind: isAgreed ? 'code' : 'reading' }
}

// --- Rows and cells

const SEPARATORS = '\t,;|，；、'

/** The separator that splits the most lines; null when lines are whole entries. */
function separatorOf(lines: readonly string[]): string | null {
  const counts = [...SEPARATORS].map((separator) => lines.filter((line) => line.includes(separator)).length)
  const most = Math.max(...counts)
  return most === 0 ? null : SEPARATORS.charAt(counts.indexOf(most))
}

/** The cells of a line; a quoted one may contain the separator, and a doubled quotation mark in it is a literal one. */
function cellsOf(line: string, separators: string): string[] {
  const cells: string[] = ['']
  let isQuoted = false
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i)
    if (character === '"' && isQuoted && line.charAt(i + 1) === '"') {
      cells[cells.length - 1] += character
      i += 1
    } else if (character === '"') isQuoted = !isQuoted
    else if (separators.includes(character) && !isQuoted) cells.push('')
    else cells[cells.length - 1] += character
  }
  return cells.map((cell) => cell.replace(/^\uFEFF/, '').trim())
}

/** Spreadsheets mark texts with `=` and an apostrophe. */
const clean = (cell: string): string =>
  cell
    .trim()
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^[='](?=[\dA-Za-z])/, '')
    .trim()

/** Text that a spreadsheet would treat as a formula when it opens the file. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/

/** The cell of an export: never a formula, and read back unchanged. */
export function exportedCell(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text
  return /[",;\t\r\n|，；、]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

const written = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell)

type Header = Record<keyof typeof HEADERS, number>

function headerOf(cells: readonly string[]): Header | null {
  const words = cells.map((cell) => fold(clean(cell).normalize('NFKC')))
  const place = (known: ReadonlySet<string>) => words.findIndex((word) => known.has(word))
  const { code, name, group, note } = HEADERS
  const header = { code: place(code), name: place(name), group: place(group), note: place(note) }
  return header.code < 0 && header.name < 0 ? null : header
}

const orNull = (cell: string | undefined): string | null => (cell === undefined || cell === '' ? null : cell)

type Cells = Pick<ImportRow, 'code' | 'name'>
type Entry = Omit<ImportRow, 'row'>

const tableRow = (cells: readonly string[], { code, name, group, note }: Header): Entry => ({
  code: code < 0 ? null : orNull(clean(cells[code] ?? '')),
  name: name < 0 ? null : orNull(clean(cells[name] ?? '')),
  group: group < 0 ? null : orNull(written(cells[group] ?? '')),
  note: note < 0 ? null : orNull(written(cells[note] ?? '')),
})

/** Without a header: a code with one name is one row, anything else is one entry for each cell. */
function looseRows(cells: readonly string[]): Entry[] {
  const filled = cells
    .map(clean)
    .filter((cell) => cell !== '')
    .flatMap((cell) => codesApart(cell) ?? [cell])
  const codes = filled.filter(isNumberedCode)
  const names = filled.filter((cell) => !parseCode(cell).ok && !isNumberedCode(cell) && !isFigure(cell))
  const [code] = codes
  const [name] = names
  const isPair =
    codes.length === 1 && names.length === 1 && filled.every((cell) => isFigure(cell) || cell === code || cell === name)
  const alone = { group: null, note: null }
  if (code !== undefined && name !== undefined && isPair) return [{ code, name, ...alone }]
  return filled
    .filter((cell) => !isFigure(cell) || filled.length === 1)
    .map((cell) => ({ code: cell, name: null, ...alone }))
}

/** Tickers of letters look like names: only a number with a name makes a row of two cells certain. */
function isNumberedCode(cell: string): boolean {
  if (!/\d/.test(cell)) return false
  const parsed = parseCode(cell.normalize('NFKC'))
  return parsed.ok || parsed.reason === 'wrong_exchange' || parsed.reason === 'no_share'
}

/** An amount, a price or a percentage, next to a code in a list of holdings. */
const isFigure = (cell: string): boolean =>
  /^[-+]?[$¥￥€]?\d[\d,.]*\s*%?$/.test(cell) && !/^\d{4,6}$/.test(cell) && !parseCode(cell).ok
