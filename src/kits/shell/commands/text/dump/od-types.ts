// The output types of `od`: `x1`, `d4`, `c`, `f8z` as functions from bytes to a field with a fixed width.

import { bytesToText } from '../../../../../workspace/text-encodings.ts'
import { curly, refusal } from '../misuse.ts'

export interface Type {
  size: number
  width: number
  field: (view: DataView, at: number) => string
  /** `z`: the characters follow at the end of the line. */
  showsText: boolean
}

const NAMES =
  'nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp'.split(
    ' ',
  )
const ESCAPES: Readonly<Record<number, string>> = {
  0: '\\0',
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
}
const SIZES: Readonly<Record<string, number>> = { C: 1, S: 2, I: 4, L: 8 }
const FLOAT_SIZES: Readonly<Record<string, number>> = { F: 4, D: 8 }
/** The digits of the largest numbers of 1, 2, 4 and 8 bytes. */
const WIDTHS: Readonly<Record<string, readonly number[]>> = {
  d: [4, 6, 11, 20],
  o: [3, 6, 11, 22],
  u: [3, 5, 10, 20],
  x: [2, 4, 8, 16],
}
const RADIX: Readonly<Record<string, number>> = { d: 10, o: 8, u: 10, x: 16 }

export function typesOf(text: string, isLittleEndian: boolean): Type[] {
  const types: Type[] = []
  let rest = text
  while (rest !== '') {
    const [whole = '', letter = '', size = '', z = ''] = /^([acdfoux])((?:\d+|[CSILFD])?)(z?)/.exec(rest) ?? []
    if (whole === '') throw refusal(`invalid character '${rest.charAt(0)}' in type string ${curly(text)}`)
    // Characters have no size, so the following characters are another type.
    const hasSize = letter !== 'a' && letter !== 'c'
    if (!hasSize && size !== '') throw refusal(`invalid character '${size.charAt(0)}' in type string ${curly(text)}`)
    types.push({ ...remembered(typeOf(letter, size, { text, isLittleEndian })), showsText: z === 'z' })
    rest = rest.slice(whole.length)
  }
  return types
}

/** A byte has few values, so their texts are computed once. */
function remembered(type: Omit<Type, 'showsText'>): Omit<Type, 'showsText'> {
  if (type.size !== 1) return type
  const view = new DataView(Uint8Array.from({ length: 256 }, (_, byte) => byte).buffer)
  const fields = Array.from({ length: 256 }, (_, byte) => type.field(view, byte))
  return { ...type, field: (bytes, at) => fields[bytes.getUint8(at)] ?? '' }
}

type Reading = { text: string; isLittleEndian: boolean }

function typeOf(letter: string, size: string, { text, isLittleEndian }: Reading): Omit<Type, 'showsText'> {
  if (letter === 'a') return { size: 1, width: 3, field: (view, at) => named(view.getUint8(at)) }
  if (letter === 'c') return { size: 1, width: 3, field: (view, at) => escaped(view.getUint8(at)) }
  if (letter === 'f') return floatType(size, { text, isLittleEndian })
  const bytes = size === '' ? 4 : (SIZES[size] ?? Number(size))
  const step = [1, 2, 4, 8].indexOf(bytes)
  if (step < 0) {
    throw refusal(`invalid type string ${curly(text)};\nthis system doesn't provide a ${size}-byte integral type`)
  }
  const [width, radix] = [WIDTHS[letter]?.[step] ?? 0, RADIX[letter] ?? 10]
  const pads = letter === 'o' || letter === 'x'
  const read = reader(bytes, letter === 'd', isLittleEndian)
  return {
    size: bytes,
    width,
    field: (view, at) => (pads ? read(view, at).toString(radix).padStart(width, '0') : read(view, at).toString(radix)),
  }
}

function reader(bytes: number, isSigned: boolean, little: boolean): (view: DataView, at: number) => number | bigint {
  if (bytes === 1) return isSigned ? (view, at) => view.getInt8(at) : (view, at) => view.getUint8(at)
  if (bytes === 2) return isSigned ? (view, at) => view.getInt16(at, little) : (view, at) => view.getUint16(at, little)
  if (bytes === 4) return isSigned ? (view, at) => view.getInt32(at, little) : (view, at) => view.getUint32(at, little)
  return isSigned ? (view, at) => view.getBigInt64(at, little) : (view, at) => view.getBigUint64(at, little)
}

function floatType(size: string, { text, isLittleEndian }: Reading): Omit<Type, 'showsText'> {
  const bytes = size === '' ? 8 : (FLOAT_SIZES[size] ?? Number(size))
  if (bytes === 4)
    return { size: 4, width: 15, field: (view, at) => shortest(view.getFloat32(at, isLittleEndian), true) }
  if (bytes === 8)
    return { size: 8, width: 24, field: (view, at) => shortest(view.getFloat64(at, isLittleEndian), false) }
  if (bytes === 16 || size === 'L') throw refusal(`numbers of type ${curly(text)} are not available here`)
  throw refusal(`invalid type string ${curly(text)};\nthis system doesn't provide a ${size}-byte floating point type`)
}

/** The fewest digits that distinguish the number from its neighbors. */
function shortest(value: number, isSingle: boolean): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  // The smallest numbers have fewer digits than all others.
  const isTiny = Math.abs(value) < (isSingle ? 2 ** -126 : 2 ** -1022)
  for (let digits = isTiny ? 1 : isSingle ? 6 : 15; ; digits++) {
    const text = value.toExponential(digits - 1)
    const back = isSingle ? Math.fround(Number(text)) : Number(text)
    if (back === value || digits >= 17) return general(text, digits)
  }
}

/** Like `%.{digits}g`. */
function general(exponential: string, digits: number): string {
  const [mantissa = '', power = '0'] = exponential.split('e')
  const exponent = Number(power)
  const trim = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
  if (exponent >= -4 && exponent < digits) return trim(Number(exponential).toFixed(Math.max(0, digits - 1 - exponent)))
  const size = String(Math.abs(exponent)).padStart(2, '0')
  return `${trim(mantissa)}e${exponent < 0 ? '-' : '+'}${size}`
}

function named(byte: number): string {
  const code = byte & 0x7f
  return code === 127 ? 'del' : (NAMES[code] ?? String.fromCharCode(code))
}

function escaped(byte: number): string {
  const known = ESCAPES[byte]
  if (known !== undefined) return known
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : byte.toString(8).padStart(3, '0')
}

/** The bytes as text with one column for each. */
export function printable(bytes: Uint8Array): string {
  return bytesToText(bytes, 'latin1').replace(/[^ -~]/g, '.')
}

/** Two hexadecimal digits for each byte. */
export const HEX_BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
