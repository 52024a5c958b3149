// The parsed format of `printf`: literal text and directives.

import { textOf } from '../text/bytes.ts'
import { escapeAt } from './escapes.ts'

export type Piece = { complaint?: string | undefined } & (
  | { kind: 'text'; bytes: string }
  | { kind: 'directive'; directive: Directive }
  | { kind: 'time'; directive: Directive; format: string }
  /** An error that ends the output. */
  | { kind: 'problem'; message: string }
)

export interface Directive {
  flags: string
  width: number | '*' | null
  /** A negative one is ignored. */
  precision: number | '*' | null
  letter: string
  /** The position after the directive. */
  end: number
}

const PARTS = /%([-+ #0']*)(\*|\d*)(?:\.(\*|-?\d*))?[hjlLtz]*/y

/** Null if the text ends before the letter. */
function directiveAt(format: string, at: number): Directive | null {
  PARTS.lastIndex = at
  const [all = '', flags = '', width = '', precision] = PARTS.exec(format) ?? []
  const end = at + all.length
  if (end >= format.length) return null
  const size = (text: string) => (text === '*' ? text : text === '' ? null : Number(text))
  const isNone = precision === undefined || precision.startsWith('-')
  return {
    flags,
    width: size(width),
    precision: isNone ? null : (size(precision) ?? 0),
    letter: format.charAt(end),
    end: end + 1,
  }
}

const SPECIAL = /[\\%]/g

export function piecesOf(format: string): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < format.length; ) {
    SPECIAL.lastIndex = at
    const next = SPECIAL.exec(format)?.index ?? format.length
    if (next > at) pieces.push({ kind: 'text', bytes: format.slice(at, next) })
    if (next === format.length) break
    const { piece, end } = format.charAt(next) === '%' ? directive(format, next) : escaped(format, next)
    pieces.push(piece)
    at = end
  }
  return pieces
}

type ParsedPiece = { piece: Piece; end: number }

function escaped(format: string, at: number): ParsedPiece {
  const { bytes, length, complaint } = escapeAt(format, at, false)
  return { piece: { kind: 'text', bytes, complaint }, end: at + length }
}

function directive(format: string, at: number): ParsedPiece {
  if (format.charAt(at + 1) === '%') return { piece: { kind: 'text', bytes: '%' }, end: at + 2 }
  const found = directiveAt(format, at)
  if (found === null) {
    const message = `\`${textOf(format.slice(at))}': missing format character`
    return { piece: { kind: 'problem', message }, end: format.length }
  }
  if (found.letter !== '(') return { piece: { kind: 'directive', directive: found }, end: found.end }
  const close = closingParenthesis(format, found.end)
  const letter = format.charAt(close + 1)
  if (letter !== 'T') {
    const complaint = `warning: \`${letter}': invalid time format specification`
    return { piece: { kind: 'text', bytes: '%', complaint }, end: at + 1 }
  }
  const inside = textOf(format.slice(found.end, close))
  return { piece: { kind: 'time', directive: found, format: inside === '' ? '%X' : inside }, end: close + 2 }
}

/** Of the parenthesis before that position; the length of the text if there is none. */
function closingParenthesis(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    if (text.charAt(at) === '(') depth++
    else if (text.charAt(at) === ')' && --depth === 0) return at
  }
  return text.length
}
