// `fold`: cuts long lines to a width.

import type { TextCall } from './call.ts'
import { curly, refusal } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('bytes=b spaces=s width=w:')
const WIDTH = 80
const TAB = 8

interface Folding {
  width: number
  countsBytes: boolean
  atSpaces: boolean
}

export async function fold(call: TextCall): Promise<void> {
  const given = readOptions(
    call.args.map((arg) => (/^-\d+$/.test(arg) ? `-w${arg.slice(1)}` : arg)),
    OPTIONS,
  )
  const widths = given.list.filter(({ name }) => name === 'w').map(({ value }) => value ?? '')
  const wrong = widths.find((one) => !/^0*[1-9]\d*$/.test(one))
  if (wrong !== undefined) {
    throw refusal(
      `invalid number of columns: ${curly(wrong)}${/^0+$/.test(wrong) ? ': Numerical result out of range' : ''}`,
    )
  }
  const text = widths.at(-1) ?? String(WIDTH)
  const folding = { width: Number(text), countsBytes: given.has('b'), atSpaces: given.has('s') }
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name)
    if (bytes === null) continue
    call.write(
      bytes
        .split('\n')
        .map((line) => folded(line, folding))
        .join('\n'),
    )
    await call.pause()
  }
}

/** Columns are bytes, except characters that move a terminal's cursor. */
function folded(line: string, { width, countsBytes, atSpaces }: Folding): string {
  if (line.length <= width && (countsBytes || !line.includes('\t'))) return line
  const lines: string[] = []
  let [start, column] = [0, 0]
  for (let at = 0; at < line.length; at++) {
    const next = countsBytes ? column + 1 : moved(column, line.charCodeAt(at))
    if (next <= width || at === start) {
      column = next
      continue
    }
    const space = atSpaces ? lastBlank(line, start, at) : -1
    const to = space < 0 ? at : space + 1
    lines.push(line.slice(start, to))
    start = to
    column = 0
    // The carried-over part is counted again on its new line.
    at = to - 1
  }
  lines.push(line.slice(start))
  return lines.join('\n')
}

function lastBlank(line: string, from: number, to: number): number {
  for (let at = to - 1; at >= from; at--) if (line[at] === ' ' || line[at] === '\t') return at
  return -1
}

function moved(column: number, code: number): number {
  if (code === 8) return Math.max(0, column - 1)
  if (code === 13) return 0
  return code === 9 ? column + TAB - (column % TAB) : column + 1
}
