// The locale `C`, in which a character is a byte. A text is converted for it: each byte beyond ASCII becomes a lone
// surrogate from U+DD80 to U+DDFF, which counts as one character for every operation, and is not a letter.

import { losslessBytes, losslessText } from './lossless-text.ts'

const ABOVE_ASCII = /[^\0-\x7f]/
const FIRST_BYTE = 0xdd00
const HIGH = 0x80

/** By the variables of a command or of a shell. If none is set, texts are UTF-8. */
export function isByteLocale(value: (name: string) => string | undefined): boolean {
  const name = value('LC_ALL') || value('LC_CTYPE') || value('LANG')
  return name === 'C' || name === 'POSIX'
}

export function byteText(text: string): string {
  if (!ABOVE_ASCII.test(text)) return text
  const bytes = losslessBytes(text)
  const parts: string[] = []
  for (const byte of bytes) parts.push(String.fromCharCode(byte < HIGH ? byte : FIRST_BYTE | byte))
  return parts.join('')
}

/** The characters for the bytes. */
export function charText(text: string): string {
  return ABOVE_ASCII.test(text) ? losslessText(losslessBytes(text)) : text
}
