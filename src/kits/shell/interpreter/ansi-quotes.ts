// What the interpreter's parser misreads in `$'…'`: `\xHH` and octal numbers are bytes, of which several may make a character, and
// `\U` has eight digits. And `$'` in a here-document, where it is no quote.

import { losslessText } from '../lossless-text.ts'

const QUOTED = /\$'(?:[^'\\]|\\[\s\S])*'/g
/** A row of bytes, or one long number. */
const ESCAPES = /\\U([0-9a-fA-F]{1,8})|(?:\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3})+|\\[\s\S]/g
const ONE_BYTE = /\\x([0-9a-fA-F]{1,2})|\\([0-7]{1,3})/g
const DOCUMENT = /<<-?[ \t]*([A-Za-z_]\w*)[^\n]*\n/g
const LAST_ASCII = 0x7f

/** The text with the characters themselves in the place of these. `mark` stands for nothing. */
export function withBytes(script: string, mark: string): string {
  if (!script.includes("$'")) return script
  const text = script.replace(QUOTED, (one) => (/\\[x0-7U]/.test(one) ? one.replace(ESCAPES, unescaped) : one))
  return text.includes('<<') ? withDocuments(text, mark) : text
}

function unescaped(row: string, long: string | undefined): string {
  if (long !== undefined) {
    const code = Number.parseInt(long, 16)
    return code > LAST_ASCII && code <= 0x10_ff_ff ? String.fromCodePoint(code) : row
  }
  const bytes = [...row.matchAll(ONE_BYTE)].map(([, hex, octal]) =>
    hex === undefined ? Number.parseInt(octal ?? '0', 8) & 0xff : Number.parseInt(hex, 16),
  )
  return bytes.some((byte) => byte > LAST_ASCII) && !bytes.includes(0) ? asText(bytes) : row
}

/** What is ASCII stays a number: it may be a quote or a backslash. */
function asText(bytes: readonly number[]): string {
  return Array.from(losslessText(Uint8Array.from(bytes)), (char) => {
    const code = char.codePointAt(0) ?? 0
    return code <= LAST_ASCII ? `\\x${code.toString(16).padStart(2, '0')}` : char
  }).join('')
}

function withDocuments(script: string, mark: string): string {
  let text = ''
  let at = 0
  DOCUMENT.lastIndex = 0
  for (let found = DOCUMENT.exec(script); found !== null; found = DOCUMENT.exec(script)) {
    const start = DOCUMENT.lastIndex
    const end = new RegExp(`^\\t*${found[1]}$`, 'm').exec(script.slice(start))
    // It goes to the end of the text.
    if (end === null) break
    text += script.slice(at, start) + script.slice(start, start + end.index).replaceAll("$'", `$${mark}'`)
    at = start + end.index
    DOCUMENT.lastIndex = at
  }
  return text + script.slice(at)
}
