// Corrects the parser's errors in `$'…'`: `\xHH` and octal numbers are bytes, several of which may form a character,
// and `\U` has eight digits, `\u` up to four. Also `$'` in a here-document, where it is not a quote.

import { losslessText } from '../lossless-text.ts'

const QUOTED = /\$'(?:[^'\\]|\\[\s\S])*'/g
/** A sequence of bytes, or one long number. */
const ESCAPES = /\\U([0-9a-fA-F]{1,8})|(?:\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3})+|\\[\s\S]/g
/** With fewer digits than the parser accepts. */
const SHORT = /\\u[0-9a-fA-F]{1,3}(?![0-9a-fA-F])/
const SHORTS = /\\u([0-9a-fA-F]{1,3})(?![0-9a-fA-F])|\\[\s\S]/g
/** A word that the parser would leave out. */
const EMPTY = /(?<=[\s=(])\$''(?=[\s;)&|]|$)/g
const ZERO = /^\\(?:0{3}|0{1,2}(?![0-7])|x(?:00|0(?![\da-fA-F]))|u0{1,4}(?![\da-fA-F])|U0{1,8}(?![\da-fA-F])|c@)/
const ONE_BYTE = /\\x([0-9a-fA-F]{1,2})|\\([0-7]{1,3})/g
const DOCUMENT = /<<-?[ \t]*([A-Za-z_]\w*)[^\n]*\n/g
const LAST_ASCII = 0x7f

/** The text with the characters themselves instead. `mark` stands for nothing. */
export function withBytes(script: string, mark: string): string {
  if (!script.includes("$'")) return script
  const cut = script.replace(QUOTED, (one: string, at: number) => {
    const kept = beforeZero(one, script.slice(0, at))
    const whole = SHORT.test(kept) && !isWithinQuotes(script.slice(0, at)) ? kept.replace(SHORTS, inFull) : kept
    return /\\[x0-7U]/.test(whole) ? whole.replace(ESCAPES, unescaped) : whole
  })
  const text = cut.replace(EMPTY, (one: string, at: number) => (isWithinQuotes(cut.slice(0, at)) ? one : "''"))
  return text.includes('<<') ? withDocuments(text, mark) : text
}

/** A zero byte ends such a text: the rest of it is ignored. */
function beforeZero(quoted: string, before: string): string {
  for (const { 0: pair, index } of quoted.matchAll(/\\[\s\S]/g)) {
    if (!'0xuUc'.includes(pair[1] ?? '') || !ZERO.test(quoted.slice(index))) continue
    return isWithinQuotes(before) ? quoted : `${quoted.slice(0, index)}'`
  }
  return quoted
}

/** Inside other quotes `$'` starts nothing. */
function isWithinQuotes(before: string): boolean {
  const left = before.replace(/\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"/g, '')
  return /["']/.test(left)
}

const inFull = (pair: string, short: string | undefined): string =>
  short === undefined ? pair : `\\u${short.padStart(4, '0')}`

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

/** ASCII characters stay numbers: they may be quotes or backslashes. */
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
    // It extends to the end of the text.
    if (end === null) break
    text += script.slice(at, start) + script.slice(start, start + end.index).replaceAll("$'", `$${mark}'`)
    at = start + end.index
    DOCUMENT.lastIndex = at
  }
  return text + script.slice(at)
}
