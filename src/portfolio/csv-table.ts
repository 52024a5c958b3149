// The rows of a broker's text file: separated by commas, tabs, semicolons or bars, quoted as in RFC 4180. A cell is
// never a formula: text that begins with `=` is text.

export type TableRow = {
  /** The line on which it begins, from 1. */
  row: number
  cells: string[]
}

export type Table = { ok: true; rows: TableRow[] } | { ok: false; openQuote: number }

const SEPARATORS = ['\t', ',', ';', '|'] as const
/** Enough lines to recognise the format of a file. */
const FIRST_LINES = 20

/** Its non-empty rows; or the line of an unclosed quotation mark. */
export function tableOf(text: string): Table {
  const { rows, openQuote } = scan(text, separatorOf(text))
  if (openQuote !== null) return { ok: false, openQuote }
  return { ok: true, rows: rows.filter(({ cells }) => cells.some((cell) => cell !== '')) }
}

/** The separator that splits the first lines into the most cells. */
function separatorOf(text: string): string {
  const beginning = text.split(/\r\n|\r|\n/, FIRST_LINES).join('\n')
  const widths = SEPARATORS.map((separator) => {
    return scan(beginning, separator).rows.reduce((sum, { cells }) => sum + cells.length - 1, 0)
  })
  return SEPARATORS[widths.indexOf(Math.max(...widths))] ?? ','
}

function scan(text: string, separator: string): { rows: TableRow[]; openQuote: number | null } {
  const rows: TableRow[] = []
  const plain = new RegExp(`[^\\r\\n${separator === '|' ? '\\|' : separator}]*`, 'y')
  let [at, line] = [text.startsWith('\uFEFF') ? 1 : 0, 1]
  while (at < text.length) {
    const cells: string[] = []
    const row = line
    for (;;) {
      const quote = text[at] === '=' ? at + 1 : at
      let cell = ''
      if (text[quote] === '"') {
        const end = endOfQuote(text, quote + 1)
        if (end < 0) return { rows, openQuote: line }
        cell = text.slice(quote + 1, end).replaceAll('""', '"')
        line += cell.match(/\r\n|\r|\n/g)?.length ?? 0
        at = end + 1
      }
      plain.lastIndex = at
      const rest = plain.exec(text)?.[0] ?? ''
      at += rest.length
      cells.push(cleaned(cell + rest))
      if (text[at] !== separator) break
      at += 1
    }
    rows.push({ row, cells })
    at += text.startsWith('\r\n', at) ? 2 : 1
    line += 1
  }
  return { rows, openQuote: null }
}

/** A doubled quotation mark in a quoted cell is a literal one. */
function endOfQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at
  return -1
}

/** Spreadsheets mark text with an apostrophe. */
const cleaned = (cell: string): string => cell.trim().replace(/^'(?=[^'])/, '')
