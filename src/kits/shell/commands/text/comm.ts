// `comm`: the common lines of two sorted files, and those of each one only.

import { bytesOf, linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('1 2 3 check-order nocheck-order output-delimiter: total zero-terminated=z')

export async function comm(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const [first, second, extra] = given.operands
  if (first === undefined) throw new Misuse('missing operand')
  if (second === undefined) throw new Misuse(`missing operand after ${curly(first)}`)
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const end = given.has('z') ? '\0' : '\n'
  const gap = bytesOf(given.value('output-delimiter') ?? '\t')
  const files = [linesOf(await call.mustRead(first), end), linesOf(await call.mustRead(second), end)] as const
  const shows = ['1', '2', '3'].map((column) => !given.has(column))
  const before = ['', shows[0] ? gap : '', (shows[0] ? gap : '') + (shows[1] ? gap : '')]
  const mode = given.has('check-order') ? 'always' : given.has('nocheck-order') ? 'never' : 'told'
  const compared = compare(files, mode === 'always')
  for (const [i, kind] of compared.kinds.entries()) {
    if (shows[kind]) call.write(`${before[kind]}${compared.lines[i]}${end}`)
  }
  if (given.has('total')) {
    const count = (column: number) => compared.kinds.filter((kind) => kind === column).length
    call.write(`${[count(0), count(1), count(2)].join(gap)}${gap}total${end}`)
  }
  const isUnpaired = compared.kinds.some((kind) => kind < 2)
  checkOrder(call, files, mode === 'told' && !isUnpaired ? 'never' : mode)
}

function compare(
  [a, b]: readonly [string[], string[]],
  stopsAtDisorder: boolean,
): { lines: string[]; kinds: number[] } {
  const found = { lines: [] as string[], kinds: [] as number[] }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i], b[j]]
    const kind = y === undefined ? 0 : x === undefined ? 1 : x < y ? 0 : x > y ? 1 : 2
    found.lines.push((kind === 1 ? y : x) ?? '')
    found.kinds.push(kind)
    if (kind !== 1) i++
    if (kind !== 0) j++
    const isDisordered = (lines: string[], at: number) => at > 0 && (lines[at] ?? '\uffff') < (lines[at - 1] ?? '')
    if (stopsAtDisorder && ((kind !== 1 && isDisordered(a, i)) || (kind !== 0 && isDisordered(b, j)))) break
  }
  return found
}

/** Unsorted files are compared as far as possible, and then reported. */
function checkOrder(call: TextCall, files: readonly string[][], when: 'always' | 'told' | 'never'): void {
  if (when === 'never') return
  for (const [i, lines] of files.entries()) {
    const isWrong = lines.some((line, at) => at > 0 && (lines[at - 1] ?? '') > line)
    if (isWrong) call.complain(`file ${i + 1} is not in sorted order`)
  }
  if (when === 'told' && call.exitCode !== 0) call.complain('input is not in sorted order')
}
