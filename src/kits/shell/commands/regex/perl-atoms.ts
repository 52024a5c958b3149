// Parses the atoms of Perl-like expressions: those of `grep -P`, and of ripgrep, which has fewer.

import { bracketSet, escapedSet } from './brackets.ts'
import { negated, without } from './char-sets.ts'
import type { Reader } from './reader.ts'
import { type Assertion, BadPattern, EMPTY, type RegexNode } from './syntax.ts'

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  b: 'boundary',
  B: 'notBoundary',
  A: 'lineStart',
  z: 'lineEnd',
  Z: 'lineEnd',
}

export function perlAtom(reader: Reader, isFirst: boolean): RegexNode {
  const { text } = reader
  if (text.take('(')) return group(reader)
  if (text.take('[')) return reader.set(bracketSet(text))
  if (text.take('.')) return reader.set(text.syntax.dotMatchesAll ? negated([]) : without(negated([]), 10))
  if (text.take('^')) return { kind: 'assert', what: 'lineStart' }
  if (text.take('$')) return { kind: 'assert', what: 'lineEnd' }
  if (text.take('\\')) return escaped(reader)
  if (/[*+?]/.test(text.rest(1)) && isFirst) {
    const isRust = text.syntax.flavour === 'rust'
    throw new BadPattern(
      isRust ? 'repetition operator missing expression' : 'quantifier does not follow a repeatable item',
    )
  }
  return reader.literal(text.character())
}

function group(reader: Reader): RegexNode {
  const { text } = reader
  if (!text.take('?')) return closed(reader, captured(reader, null))
  const isPerl = text.syntax.flavour === 'perl'
  if (text.take(':')) return closed(reader, reader.inside())
  if (isPerl && text.take('#')) {
    if (text.upTo(')') === null) throw new BadPattern('missing ) after (?# comment')
    return EMPTY
  }
  if (isPerl && text.take('>')) return closed(reader, { kind: 'atomic', node: reader.inside() })
  const looks = isPerl ? text.takeMatch(/(<?)([=!])/y) : null
  if (looks) {
    const [, back, sign] = looks
    return closed(reader, { kind: 'look', isAhead: back === '', isNegative: sign === '!', node: reader.inside() })
  }
  const named = text.takeMatch(/P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y)
  if (named) return closed(reader, captured(reader, named[1] ?? named[2] ?? null))
  const reference = isPerl ? text.takeMatch(/P=(\w+)\)/y) : null
  if (reference) return { kind: 'reference', to: reference[1] ?? '' }
  return flags(reader)
}

function captured(reader: Reader, name: string | null): RegexNode {
  const index = ++reader.groups
  return { kind: 'group', index, name, node: reader.inside() }
}

function closed({ text }: Reader, node: RegexNode): RegexNode {
  if (!text.take(')'))
    throw new BadPattern(text.syntax.flavour === 'rust' ? 'unclosed group' : 'missing closing parenthesis')
  return node
}

/** `(?i)` applies until the end of the enclosing group, `(?i:…)` inside its own. */
function flags(reader: Reader): RegexNode {
  const { text } = reader
  const found = text.takeMatch(/([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])/y)
  const [, on = '', off = '', end] = found ?? []
  if (!found || /[^ism]/.test(on + off)) {
    throw new BadPattern(`(?${text.source.slice(text.at - (found?.[0].length ?? 0)).slice(0, 8)} is not available here`)
  }
  const { ignoresCase, dotMatchesAll } = text.syntax
  const changed = {
    ignoresCase: (ignoresCase || on.includes('i')) && !off.includes('i'),
    dotMatchesAll: (dotMatchesAll || on.includes('s')) && !off.includes('s'),
  }
  Object.assign(text.syntax, changed)
  if (end === ')') return EMPTY
  const node = closed(reader, reader.inside())
  Object.assign(text.syntax, { ignoresCase, dotMatchesAll })
  return node
}

function escaped(reader: Reader): RegexNode {
  const { text } = reader
  const isPerl = text.syntax.flavour === 'perl'
  if (text.isAtEnd) throw new BadPattern(isPerl ? '\\ at end of pattern' : 'incomplete escape sequence')
  text.skip(-1)
  const set = escapedSet(text)
  if (set) return reader.set(set)
  text.skip(1)
  const letter = text.rest(1)
  const what = Object.hasOwn(ASSERTIONS, letter) ? ASSERTIONS[letter] : undefined
  if (what) {
    text.skip(1)
    return { kind: 'assert', what }
  }
  return (isPerl ? perlEscape(reader) : null) ?? reader.literal(text.escapedCharacter())
}

function perlEscape(reader: Reader): RegexNode | null {
  const { text } = reader
  const before = text.takeMatch(/g\{?-(\d{1,2})\}?/y)
  if (before) return { kind: 'reference', to: reader.groups + 1 - Number(before[1]) }
  // An octal number without such a group is a character.
  const octal = text.takeMatch(/[1-7][0-7]{1,2}/y)
  if (octal && Number(octal[0]) > reader.groups) return reader.literal(Number.parseInt(octal[0], 8))
  if (octal) text.skip(-octal[0].length)
  const control = text.takeMatch(/c([ -~])/y)
  if (control) return reader.literal((control[1] ?? '').toUpperCase().charCodeAt(0) ^ 0x40)
  const reference = text.takeMatch(/([1-9]\d?)|g\{?(\d{1,2})\}?|k(?:<(\w+)>|\{(\w+)\}|'(\w+)')/y)
  if (reference) {
    const [, plain, braced, ...names] = reference
    const number = plain ?? braced
    return {
      kind: 'reference',
      to: number === undefined ? (names.find((name) => name !== undefined) ?? '') : Number(number),
    }
  }
  if (text.take('K')) return { kind: 'keep' }
  if (text.take('N')) return reader.set(without(negated([]), 10))
  if (text.take('R')) return reader.set([10, 13, 0x85, 0x85, 0x2028, 0x2029])
  if (!text.take('Q')) return null
  const end = text.source.indexOf('\\E', text.at)
  const quoted = text.source.slice(text.at, end < 0 ? undefined : end)
  text.at = end < 0 ? text.source.length : end + 2
  return { kind: 'sequence', parts: Array.from(quoted, (char) => reader.literal(char.codePointAt(0) ?? 0)) }
}
