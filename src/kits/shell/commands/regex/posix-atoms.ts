// Parses the atoms of basic and extended expressions, like GNU's programs.

import { bracketSet, escapedSet } from './brackets.ts'
import { negated, without } from './char-sets.ts'
import type { PatternText } from './pattern-text.ts'
import type { Reader } from './reader.ts'
import { countOf } from './repetitions.ts'
import { type Assertion, BadPattern, EMPTY, type RegexNode } from './syntax.ts'

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  b: 'boundary',
  B: 'notBoundary',
  '<': 'wordStart',
  '>': 'wordEnd',
  '`': 'lineStart',
  "'": 'lineEnd',
}

/** Whether the sequence ends here; `)` without a group is literal in extended expressions. */
export function endsPosixBranch({ source, at, syntax }: PatternText, isInGroup: boolean): boolean {
  if (syntax.flavour === 'basic') return source.startsWith('\\)', at) || source.startsWith('\\|', at)
  return source[at] === '|' || (source[at] === ')' && isInGroup)
}

export function posixAtom(reader: Reader, isFirst: boolean): RegexNode {
  const { text } = reader
  const isBasic = text.syntax.flavour === 'basic'
  const group = isBasic ? '\\(' : '('
  if (text.take(group)) return groupOf(reader)
  if (text.take('[')) return bracket(reader)
  if (text.take('.')) return reader.set(text.syntax.dotMatchesAll ? negated([]) : without(negated([]), 10))
  const bare = isBasic ? null : bareSign(reader, isFirst)
  if (bare) return bare
  if (text.rest(1) === '^' && (!isBasic || isFirst)) return anchor(reader, 'lineStart')
  if (text.rest(1) === '$' && (!isBasic || endsBasicPart(text))) return anchor(reader, 'lineEnd')
  if (text.rest(1) === '\\') return escaped(reader)
  return reader.literal(text.character())
}

/** A repetition of nothing. The library skips its first character, so a count is literal text. */
function bareSign(reader: Reader, isFirst: boolean): RegexNode | null {
  const { text } = reader
  const sign = text.rest(1)
  if (!/[*+?{]/.test(sign)) return null
  // After an atom, a brace without a count is literal.
  if (sign === '{' && !isFirst && !/^\{[\d,]*\}/.test(text.source.slice(text.at))) return null
  reader.hasBareSign = true
  if (reader.signs === 'library') {
    text.skip(1)
    if (text.rest(1) === '' || text.rest(1) === '|') return EMPTY
    return text.rest(1) === ')' ? reader.literal(text.character()) : posixAtom(reader, false)
  }
  if (!isFirst || !countOf(text)) return null
  reader.warnings.push(`${sign === '{' ? '{...}' : sign} at start of expression`)
  return EMPTY
}

/** GNU's automaton supports sets of some ASCII characters only. */
function bracket(reader: Reader): RegexNode {
  const { text } = reader
  const from = text.at
  const set = bracketSet(text)
  const written = text.source.slice(from, text.at - 1)
  if (!/^(?!\^)(\d-\d|[\0-\x7f](?!-.))*$/.test(written) || /\[[:.=]/.test(written)) reader.isForLibrary = true
  return reader.set(set)
}

function anchor({ text }: Reader, what: Assertion): RegexNode {
  text.skip(1)
  return { kind: 'assert', what }
}

function endsBasicPart({ source, at }: PatternText): boolean {
  const rest = source.slice(at + 1, at + 3)
  return rest === '' || rest === '\\)' || rest === '\\|'
}

function groupOf(reader: Reader): RegexNode {
  const { text } = reader
  const index = ++reader.groups
  const node = reader.inside()
  if (!text.take(text.syntax.flavour === 'basic' ? '\\)' : ')')) throw new BadPattern('Unmatched ( or \\(')
  reader.closed = new Set([...reader.closed, index])
  return { kind: 'group', node, index, name: null }
}

function escaped(reader: Reader): RegexNode {
  const { text } = reader
  const set = escapedSet(text)
  if (set) {
    reader.isForLibrary = true
    return reader.set(set)
  }
  text.skip(1)
  if (text.isAtEnd) throw new BadPattern('Trailing backslash')
  const code = text.character()
  const letter = String.fromCodePoint(code)
  const what = Object.hasOwn(ASSERTIONS, letter) ? ASSERTIONS[letter] : undefined
  if (what) {
    reader.isForLibrary ||= !what.startsWith('line')
    return { kind: 'assert', what }
  }
  if (/[1-9]/.test(letter)) {
    if (!reader.closed.has(Number(letter))) throw new BadPattern('Invalid back reference')
    reader.isForLibrary = true
    return { kind: 'reference', to: Number(letter) }
  }
  return reader.literal(code)
}
