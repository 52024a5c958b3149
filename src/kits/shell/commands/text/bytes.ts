// Text commands process text as bytes in a string, one character per byte: such strings are compact, they compare like
// bytes, and invalid UTF-8 is preserved.

import { bytesToText, textToBytes } from '../../../../workspace/text-encodings.ts'
import { losslessBytes } from '../../lossless-text.ts'

const ABOVE_ASCII = /[^\0-\x7f]/
const ABOVE_BYTES = /[^\0-\xff]/
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** The bytes of a text. */
export function bytesOf(text: string): string {
  return ABOVE_ASCII.test(text) ? bytesToText(losslessBytes(text), 'latin1') : text
}

/** The text of the bytes; invalid UTF-8 becomes U+FFFD. */
export function textOf(bytes: string): string {
  return ABOVE_ASCII.test(bytes) ? decoder.decode(textToBytes(bytes, 'latin1')) : bytes
}

/** Piped input from the interpreter: usually bytes, sometimes with other characters among them. */
export function pipedBytes(piped: string): string {
  return ABOVE_BYTES.test(piped) ? bytesToText(textToBytes(piped, 'latin1'), 'latin1') : piped
}

/** Lines without their ends. A last line without an end counts, an end without a line after it does not. */
export function linesOf(bytes: string, end = '\n'): string[] {
  if (bytes === '') return []
  const lines = bytes.split(end)
  if (bytes.endsWith(end)) lines.pop()
  return lines
}

/** One character of UTF-8, with all its bytes. */
const UTF8_CHAR =
  '[\\0-\\x7f]|[\\xc2-\\xdf][\\x80-\\xbf]|\\xe0[\\xa0-\\xbf][\\x80-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}' +
  '|\\xed[\\x80-\\x9f][\\x80-\\xbf]|\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|[\\xf1-\\xf3][\\x80-\\xbf]{3}|\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}'
const WIDE_CHARS = new RegExp(UTF8_CHAR.slice(UTF8_CHAR.indexOf('|') + 1), 'g')
const CHARS_AND_BYTES = new RegExp(`${UTF8_CHAR}|[\\s\\S]`, 'g')

/** The number of characters; invalid bytes are not counted. */
export function countChars(bytes: string): number {
  if (!ABOVE_ASCII.test(bytes)) return bytes.length
  return (bytes.match(/[\0-\x7f]/g)?.length ?? 0) + (bytes.match(WIDE_CHARS)?.length ?? 0)
}

/** The characters, each with all its bytes; an invalid byte is one element. */
export function charsOf(bytes: string): string[] {
  return ABOVE_ASCII.test(bytes) ? (bytes.match(CHARS_AND_BYTES) ?? []) : bytes.split('')
}

const UNITS = 'KMGTPEZY'

/** `10`, `4K`, `2MB`, `1KiB` and `3b` like in GNU's commands; null for an invalid size. */
export function sizeOf(text: string): number | null {
  const [, digits, unit = '', kind = ''] = /^(\d+)(?:([KMGTPEZYkm])(iB|B|)|b)?$/.exec(text) ?? []
  if (digits === undefined) return null
  if (text.endsWith('b')) return Number(digits) * 512
  const power = unit === '' ? 0 : UNITS.indexOf(unit.toUpperCase()) + 1
  return Number(digits) * (kind === 'B' ? 1000 : 1024) ** power
}
