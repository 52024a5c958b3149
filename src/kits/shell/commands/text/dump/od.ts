// `od`: shows the bytes of files as numbers or characters.

import { textToBytes } from '../../../../../workspace/text-encodings.ts'
import { sizeOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { printable, type Type, typesOf } from './od-types.ts'

const OPTIONS =
  optionTable(`address-radix=A: endian: skip-bytes=j: read-bytes=N: format=t: output-duplicates=v width=w::
  a b c d e f h i l o s x B D F H I L O X`)

/** The meaning of the traditional letters. */
const OLD: Readonly<Record<string, string>> = {
  a: 'a',
  b: 'o1',
  c: 'c',
  d: 'u2',
  f: 'fF',
  i: 'dI',
  l: 'dL',
  o: 'o2',
  s: 'd2',
  x: 'x2',
  h: 'x2',
  e: 'fD',
  I: 'dL',
  B: 'o2',
  D: 'u4',
  F: 'fD',
  H: 'x4',
  L: 'dL',
  O: 'o4',
  X: 'x4',
}
const RADIX: Readonly<Record<string, number>> = { d: 10, o: 8, x: 16 }
const ADDRESS_WIDTH = 7
const HEX_ADDRESS_WIDTH = 6
const USUAL_WIDTH = 16
const WIDE = 32
const LINES_AT_ONCE = 1000

interface Format {
  types: Type[]
  width: number
  /** The columns of all fields of a line, for every type. */
  columns: number
  address: (at: number) => string
}

export async function od(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const format = formatOf(call, given)
  const bytes = await bytesIn(call, given)
  if (bytes === null) return
  const { address } = format
  const keepsDuplicates = given.has('v')
  const start = Number(given.has('j') ? sizeGiven(given, 'j') : 0)
  let [before, isStarred]: [Uint8Array | null, boolean] = [null, false]
  for (let at = 0, line = 0; at < bytes.length; at += format.width, line++) {
    const block = bytes.subarray(at, at + format.width)
    if (line % LINES_AT_ONCE === 0) await call.pause()
    if (!keepsDuplicates && before && block.length === format.width && isSame(before, block)) {
      if (!isStarred) call.write('*\n')
      isStarred = true
      continue
    }
    isStarred = false
    before = block
    call.write(linesFor(block, address(start + at), format))
  }
  const end = address(start + bytes.length)
  if (end !== '') call.write(`${end}\n`)
}

function formatOf(call: TextCall, given: GivenOptions): Format {
  const endian = given.value('endian') ?? 'little'
  if (!['little', 'big'].includes(endian))
    throw new Misuse(`invalid argument ${curly(endian)} for ${curly('--endian')}`)
  const types: Type[] = []
  for (const { name, value } of given.list) {
    const text = name === 't' ? value : OLD[name]
    if (text != null) types.push(...typesOf(text, endian === 'little'))
  }
  if (types.length === 0) types.push(...typesOf('o2', endian === 'little'))
  const unit = Math.max(...types.map(({ size }) => size))
  const columns = Math.max(...types.map(({ size, width }) => (width + 1) * (unit / size)))
  const width = widthOf(call, given, unit)
  return { types, width, columns: columns * (width / unit), address: addressOf(given.value('A') ?? 'o') }
}

function widthOf(call: TextCall, given: GivenOptions, unit: number): number {
  if (!given.has('w')) return Math.max(USUAL_WIDTH, unit)
  const width = sizeGiven(given, 'w') ?? WIDE
  if (width > 0 && width % unit === 0) return width
  call.complain(`warning: invalid width ${width}; using ${unit} instead`, 0)
  return unit
}

function addressOf(radix: string): Format['address'] {
  if (radix === 'n') return () => ''
  const base = RADIX[radix]
  if (base === undefined) {
    throw refusal(`invalid output address radix '${radix}'; it must be one character from [doxn]`)
  }
  const width = radix === 'x' ? HEX_ADDRESS_WIDTH : ADDRESS_WIDTH
  return (at) => at.toString(base).padStart(width, '0')
}

function sizeGiven(given: GivenOptions, letter: string): number | undefined {
  const text = given.value(letter)
  if (text === undefined) return undefined
  const size = /^0x[\da-f]+$/i.test(text) ? Number(text) : /^0\d+$/.test(text) ? Number.parseInt(text, 8) : sizeOf(text)
  if (size === null) throw refusal(`invalid -${letter} argument '${text}'`)
  return size
}

async function bytesIn(call: TextCall, given: GivenOptions): Promise<Uint8Array | null> {
  const names = given.operands.length > 0 ? given.operands : ['-']
  const read: string[] = []
  for (const name of names) {
    const bytes = await call.input(name)
    if (bytes !== null) read.push(bytes)
  }
  if (read.length === 0) return null
  const all = read.join('')
  const skipped = sizeGiven(given, 'j') ?? 0
  if (skipped > all.length) throw refusal('cannot skip past end of combined input')
  const length = sizeGiven(given, 'N') ?? all.length
  return textToBytes(all.slice(skipped, skipped + length), 'latin1')
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

function linesFor(block: Uint8Array, address: string, { types, width, columns }: Format): string {
  const padded = new Uint8Array(width)
  padded.set(block)
  const view = new DataView(padded.buffer)
  let text = ''
  for (const [i, type] of types.entries()) {
    const fields = width / type.size
    const filled = Math.ceil(block.length / type.size)
    let line = i === 0 ? address : ' '.repeat(address.length)
    // The additional columns are distributed between the fields.
    const spare = columns - type.width * fields
    let left = spare
    for (let field = 0; field < fields; field++) {
      const next = Math.floor((spare * (fields - field - 1)) / fields)
      const room = left - next + type.width
      left = next
      if (field < filled) line += type.field(view, field * type.size).padStart(room)
      else if (type.showsText) line += ' '.repeat(room)
    }
    text += `${line}${type.showsText ? `  >${printable(block)}<` : ''}\n`
  }
  return text
}
