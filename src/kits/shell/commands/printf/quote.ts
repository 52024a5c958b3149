// `%q`: a word quoted for the shell.

import { bytesOf } from '../text/bytes.ts'

const UNPRINTABLE = /[\p{Cc}\p{Cn}\p{Cs}\u2028\u2029\ufffd]/u
const EACH_UNPRINTABLE = /[\p{Cc}\p{Cn}\p{Cs}\u2028\u2029\\']/gu
const SPECIAL = /[ !"$&'()*,;<>?[\\\]^`{|}]|^[#~]|(?<=[=:])~/g

const NAMED: Readonly<Record<string, string>> = {
  ...{ '\x07': '\\a', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r', '\x1b': '\\E' },
  ...{ '\\': '\\\\', "'": "\\'" },
}

export function shellQuoted(word: string): string {
  if (word === '') return "''"
  if (!UNPRINTABLE.test(word)) return word.replace(SPECIAL, '\\$&')
  const body = word.replace(EACH_UNPRINTABLE, (char) => NAMED[char] ?? inOctal(char))
  return `$'${body}'`
}

function inOctal(char: string): string {
  return Array.from(bytesOf(char), (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')
}
