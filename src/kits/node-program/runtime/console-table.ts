// What `console.table` prints.

import { inspect } from 'node:util'

type Row = Record<string, unknown>
const isRow = (row: unknown): row is Row => typeof row === 'object' && row !== null

export function tableOf(given: unknown, wanted?: readonly string[]): string {
  if (!isRow(given)) return inspect(given)
  const { head, rows } = rowsOf(given)
  const columns = wanted ?? [...new Set(rows.flatMap(([, row]) => (isRow(row) ? Object.keys(row) : [])))]
  const hasValues = rows.some(([, row]) => !isRow(row))
  const cellsOf = ([key, row]: [string, unknown]) => [
    key,
    ...columns.map((name) => (isRow(row) && name in row ? inspect(row[name]) : '')),
    ...(hasValues ? [isRow(row) ? '' : inspect(row)] : []),
  ]
  return drawn([[head, ...columns, ...(hasValues ? ['Values'] : [])], ...rows.map(cellsOf)])
}

function rowsOf(given: Row): { head: string; rows: [string, unknown][] } {
  const head = '(iteration index)'
  if (given instanceof Map) return { head, rows: Object.entries([...given].map(([Key, Values]) => ({ Key, Values }))) }
  // What a set holds is one value each, whatever it is made of.
  if (given instanceof Set) return { head, rows: Object.entries([...given].map((Values) => ({ Values }))) }
  return { head: '(index)', rows: Object.entries(given) }
}

function drawn(table: readonly (readonly string[])[]): string {
  const count = table[0]?.length ?? 0
  const widths = Array.from({ length: count }, (_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)) + 2)
  const rule = (left: string, middle: string, right: string) =>
    left + widths.map((width) => '─'.repeat(width)).join(middle) + right
  const [head = '', ...rows] = table.map(
    (row) => `│${row.map((cell, i) => ` ${cell}`.padEnd(widths[i] ?? 0)).join('│')}│`,
  )
  return [rule('┌', '┬', '┐'), head, rule('├', '┼', '┤'), ...rows, rule('└', '┴', '┘')].join('\n')
}
