// `hexdump`: bytes in lines of sixteen.

import { textToBytes } from '../../../../../workspace/text-encodings.ts'
import type { TextCall } from '../call.ts'
import { refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { HEX_BYTES, printable, typesOf } from './od-types.ts'

const OPTIONS = optionTable(`one-byte-octal=b one-byte-char=c canonical=C two-bytes-decimal=d two-bytes-octal=o
  two-bytes-hex=x format=e: format-file=f: length=n: skip=s: no-squeezing=v`)
const WIDTH = 16
const LINES_AT_ONCE = 1000

interface Form {
  /** The bytes of one number. */
  size: number
  /** The width of a number including the blanks before it. */
  width: number
  field: (view: DataView, at: number) => string
}

const twoBytes = (type: string, width: number): Form => numbers(type, 2, width)
const FORMS: Readonly<Record<string, Form>> = {
  b: numbers('o1', 1, 4),
  c: numbers('c', 1, 4),
  d: { size: 2, width: 8, field: (view, at) => String(view.getUint16(at, true)).padStart(5, '0') },
  o: twoBytes('o2', 8),
  x: twoBytes('x2', 8),
  usual: twoBytes('x2', 5),
}

function numbers(type: string, size: number, width: number): Form {
  const field = typesOf(type, true)[0]?.field ?? (() => '')
  return { size, width, field }
}

export async function hexdump(call: TextCall): Promise<void> {
  // `hd` is the name for the canonical form.
  const given = readOptions(call.name === 'hd' ? ['-C', ...call.args] : call.args, OPTIONS)
  const own = given.lastOf('ef')
  if (own !== undefined) throw refusal(`option -${own}: formats of one's own are not available here; xxd and od -t are`)
  const kinds = given.list.map(({ name }) => name).filter((name) => 'bcCdox'.includes(name))
  const { bytes, start } = await bytesIn(call, given)
  let [before, isStarred] = ['', false]
  for (let at = 0, line = 0; at < bytes.length; at += WIDTH, line++) {
    if (line % LINES_AT_ONCE === 0) await call.pause()
    const block = bytes.subarray(at, at + WIDTH)
    const content = block.join()
    if (content === before && block.length === WIDTH && !given.has('v')) {
      if (!isStarred) call.write('*\n')
      isStarred = true
      continue
    }
    before = content
    isStarred = false
    for (const kind of kinds.length > 0 ? kinds : ['usual']) {
      call.write(kind === 'C' ? canonical(block, start + at) : formed(block, start + at, FORMS[kind]))
    }
  }
  // The last form determines the width of the last address.
  const isWide = kinds.at(-1) === 'C'
  if (bytes.length > 0) call.write(`${(start + bytes.length).toString(16).padStart(isWide ? 8 : 7, '0')}\n`)
}

async function bytesIn(call: TextCall, given: GivenOptions): Promise<{ bytes: Uint8Array; start: number }> {
  const read: string[] = []
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name)
    if (bytes !== null) read.push(bytes)
  }
  if (read.length === 0) throw refusal('all input file arguments failed')
  const all = read.join('')
  const start = numberOf(given, 's') ?? 0
  const length = numberOf(given, 'n') ?? all.length
  return { bytes: textToBytes(all.slice(start, start + length), 'latin1'), start: Math.min(start, all.length) }
}

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  b: 512,
  k: 1024,
  K: 1024,
  m: 1024 ** 2,
  M: 1024 ** 2,
  G: 1024 ** 3,
}

function numberOf(given: GivenOptions, letter: string): number | undefined {
  const text = given.value(letter)
  if (text === undefined) return undefined
  const [, digits = '', unit = ''] = /^(0x[\da-f]+|\d+)([bkKmMG]?)$/i.exec(text) ?? []
  if (digits === '')
    throw refusal(`failed to parse ${letter === 's' ? 'offset' : 'length'}: '${text}': Invalid argument`)
  const size = /^0\d/.test(digits) ? Number.parseInt(digits, 8) : Number(digits)
  return size * (FACTORS[unit] ?? 1)
}

function canonical(block: Uint8Array, at: number): string {
  const hex = Array.from(block, (byte) => HEX_BYTES[byte] ?? '')
  const half = hex.slice(0, 8).join(' ')
  const rest = hex.slice(8).join(' ')
  return `${at.toString(16).padStart(8, '0')}  ${`${half}${rest === '' ? '' : `  ${rest}`}`.padEnd(48)}  |${printable(block)}|\n`
}

function formed(block: Uint8Array, at: number, form: Form | undefined): string {
  if (!form) return ''
  const padded = new Uint8Array(WIDTH)
  padded.set(block)
  const view = new DataView(padded.buffer)
  let line = at.toString(16).padStart(7, '0')
  for (let i = 0; i < WIDTH; i += form.size) {
    line += (i < block.length ? form.field(view, i) : '').padStart(form.width)
  }
  return `${line}\n`
}
