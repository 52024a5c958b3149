// A list of stocks as people keep it: text or a table, of a file or pasted. Its rows become readings; nothing is decided here
// that a person would not see.

import { fold, type NameIndex } from '../kits/market-names/index.ts'
import { parseCode } from './instruments.ts'
import { isNameOf, type Reading, readEntry, resolveBoth } from './readings.ts'
import type { Resolution } from './resolve.ts'

export const MOST_ROWS = 1_000
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
const NAME_HEADERS = new Set(['name', 'stock_name', 'stock name', '名称', '股票名称', '证券名称', '종목명', '銘柄名'])

/** One entry of the list: a code and its name where the row has both. */
export type ImportRow = { code: string | null; name: string | null }

/** The text of a file: UTF-8, else the encoding of older Chinese programs. Null for what is neither, such as a picture. */
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

/** Two bytes at the start name the encoding of what spreadsheets call Unicode text. */
function encodingsOf([first, second]: Uint8Array): string[] {
  if (first === 0xff && second === 0xfe) return ['utf-16le']
  return first === 0xfe && second === 0xff ? ['utf-16be'] : ['utf-8', 'gb18030']
}

/** The entries of a text, or null when there are more than an import takes. */
export function rowsOf(text: string): ImportRow[] | null {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
  if (lines.length > MOST_ROWS) return null
  const separator = separatorOf(lines)
  const cells = lines.map((line) => cellsOf(line, separator ?? ''))
  const header = headerOf(cells[0] ?? [])
  const rows =
    header === null
      ? lines.flatMap((line) => looseRows(cellsOf(line, separator === '\t' ? separator : SEPARATORS)))
      : cells.slice(1).map((row) => tableRow(row, header))
  const filled = rows.filter(({ code, name }) => code !== null || name !== null)
  return filled.length > MOST_ROWS ? null : filled
}

/** How each row is read, each listing once. What is not clear stays in the list. */
export function readRows(rows: readonly ImportRow[], names: NameIndex): Reading[] {
  const seen = new Set<string>()
  const readings: Reading[] = []
  for (const row of rows) {
    const reading = readRow(row, names)
    const key = reading?.resolved?.instrument.key ?? reading?.input
    if (reading === null || key === undefined || seen.has(key)) continue
    seen.add(key)
    readings.push(reading)
  }
  return readings
}

function readRow({ code, name }: ImportRow, names: NameIndex): Reading | null {
  if (code === null || name === null) return readEntry(code ?? name ?? '', names)
  const both = (input: string): Resolution | null => resolveBoth(input, { code, name }, names)
  const reading = readEntry(`${code} ${name}`, names, both)
  if (reading?.resolved == null) return reading
  const { listing } = reading.resolved
  // A row whose code and name agree says its code outright.
  const isAgreed = parseCode(code).ok && listing !== null && isNameOf(listing, name, names)
  return { ...reading, kind: isAgreed ? 'code' : 'reading' }
}

// --- Rows and cells

const SEPARATORS = '\t,;|，；、'

/** The separator that parts the most lines; null where lines are whole entries. */
function separatorOf(lines: readonly string[]): string | null {
  const counts = [...SEPARATORS].map((separator) => lines.filter((line) => line.includes(separator)).length)
  const most = Math.max(...counts)
  return most === 0 ? null : SEPARATORS.charAt(counts.indexOf(most))
}

/** The cells of a line; one in quotation marks may hold the separator. Spreadsheets mark texts with `=` and an apostrophe. */
function cellsOf(line: string, separators: string): string[] {
  const cells: string[] = ['']
  let isQuoted = false
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted
    else if (separators.includes(character) && !isQuoted) cells.push('')
    else cells[cells.length - 1] += character
  }
  return cells.map(clean)
}

const clean = (cell: string): string =>
  cell
    .replace(/^\uFEFF/, '')
    .trim()
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^[='](?=[\dA-Za-z])/, '')
    .trim()

type Header = { code: number; name: number }

function headerOf(cells: readonly string[]): Header | null {
  const words = cells.map((cell) => fold(cell.normalize('NFKC')))
  const header = {
    code: words.findIndex((word) => CODE_HEADERS.has(word)),
    name: words.findIndex((word) => NAME_HEADERS.has(word)),
  }
  return header.code < 0 && header.name < 0 ? null : header
}

const orNull = (cell: string | undefined): string | null => (cell === undefined || cell === '' ? null : cell)

const tableRow = (cells: readonly string[], { code, name }: Header): ImportRow => ({
  code: code < 0 ? null : orNull(cells[code]),
  name: name < 0 ? null : orNull(cells[name]),
})

/** Without a header: a code and one name beside it are one row, anything else is as many entries as it has cells. */
function looseRows(cells: readonly string[]): ImportRow[] {
  const filled = cells.filter((cell) => cell !== '')
  const codes = filled.filter(isNumberedCode)
  const names = filled.filter((cell) => !parseCode(cell).ok && !isNumberedCode(cell) && !isFigure(cell))
  const [code] = codes
  const [name] = names
  const isPair =
    codes.length === 1 && names.length === 1 && filled.every((cell) => isFigure(cell) || cell === code || cell === name)
  if (code !== undefined && name !== undefined && isPair) return [{ code, name }]
  return filled.filter((cell) => !isFigure(cell) || filled.length === 1).map((cell) => ({ code: cell, name: null }))
}

/** Tickers of letters have the form of names: only a number beside a name makes a row of two cells certain. */
function isNumberedCode(cell: string): boolean {
  if (!/\d/.test(cell)) return false
  const parsed = parseCode(cell.normalize('NFKC'))
  return parsed.ok || parsed.reason === 'wrong_exchange' || parsed.reason === 'no_share'
}

/** An amount, a price or a share: what stands beside a code in a list of holdings. */
const isFigure = (cell: string): boolean =>
  /^[-+]?[$¥￥€]?\d[\d,.]*\s*%?$/.test(cell) && !/^\d{4,6}$/.test(cell) && !parseCode(cell).ok
