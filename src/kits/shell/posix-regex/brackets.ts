// Bracket expressions: `[^a-z[:digit:]_]` as a JavaScript character class.

import { escaped, RegexError } from './syntax.ts'

/** Invalid bytes are represented by these in a text; they are not characters, and only negated classes match them. */
const NO_CHARACTERS = '\\udc80-\\udcff'

export const ANY_CHARACTER = `[^${NO_CHARACTERS}]`

export const WORD = '[\\p{L}\\p{Nd}\\p{Nl}\\p{Mn}\\p{Mc}_]'
export const NOT_WORD = '[^\\p{L}\\p{Nd}\\p{Nl}\\p{Mn}\\p{Mc}_]'
export const SPACE = '[ \\t-\\r\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u2028\\u2029\\u205f\\u3000]'
export const NOT_SPACE = '[^ \\t-\\r\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u2028\\u2029\\u205f\\u3000]'

const ALPHA = '\\p{L}\\p{Nl}\\p{Mn}\\p{Mc}'
const CLASSES: Readonly<Record<string, string>> = {
  alpha: ALPHA,
  digit: '0-9',
  alnum: `${ALPHA}\\p{Nd}`,
  upper: '\\p{Lu}\\p{Lt}',
  lower: '\\p{Ll}',
  space: SPACE.slice(1, -1),
  blank: ' \\t\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u205f\\u3000',
  punct: '!-\\/:-@\\[-`\\{-~\\p{P}\\p{S}',
  print: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}',
  graph: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  cntrl: '\\0-\\x1f\\x7f-\\x9f',
  xdigit: '0-9A-Fa-f',
}

export interface Bracket {
  source: string
  /** The position after the expression. */
  end: number
}

type ReadEscape = (at: number) => { char: string; end: number } | null

/** `start` is after the opening bracket; `readEscape` reads an escape at a backslash, or returns null if there is none. */
export function readBracket(text: string, start: number, readEscape: ReadEscape): Bracket {
  let at = start
  const isNegated = text[at] === '^'
  if (isNegated) at++
  let source = ''
  for (let isFirst = true; ; isFirst = false) {
    if (at >= text.length && isFirst) throw new RegexError('Invalid regular expression')
    if (at >= text.length) throw new RegexError('Unmatched [, [^, [:, [., or [=')
    if (text[at] === ']' && !isFirst) break
    if (text.startsWith('[:', at)) {
      const named = readClass(text, at)
      source += named.source
      at = named.end
      if (text[at] === '-' && at + 1 < text.length && text[at + 1] !== ']') throw new RegexError('Invalid range end')
      continue
    }
    const from = readItem(text, at, readEscape)
    at = from.end
    if (text[at] !== '-' || text[at + 1] === ']' || at + 1 >= text.length) {
      source += escaped(from.char)
      continue
    }
    const to = readItem(text, at + 1, readEscape)
    at = to.end
    if ((from.char.codePointAt(0) ?? 0) > (to.char.codePointAt(0) ?? 0)) throw new RegexError('Invalid range end')
    source += `${escaped(from.char)}-${escaped(to.char)}`
  }
  return { source: isNegated ? `[^${source}${NO_CHARACTERS}]` : `[${source}]`, end: at + 1 }
}

function readClass(text: string, at: number): Bracket {
  const close = text.indexOf(':]', at + 2)
  if (close < 0) throw new RegexError('Unmatched [, [^, [:, [., or [=')
  const source = CLASSES[text.slice(at + 2, close)]
  if (source === undefined) throw new RegexError('Invalid character class name')
  return { source, end: close + 2 }
}

function readItem(text: string, at: number, readEscape: ReadEscape): { char: string; end: number } {
  const [, , named] = /^\[([.=])([\s\S]*?)\1\]/.exec(text.slice(at, at + 8)) ?? []
  if (named !== undefined) {
    if ([...named].length !== 1) throw new RegexError('Invalid collation character')
    return { char: named, end: at + 4 + named.length }
  }
  const escapeHere = text[at] === '\\' ? readEscape(at) : null
  if (escapeHere) return escapeHere
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
  return { char, end: at + char.length }
}
