// The table of `column -t`, and the same as JSON.

import { refusal } from '../misuse.ts'
import type { GivenOptions } from '../options.ts'
import { columnsOf } from '../width.ts'

const GAP = '  '

interface Table {
  rows: string[][]
  names: string[]
  /** Columns by their numbers, from zero. */
  isRight: (column: number) => boolean
  isHidden: (column: number) => boolean
  count: number
}

export function tableText(lines: readonly string[], given: GivenOptions): string {
  const table = tableOf(lines, given)
  if (given.has('J')) return jsonText(table, given.value('n') ?? 'table')
  const gap = given.value('o') ?? GAP
  const hasHeading = table.names.length > 0 && !given.has('d')
  const rows = hasHeading ? [table.names, ...table.rows] : table.rows
  const columns = Array.from({ length: table.count }, (_, i) => i).filter((i) => !table.isHidden(i))
  const widths = new Map(columns.map((i) => [i, widest(rows, i)]))
  return rows
    .map((row) => {
      const cells = columns.map((column, i) => {
        const cell = row[column] ?? ''
        const blanks = ' '.repeat(Math.max(0, (widths.get(column) ?? 0) - columnsOf(cell)))
        if (table.isRight(column)) return blanks + cell
        return i === columns.length - 1 ? cell : cell + blanks
      })
      return `${cells.join(gap)}\n`
    })
    .join('')
}

function widest(rows: readonly string[][], column: number): number {
  return rows.reduce((most, row) => Math.max(most, columnsOf(row[column] ?? '')), 0)
}

function tableOf(lines: readonly string[], given: GivenOptions): Table {
  const limit = given.has('l') ? Number(given.value('l')) : Infinity
  const rows = lines.map((line) => cellsOf(line, given.value('s'), limit))
  const names = given.value('N')?.split(',') ?? []
  const count = rows.reduce((most, row) => Math.max(most, row.length), names.length)
  const placed = (option: string) => columnTest(given.value(option), { names, count })
  return { rows, names, count, isRight: placed('R'), isHidden: placed('H') }
}

/** Each of the given separators ends a cell; consecutive blanks count as one. */
function cellsOf(line: string, separators: string | undefined, limit: number): string[] {
  const cells: string[] = []
  if (separators === undefined) {
    let rest = line.replace(/^[ \t]+/, '')
    while (rest !== '') {
      const [blanks, at] = [/[ \t]+/.exec(rest)?.[0] ?? '', rest.search(/[ \t]/)]
      if (at < 0 || cells.length + 1 >= limit) {
        cells.push(rest)
        break
      }
      cells.push(rest.slice(0, at))
      rest = rest.slice(at + blanks.length)
    }
    return cells
  }
  let start = 0
  for (let at = 0; at < line.length && cells.length + 1 < limit; at++) {
    if (!separators.includes(line.charAt(at))) continue
    cells.push(line.slice(start, at))
    start = at + 1
  }
  cells.push(line.slice(start))
  return cells
}

type Columns = { names: string[]; count: number }

function columnTest(list: string | undefined, { names, count }: Columns): (column: number) => boolean {
  if (list === undefined) return () => false
  const chosen = new Set<number>()
  for (const word of list.split(',')) {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? []
    if (word === '0' || (word === '-' && names.length === 0)) for (let i = 0; i < count; i++) chosen.add(i)
    else if (from !== undefined) for (let i = Number(from); i <= Number(to ?? from); i++) chosen.add(i - 1)
    else if (names.includes(word)) chosen.add(names.indexOf(word))
    else throw refusal(`undefined column name '${word}'`)
  }
  return (column) => chosen.has(column)
}

function jsonText({ rows, names, isHidden }: Table, name: string): string {
  if (names.length === 0) throw refusal('option --table-columns required for --json')
  const shown = rows.map((row) => {
    const cells = names.flatMap((column, i) => {
      if (isHidden(i)) return []
      const cell = row[i]
      return [
        `         ${JSON.stringify(column.toLowerCase())}: ${cell === undefined || cell === '' ? 'null' : JSON.stringify(cell)}`,
      ]
    })
    return `{\n${cells.join(',\n')}\n      }`
  })
  return `{\n   ${JSON.stringify(name)}: [\n      ${shown.join(',')}\n   ]\n}\n`
}
