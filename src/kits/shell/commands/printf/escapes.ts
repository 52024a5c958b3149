// Backslash escapes in the format of `printf` and in arguments of `%b`, like in bash. Texts are bytes, one character
// each.

import { bytesOf } from '../text/bytes.ts'

export interface Escape {
  bytes: string
  /** The length of the text, including the backslash. */
  length: number
  /** `\c` in an argument: nothing more is written. */
  isEnd?: boolean
  complaint?: string
}

const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\' },
}
const UNICODE_DIGITS: Readonly<Record<string, number>> = { u: 4, U: 8 }

/** The escape that starts with the backslash at this position. */
export function escapeAt(text: string, at: number, isArgument: boolean): Escape {
  const letter = text.charAt(at + 1)
  const plain = LETTERS[letter]
  if (plain !== undefined) return { bytes: plain, length: 2 }
  if (/[0-7]/.test(letter)) return octal(text, at, isArgument && letter === '0' ? 4 : 3)
  if (letter === 'x') return hexadecimal(text, at)
  if (letter === 'u' || letter === 'U') return unicode(text, at, letter)
  if (letter === 'c' && isArgument) return { bytes: '', length: 2, isEnd: true }
  // In an argument a single quote keeps its backslash.
  if (letter === '"' || (!isArgument && (letter === "'" || letter === '?'))) return { bytes: letter, length: 2 }
  return { bytes: '\\', length: 1 }
}

function octal(text: string, at: number, most: number): Escape {
  const digits = /^[0-7]+/.exec(text.slice(at + 1, at + 1 + most))?.[0] ?? ''
  return { bytes: String.fromCharCode(Number.parseInt(digits, 8) & 0xff), length: 1 + digits.length }
}

function hexadecimal(text: string, at: number): Escape {
  const digits = /^[\da-fA-F]{1,2}/.exec(text.slice(at + 2, at + 4))?.[0]
  if (digits === undefined) return { bytes: '\\x', length: 2, complaint: 'missing hex digit for \\x' }
  return { bytes: String.fromCharCode(Number.parseInt(digits, 16)), length: 2 + digits.length }
}

function unicode(text: string, at: number, letter: 'u' | 'U'): Escape {
  const most = UNICODE_DIGITS[letter] ?? 0
  const digits = /^[\da-fA-F]+/.exec(text.slice(at + 2, at + 2 + most))?.[0]
  if (digits === undefined)
    return { bytes: `\\${letter}`, length: 2, complaint: `missing unicode digit for \\${letter}` }
  return { bytes: utf8(Number.parseInt(digits, 16)), length: 2 + digits.length }
}

/** Surrogates become bytes like any other number, as in bash; numbers beyond Unicode produce nothing. */
function utf8(code: number): string {
  if (code >= 0xd800 && code <= 0xdfff) {
    return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
  }
  return code > 0x10ffff ? '' : bytesOf(String.fromCodePoint(code))
}

/** The output of `%b`. */
export function expanded(text: string): { bytes: string; isEnd: boolean; complaints: string[] } {
  const complaints: string[] = []
  let bytes = ''
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\\', at)
    if (next < 0) return { bytes: bytes + text.slice(at), isEnd: false, complaints }
    const found = escapeAt(text, next, true)
    bytes += text.slice(at, next) + found.bytes
    if (found.complaint !== undefined) complaints.push(found.complaint)
    if (found.isEnd) return { bytes, isEnd: true, complaints }
    at = next + found.length
  }
  return { bytes, isEnd: false, complaints }
}
