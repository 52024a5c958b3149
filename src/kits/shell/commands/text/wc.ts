// `wc`: counts lines, words, characters and bytes.

import { shellMessage } from '../../interpreter-command.ts'
import { countChars, textOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'
import { columnsOf } from './width.ts'

const OPTIONS = optionTable('lines=l words=w bytes=c chars=m max-line-length=L files0-from:')

/** In the order of the columns, whatever the order of the options. */
const KINDS = ['l', 'w', 'm', 'c', 'L'] as const
type Kind = (typeof KINDS)[number]
type Counts = Record<Kind, number>

/** If the sizes of the inputs are unknown in advance. */
const UNKNOWN_WIDTH = 7
const TAB = 8

interface Counted {
  name: string | null
  counts: Counts
}

export async function wc(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const chosen = KINDS.filter((kind) => given.has(kind))
  const kinds: Kind[] = chosen.length > 0 ? chosen : ['l', 'w', 'c']
  const names = await namesOf(call, given.value('files0-from'), given.operands)
  const files = names ?? [null]
  const counted: Counted[] = []
  const total: Counts = { l: 0, w: 0, m: 0, c: 0, L: 0 }
  const width = given.has('files0-from') ? 1 : await widthOf(call, files, kinds.length)
  for (const name of files) {
    const bytes = await counting(call, name ?? '-')
    if (bytes === null) continue
    const counts = countsOf(bytes, kinds)
    if (call.isByteLocale) counts.m = bytes.length
    for (const kind of KINDS) total[kind] = kind === 'L' ? Math.max(total.L, counts.L) : total[kind] + counts[kind]
    counted.push({ name, counts })
    await call.pause()
  }
  if (files.length > 1) counted.push({ name: 'total', counts: total })
  for (const { name, counts } of counted) {
    const columns = kinds.map((kind) => String(counts[kind]).padStart(width)).join(' ')
    call.writeText(name === null ? `${columns}\n` : `${columns} ${name}\n`)
  }
}

async function namesOf(call: TextCall, list: string | undefined, operands: string[]): Promise<string[] | null> {
  if (list === undefined) return operands.length > 0 ? operands : null
  if (operands.length > 0) {
    throw new Misuse(`extra operand ${curly(operands[0] ?? '')}\nfile operands cannot be combined with --files0-from`)
  }
  const names = await call.mustRead(list, (reason) => `cannot open '${list}' for reading: ${reason}`)
  return textOf(names)
    .split('\0')
    .filter((name) => name !== '')
}

/** A folder is reported and then counted as empty. */
async function counting(call: TextCall, name: string): Promise<string | null> {
  try {
    return await call.read(name)
  } catch (error) {
    const reason = shellMessage(error)
    call.complain(`${name}: ${reason}`)
    return reason === 'Is a directory' ? '' : null
  }
}

/** The numbers are as wide as the total size of all files; a single number of one input is not padded. */
async function widthOf(call: TextCall, files: readonly (string | null)[], kinds: number): Promise<number> {
  if (files.length === 1 && kinds === 1) return 1
  let [width, size] = [1, 0]
  for (const name of files) {
    const path = name === null || name === '-' ? null : call.path(name)
    if (path === null && call.readsFile) size += call.stdin.length
    else if (path === null) width = UNKNOWN_WIDTH
    else if (path.startsWith('/dev/')) width = UNKNOWN_WIDTH
    else if (await call.context.fs.exists(path)) {
      const stat = await call.context.fs.stat(path)
      if (stat.isFile) size += stat.size
      else width = UNKNOWN_WIDTH
    }
  }
  return Math.max(width, String(size).length)
}

/** Unprintable characters and invalid bytes do not form words. */
const SHOWN = /[^\p{Cc}\p{Cn}\ufffd]/u
const WORD = /[^\s\x85\xa0]+/g

function countsOf(bytes: string, kinds: readonly Kind[]): Counts {
  const counts: Counts = { l: 0, w: 0, m: 0, c: bytes.length, L: 0 }
  if (kinds.includes('l')) {
    for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1)) counts.l++
  }
  if (kinds.includes('w'))
    counts.w =
      textOf(bytes)
        .match(WORD)
        ?.filter((word) => SHOWN.test(word)).length ?? 0
  if (kinds.includes('m')) counts.m = countChars(bytes)
  if (kinds.includes('L')) counts.L = longestLine(textOf(bytes).replaceAll('\ufffd', ''))
  return counts
}

function longestLine(text: string): number {
  let longest = 0
  for (const line of text.split(/[\n\r\f]/)) {
    if (line.length * 2 < longest && !line.includes('\t')) continue
    const parts = line.split('\t')
    let width = 0
    for (const [i, part] of parts.entries()) {
      if (i > 0) width += TAB - (width % TAB)
      width += columnsOf(part)
    }
    longest = Math.max(longest, width)
  }
  return longest
}
