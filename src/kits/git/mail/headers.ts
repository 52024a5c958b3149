// Headers of mails: non-ASCII text encoded and decoded by RFC 2047, and long lines folded like in git.

import { textOf, utf8 } from '../bytes.ts'

const MAX_ENCODED = 76
const MAX_LINE = 78
const START = '=?UTF-8?q?'

type Use = 'text' | 'name'

/** The value after `used` characters of its line. */
export function headerValue(text: string, used: number, use: Use): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is no plain letter
  if (/[^\x01-\x7f]|=\?|\n/.test(text)) return encodedWords(text, used, use)
  const isSpecial = use === 'name' && /[()<>[\]:;@,."\\]/.test(text)
  const plain = isSpecial ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
  return folded(plain, used)
}

function encodedWords(text: string, used: number, use: Use): string {
  let shown = START
  let length = used + START.length
  for (const char of text) {
    const isPlain = use === 'name' ? /[A-Za-z0-9!*+\-/]/.test(char) : /[\x21-\x7e]/.test(char) && !/[=?_]/.test(char)
    const bytes = [...utf8(char)]
    const encoded = isPlain
      ? char
      : bytes.map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
    if (length + encoded.length + 2 > MAX_ENCODED) {
      shown += `?=\n ${START}`
      length = START.length + 1
    }
    shown += encoded
    length += encoded.length
  }
  return `${shown}?=`
}

/** A continuation line starts with a blank. */
function folded(text: string, used: number): string {
  let shown = ''
  let column = used
  for (const [i, word] of text.split(' ').entries()) {
    const isNext = i > 0 && column + 1 + word.length > MAX_LINE
    shown += i === 0 ? word : isNext ? `\n ${word}` : ` ${word}`
    column = i === 0 ? column + word.length : isNext ? 1 + word.length : column + 1 + word.length
  }
  return shown
}

export function decodedHeader(text: string): string {
  return text
    .replace(/(=\?[^?]+\?[qb]\?[^?]*\?=)\s+(?==\?[^?]+\?[qb]\?)/gi, '$1')
    .replace(/=\?([^?]+)\?([qb])\?([^?]*)\?=/gi, (_whole, charset: string, how: string, words: string) => {
      const bytes = how.toLowerCase() === 'b' ? bytesOfBase64(words) : bytesOfQuoted(words.replaceAll('_', ' '))
      return inCharset(bytes, charset)
    })
}

export function inCharset(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    // Text in an unknown character set is treated as UTF-8.
    return textOf(bytes)
  }
}

export function bytesOfBase64(text: string): Uint8Array {
  const clean = text.replace(/[^A-Za-z0-9+/]/g, '')
  return Uint8Array.from(atob(clean.slice(0, clean.length - (clean.length % 4 === 1 ? 1 : 0))), (char) =>
    char.charCodeAt(0),
  )
}

export function bytesOfQuoted(text: string): Uint8Array {
  const bytes: number[] = []
  for (let i = 0; i < text.length; i++) {
    const code = /^=([0-9A-Fa-f]{2})/.exec(text.slice(i, i + 3))?.[1]
    if (code !== undefined) {
      bytes.push(Number.parseInt(code, 16))
      i += 2
    } else if (!/^=\r?\n/.test(text.slice(i, i + 3))) bytes.push(...utf8(text[i] ?? ''))
    else i += text[i + 1] === '\r' ? 2 : 1
  }
  return Uint8Array.from(bytes)
}
