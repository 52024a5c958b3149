// `diff3`: the differences of three versions of a file, and with `-m` the merge of two with the third as their base.

import { linesOf } from '../../../../../workspace/diff.ts'
import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { type Block, blocksOf } from './blocks.ts'

const OPTIONS = optionTable(`text=a show-all=A ed=e show-overlap=E easy-only=3 overlap-only=x X merge=m label=L:
  initial-tab=T strip-trailing-cr i`)
const SCRIPTS = 'AeEx3X'
const EXIT_TROUBLE = 2
const NO_END = '\\ No newline at end of file\n'

type Three<T> = readonly [T, T, T]

export async function diff3(call: TextCall): Promise<void> {
  call.misuseExit = EXIT_TROUBLE
  call.hintPrefix = 'diff3: '
  const given = readOptions(call.args, OPTIONS)
  const names = given.operands
  const kinds = [...SCRIPTS].filter((letter) => given.has(letter))
  if (kinds.length > 1) throw new Misuse('incompatible options')
  if (names.length < 3) throw new Misuse(`missing operand after '${names.at(-1) ?? 'diff3'}'`)
  if (names.length > 3) throw new Misuse(`extra operand '${names[3]}'`)
  const isMerge = given.has('m')
  if (kinds.length > 0 && !isMerge)
    throw refusal(`-${kinds[0]}: scripts for ed are not available here; use -m`, EXIT_TROUBLE)
  if (given.has('L') && !isMerge && kinds.length === 0) throw new Misuse('incompatible options')
  const labels = given.list.filter(({ name }) => name === 'L').map(({ value }) => value ?? '')
  if (labels.length > 3) throw new Misuse('too many file label options')
  const files = await readAll(call, names, given)
  const blocks = blocksOf(files, isMerge ? 1 : 2, (line) => line)
  if (!isMerge) return call.write(listed(blocks, files, given.has('T') ? '\t' : '  '))
  const called = names.map((name, i) => bytesOf(labels[i] ?? name)) as [string, string, string]
  merge(call, { blocks, files, called, kind: kinds[0] ?? 'A' })
}

async function readAll(call: TextCall, names: readonly string[], given: GivenOptions): Promise<Three<string[]>> {
  if (names.filter((name) => name === '-').length > 1)
    throw refusal("'-' specified for more than one input file", EXIT_TROUBLE)
  const files: string[][] = []
  for (const name of names) {
    const bytes = await call.mustRead(name, undefined, EXIT_TROUBLE)
    if (!given.has('a') && bytes.includes('\0'))
      throw refusal(`${name}: binary files are not compared here`, EXIT_TROUBLE)
    files.push(linesOf(given.has('strip-trailing-cr') ? bytes.replaceAll('\r\n', '\n') : bytes))
  }
  return files as [string[], string[], string[]]
}

/** All differences, each with the lines of the three. */
function listed(blocks: readonly Block[], files: Three<string[]>, indent: string): string {
  const parts: string[] = []
  for (const { odd, ranges } of blocks) {
    parts.push(`====${odd === null ? '' : odd + 1}\n`)
    // Lines that two of them share are shown once.
    const unshown = odd === null ? null : odd === 0 ? 1 : 0
    for (const i of odd === 1 ? ([0, 2, 1] as const) : ([0, 1, 2] as const)) {
      const { from, to } = ranges[i]
      parts.push(`${i + 1}:${to === from ? `${from}a` : to - from === 1 ? `${to}c` : `${from + 1},${to}c`}\n`)
      if (i === unshown) continue
      for (const line of files[i].slice(from, to)) parts.push(indent, line, line.endsWith('\n') ? '' : `\n${NO_END}`)
    }
  }
  return parts.join('')
}

type Merge = { blocks: readonly Block[]; files: Three<string[]>; called: Three<string>; kind: string }

function merge(call: TextCall, { blocks, files, called, kind }: Merge): void {
  const [mine, older, yours] = files
  const showsOlder = kind === 'A'
  const marks = kind === 'A' || kind === 'E'
  let at = 0
  for (const { odd, ranges } of blocks) {
    const [here, before, there] = ranges
    // The first one's own changes are already in place.
    if (odd === 0) continue
    if (odd === 2 && (kind === 'x' || kind === 'X')) continue
    if (odd === 1 && !showsOlder) continue
    if (odd === null && kind === '3') continue
    const isConflict = odd === 1 || (odd === null && marks)
    call.write(mine.slice(at, here.from).join(''))
    if (isConflict) {
      call.exitCode = 1
      if (odd === null) call.write(`<<<<<<< ${called[0]}\n${mine.slice(here.from, here.to).join('')}`)
      const mark = odd === null ? '|||||||' : '<<<<<<<'
      if (showsOlder) call.write(`${mark} ${called[1]}\n${older.slice(before.from, before.to).join('')}`)
      call.write('=======\n')
    }
    call.write(yours.slice(there.from, there.to).join(''))
    if (isConflict) call.write(`>>>>>>> ${called[2]}\n`)
    at = here.to
  }
  call.write(mine.slice(at).join(''))
}
