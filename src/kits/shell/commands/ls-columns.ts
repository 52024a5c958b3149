// Names in columns, for `ls -C`, `-x` and `-m`.

export interface ColumnOptions {
  width: number
  kind: 'down' | 'across' | 'commas'
}

const BETWEEN = 2
const TAB = 8

export function columns(cells: readonly string[], { width, kind }: ColumnOptions): string {
  if (kind === 'commas') return withCommas(cells, width)
  const lengths = cells.map((cell) => [...cell].length)
  for (let count = Math.min(cells.length, Math.floor(width / 3) || 1); ; count--) {
    const rows = Math.ceil(cells.length / count)
    const columnOf = (i: number) => (kind === 'across' ? i % count : Math.floor(i / rows))
    const widths: number[] = []
    lengths.forEach((length, i) => {
      const isLast = columnOf(i) === count - 1
      widths[columnOf(i)] = Math.max(widths[columnOf(i)] ?? 0, length + (isLast ? 0 : BETWEEN))
    })
    if (count > 1 && (widths.length < count || widths.reduce((sum, one) => sum + one, 0) >= width)) continue
    const lines: string[][] = Array.from({ length: rows }, () => [])
    cells.forEach((cell, i) => {
      lines[kind === 'across' ? Math.floor(i / count) : i % rows]?.push(cell)
    })
    return lines.map((line) => `${set(line, widths)}\n`).join('')
  }
}

/** Padded with tabs where possible, like in the original. */
function set(line: readonly string[], widths: readonly number[]): string {
  let text = ''
  let start = 0
  line.forEach((cell, i) => {
    text += cell
    if (i === line.length - 1) return
    let at = start + [...cell].length
    start += widths[i] ?? 0
    while (at < start) {
      if (Math.floor(start / TAB) > Math.floor((at + 1) / TAB)) {
        text += '\t'
        at += TAB - (at % TAB)
      } else {
        text += ' '
        at++
      }
    }
  })
  return text
}

function withCommas(cells: readonly string[], width: number): string {
  let text = ''
  let at = 0
  cells.forEach((cell, i) => {
    const length = [...cell].length
    if (i > 0) {
      const fits = at + length + 2 < width
      text += fits ? ', ' : ',\n'
      at = fits ? at + 2 : 0
    }
    text += cell
    at += length
  })
  return `${text}\n`
}
