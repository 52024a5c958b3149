// The escapes of regular expressions for characters and positions, in sed and awk.

import type { Anchor, Escapes } from './syntax.ts'

const CONTROLS: Readonly<Record<string, string>> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

const COMMON_PLACES: Readonly<Record<string, Anchor>> = {
  B: 'inside-word',
  '<': 'word-start',
  '>': 'word-end',
  '`': 'text-start',
  "'": 'text-end',
}

/** `\xHH`, `\dNNN`, `\oNNN` and `\cX`. */
const SED_CODES = /\\(?:x([0-9A-Fa-f]{1,2})|d(\d{1,3})|o([0-7]{1,3})|c([^\\\n]))/y
/** `\NNN` and `\xHH`. */
const AWK_CODES = /\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2}))/y

export const SED_ESCAPES: Escapes = {
  read(text, at) {
    const control = CONTROLS[text[at + 1] ?? '']
    if (control !== undefined) return { char: control, end: at + 2 }
    SED_CODES.lastIndex = at
    const [all, hex, decimal, octal, key] = SED_CODES.exec(text) ?? []
    if (all === undefined) return null
    const end = at + all.length
    if (key !== undefined) return { char: String.fromCharCode(key.toUpperCase().charCodeAt(0) ^ 0x40), end }
    return { char: characterOf(codeOf(hex, decimal, octal)), end }
  },
  quotesInBrackets: false,
  places: { ...COMMON_PLACES, b: 'word-edge' },
  hasReferences: true,
}

export const PLAIN_ESCAPES: Escapes = { ...SED_ESCAPES, read: () => null }

export const AWK_ESCAPES: Escapes = {
  read(text, at) {
    const next = text[at + 1] ?? ''
    const control = next === 'b' ? '\b' : CONTROLS[next]
    if (control !== undefined) return { char: control, end: at + 2 }
    AWK_CODES.lastIndex = at
    const [all, octal, hex] = AWK_CODES.exec(text) ?? []
    return all === undefined ? null : { char: characterOf(codeOf(hex, undefined, octal)), end: at + all.length }
  },
  quotesInBrackets: true,
  places: { ...COMMON_PLACES, y: 'word-edge' },
  hasReferences: false,
}

function codeOf(hex: string | undefined, decimal: string | undefined, octal: string | undefined): number {
  if (hex !== undefined) return Number.parseInt(hex, 16)
  return decimal === undefined ? Number.parseInt(octal ?? '0', 8) : Number(decimal)
}

/** A byte; those above ASCII are not characters. */
function characterOf(code: number): string {
  const byte = code & 0xff
  return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 | byte)
}
