// `column`: lines as a table, or in columns that fill the line.

import { bytesOf, linesOf, textOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { columnsOf } from '../width.ts'
import { tableText } from './table.ts'

const OPTIONS = optionTable(`table=t separator=s: output-separator=o: output-width=c: columns=c: table-columns=N:
  table-right=R: table-hide=H: table-noheadings=d table-columns-limit=l: json=J table-name=n: fillrows=x
  keep-empty-lines=L`)

const WIDTH = 80
const TAB = 8

export async function column(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  checkOptions(given)
  const lines: string[] = []
  let missing = 0
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name, (reason) => `${name}: ${reason}`)
    if (bytes === null) {
      missing++
      continue
    }
    const all = linesOf(bytes).map(textOf)
    for (const line of all) if (given.has('L') || /[^ \t]/.test(line)) lines.push(line)
  }
  // One more for each file that cannot be read.
  call.exitCode = missing
  if (missing > 0 && lines.length === 0) return
  if (given.has('t') || given.has('J')) call.write(bytesOf(tableText(lines, given)))
  else call.write(bytesOf(sideBySide(lines, given, widthOf(call, given))))
}

function checkOptions(given: GivenOptions): void {
  const limit = given.value('l')
  if (limit !== undefined && !/^\d+$/.test(limit)) throw refusal(`invalid columns limit argument: '${limit}'`)
  if (limit !== undefined && Number(limit) === 0) throw refusal('columns limit must be greater than zero')
  const width = given.value('c')
  if (width !== undefined && width !== 'unlimited' && !/^\d+$/.test(width)) {
    throw refusal(`invalid columns argument: '${width}'`)
  }
  if (given.has('t') && given.has('x')) throw refusal('mutually exclusive arguments: --table --fillrows')
  const isTable = given.has('t') || given.has('J')
  if (!isTable && [...'NRHn'].some((name) => given.has(name))) {
    throw refusal('option --table required for all --table-*')
  }
}

function widthOf(call: TextCall, given: GivenOptions): number {
  const text = given.value('c') ?? call.context.exportedEnv?.COLUMNS ?? String(WIDTH)
  if (text === 'unlimited') return Infinity
  if (!/^\d+$/.test(text)) throw refusal(`invalid columns argument: '${text}'`)
  return Number(text)
}

/** Columns as wide as the longest line and a tab. */
function sideBySide(lines: readonly string[], given: GivenOptions, width: number): string {
  const longest = lines.reduce((most, line) => Math.max(most, columnsOf(line)), 0)
  const room = Math.floor((longest + TAB) / TAB) * TAB
  if (room >= width) return lines.map((line) => `${line}\n`).join('')
  const columns = Math.max(1, Math.floor(width / room))
  const rows = Math.ceil(lines.length / columns)
  const shown: string[] = []
  for (let row = 0; row < rows; row++) {
    const cells: string[] = []
    for (let column = 0; column < columns; column++) {
      const at = given.has('x') ? row * columns + column : column * rows + row
      if (at < lines.length) cells.push(lines[at] ?? '')
      else break
    }
    const isLast = (i: number) => i === cells.length - 1
    shown.push(cells.map((cell, i) => (isLast(i) ? cell : cell + tabsAfter(columnsOf(cell), room))).join(''))
  }
  return shown.map((line) => `${line}\n`).join('')
}

function tabsAfter(width: number, room: number): string {
  return '\t'.repeat(Math.ceil((room - width) / TAB))
}
