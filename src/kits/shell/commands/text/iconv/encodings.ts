// The encodings of `iconv`: those of Unicode are implemented here, all others use the runtime's tables.

import { textToBytes } from '../../../../../workspace/text-encodings.ts'
import { isGap } from './gaps.ts'

export interface Encoding {
  /** The next character and its number of bytes; 0 for invalid bytes, -1 for an incomplete character. */
  read: (bytes: string, at: number) => DecodedChar
  /** Null for a character that the encoding does not have. */
  write: (code: number) => string | null
  /** The mark at the start of the output. */
  mark: string
}

export interface DecodedChar {
  code: number
  length: number
}

const ILLEGAL: DecodedChar = { code: 0, length: 0 }
const INCOMPLETE: DecodedChar = { code: 0, length: -1 }

const ALIASES: Readonly<Record<string, string>> = {
  646: 'ASCII',
  866: 'ibm866',
  ANSIX341968: 'ASCII',
  CP1252: 'windows-1252',
  CP1251: 'windows-1251',
  CP1250: 'windows-1250',
  CP866: 'ibm866',
  CP936: 'gbk',
  GBK: 'gbk',
  EUCKR: 'euc-kr',
  IBM866: 'ibm866',
  ISO646US: 'ASCII',
  ISO88591: 'LATIN1',
  ISO88592: 'iso-8859-2',
  ISO88595: 'iso-8859-5',
  ISO88597: 'iso-8859-7',
  ISO885915: 'iso-8859-15',
  KOI8R: 'koi8-r',
  L1: 'LATIN1',
  LATIN9: 'iso-8859-15',
  UCS2: 'UTF16NATIVE',
  UCS4: 'UTF32BE',
  USASCII: 'ASCII',
  WINDOWS1250: 'windows-1250',
  WINDOWS1251: 'windows-1251',
  WINDOWS1252: 'windows-1252',
}
const OF_TWO_BYTES = new Set(['gbk', 'euc-kr'])

/** Null for an unknown name. */
export function encodingOf(name: string): Encoding | null {
  const plain = name.toUpperCase().replace(/[^A-Z0-9]/g, '')
  const known = ALIASES[plain] ?? plain
  switch (known) {
    case 'UTF8':
      return UTF8
    case 'ASCII':
      return limited(0x80)
    case 'LATIN1':
      return limited(0x100)
    case 'UTF16':
      return marked(2)
    case 'UTF32':
      return marked(4)
    case 'UTF16LE':
    case 'UTF16NATIVE':
      return units(2, true)
    case 'UTF16BE':
      return units(2, false)
    case 'UTF32LE':
      return units(4, true)
    case 'UTF32BE':
      return units(4, false)
    default:
      return known === plain ? null : tabled(known)
  }
}

function limited(end: number): Encoding {
  return {
    read: (bytes, at) => {
      const code = bytes.charCodeAt(at)
      return code < end ? { code, length: 1 } : ILLEGAL
    },
    write: (code) => (code < end ? String.fromCharCode(code) : null),
    mark: '',
  }
}

const UTF8: Encoding = { read: readUtf8, write: writeUtf8, mark: '' }

function readUtf8(bytes: string, at: number): DecodedChar {
  const first = bytes.charCodeAt(at)
  if (first < 0x80) return { code: first, length: 1 }
  const length =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0
  if (length === 0) return ILLEGAL
  let code = first & (0x7f >> length)
  for (let i = 1; i < length; i++) {
    if (at + i >= bytes.length) return INCOMPLETE
    const next = bytes.charCodeAt(at + i)
    if ((next & 0xc0) !== 0x80) return ILLEGAL
    code = (code << 6) | (next & 0x3f)
  }
  const isTooLong = (length === 3 && code < 0x800) || (length === 4 && code < 0x10000)
  return isTooLong || isSurrogate(code) || code > 0x10ffff ? ILLEGAL : { code, length }
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xe000
}

function writeUtf8(code: number): string {
  if (code < 0x80) return String.fromCharCode(code)
  const last = String.fromCharCode(0x80 | (code & 0x3f))
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6)) + last
  const third = String.fromCharCode(0x80 | ((code >> 6) & 0x3f)) + last
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12)) + third
  return String.fromCharCode(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f)) + third
}

/** UTF-16 and UTF-32 by units, in one byte order. */
function units(size: 2 | 4, isLittle: boolean): Encoding {
  const unitAt = (bytes: string, at: number) => {
    let unit = 0
    for (let i = 0; i < size; i++) unit = unit * 256 + bytes.charCodeAt(at + (isLittle ? size - 1 - i : i))
    return unit
  }
  const unitText = (unit: number) => {
    const [low, high] = [unit & 0xff, (unit >> 8) & 0xff]
    if (size === 2) return isLittle ? String.fromCharCode(low, high) : String.fromCharCode(high, low)
    const third = (unit >> 16) & 0xff
    return isLittle ? String.fromCharCode(low, high, third, 0) : String.fromCharCode(0, third, high, low)
  }
  return {
    read: (bytes, at) => {
      if (at + size > bytes.length) return INCOMPLETE
      const unit = unitAt(bytes, at)
      if (size === 4 || !isSurrogate(unit))
        return unit > 0x10ffff || isSurrogate(unit) ? ILLEGAL : { code: unit, length: size }
      if (unit >= 0xdc00) return ILLEGAL
      if (at + 4 > bytes.length) return INCOMPLETE
      const low = unitAt(bytes, at + 2)
      const isPair = low >= 0xdc00 && low < 0xe000
      return isPair ? { code: 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), length: 4 } : ILLEGAL
    },
    write: (code) => {
      if (size === 4 || code < 0x10000) return unitText(code)
      return unitText(0xd800 + ((code - 0x10000) >> 10)) + unitText(0xdc00 + ((code - 0x10000) & 0x3ff))
    },
    mark: '',
  }
}

/** A mark at the beginning determines the byte order; without one it is that of this machine. */
function marked(size: 2 | 4): Encoding {
  const [little, big] = [units(size, true), units(size, false)]
  const [littleMark, bigMark] = [little.write(0xfeff) ?? '', big.write(0xfeff) ?? '']
  return {
    read: (bytes, at) => {
      const isBig = bytes.startsWith(bigMark)
      if (at === 0 && (isBig || bytes.startsWith(littleMark))) return { code: -1, length: size }
      return (isBig ? big : little).read(bytes, at)
    },
    write: little.write,
    mark: littleMark,
  }
}

function tabled(label: string): Encoding {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
  const codes = new Map<string, number>()
  const bytes = new Map<number, string>()
  const add = (key: string) => {
    const code = label === 'gbk' && key.length === 2 && isGap(key) ? null : decodedBy(decoder, key)
    // The runtime's tables have control characters in some gaps, and private use characters where they have more than
    // the encoding.
    const isPrivate = code !== null && code >= 0xe000 && code < 0xf900
    if (code === null || isPrivate || (label.startsWith('windows-') && code >= 0x80 && code < 0xa0)) return
    codes.set(key, code)
    if (!bytes.has(code)) bytes.set(code, key)
  }
  for (let byte = 0; byte < 256; byte++) add(String.fromCharCode(byte))
  if (OF_TWO_BYTES.has(label)) {
    const [first, trails] = label === 'gbk' ? [0x81, 0x40] : [0xa1, 0xa1]
    if (label === 'euc-kr') {
      // Newer than the runtime's table.
      for (const [key, code] of NEWER_KOREAN) {
        codes.set(key, code)
        bytes.set(code, key)
      }
    }
    for (let lead = first; lead < 0xff; lead++) {
      for (let trail = trails; trail < 0xff; trail++) add(String.fromCharCode(lead, trail))
    }
  }
  return { read: tableReader(codes, OF_TWO_BYTES.has(label)), write: (code) => bytes.get(code) ?? null, mark: '' }
}

const NEWER_KOREAN = [
  ['\xa2\xe6', 0x20ac],
  ['\xa2\xe7', 0xae],
  ['\xa2\xe8', 0x327e],
] as const

function tableReader(codes: ReadonlyMap<string, number>, hasPairs: boolean): Encoding['read'] {
  return (bytes, at) => {
    const single = codes.get(bytes.charAt(at))
    if (single !== undefined) return { code: single, length: 1 }
    if (!hasPairs) return ILLEGAL
    if (at + 1 >= bytes.length) return INCOMPLETE
    const pair = codes.get(bytes.slice(at, at + 2))
    return pair === undefined ? ILLEGAL : { code: pair, length: 2 }
  }
}

/** Null for bytes that are not exactly one character. */
function decodedBy(decoder: TextDecoder, key: string): number | null {
  try {
    const chars = [...decoder.decode(textToBytes(key, 'latin1'))]
    return chars.length === 1 ? (chars[0]?.codePointAt(0) ?? null) : null
  } catch (error) {
    // The decoder throws for invalid bytes; this is an expected result.
    if (error instanceof TypeError) return null
    throw error
  }
}
