// Parses bracket expressions, between `[` and `]`.

import { anyCase, namedClass, negated, property, union } from './char-sets.ts'
import type { PatternText } from './pattern-text.ts'
import { BadPattern, type Ranges } from './syntax.ts'

const UNMATCHED = 'Unmatched [, [^, [:, [., or [='

/** Read from the position after the opening bracket. Backslash escapes exist only if the syntax has them. */
export function bracketSet(text: PatternText): Ranges {
  const start = text.at
  const isNegative = text.take('^')
  const sets: Ranges[] = []
  for (let isFirst = true; ; isFirst = false) {
    // The library has a different message for an empty bracket at the end.
    if (text.isAtEnd && isFirst && !text.syntax.isPerl) throw new BadPattern('Invalid regular expression')
    if (text.isAtEnd) throw new BadPattern(text.syntax.isPerl ? unclosed(text) : UNMATCHED)
    if (!isFirst && text.take(']')) break
    sets.push(item(text))
  }
  refuseBareClass(text, start)
  const { ignoresCase } = text.syntax
  const set = ignoresCase ? anyCase(union(sets)) : union(sets)
  return isNegative ? negated(set) : set
}

function unclosed({ syntax }: PatternText): string {
  return syntax.flavour === 'rust' ? 'unclosed character class' : 'missing terminating ] for character class'
}

/** `[:space:]` instead of `[[:space:]]` is an error that would match letters of the name. */
function refuseBareClass({ source, at, syntax }: PatternText, start: number): void {
  if (!syntax.isPerl && /^:[a-z]+:\]$/.test(source.slice(start, at))) {
    throw new BadPattern('character class syntax is [[:space:]], not [:space:]')
  }
}

function item(text: PatternText): Ranges {
  const { isPerl, isUnicode, flavour } = text.syntax
  if (flavour === 'rust' && /^(\[(?!:)|&&|--|~~)/.test(text.rest(2)))
    throw new BadPattern('sets inside of sets are not available here')
  if (text.take('[:')) {
    const name = text.upTo(':]')
    if (name === null) throw new BadPattern(isPerl ? unclosed(text) : UNMATCHED)
    const isOther = isPerl && name.startsWith('^')
    const set = namedClass(isOther ? name.slice(1) : name, isUnicode && !isPerl)
    if (!set) throw new BadPattern(isPerl ? 'unknown POSIX class name' : 'Invalid character class name')
    if (!isPerl && /^-[^\]]/.test(text.rest(2))) throw new BadPattern('Invalid range end')
    // If case is ignored, upper-case letters also match lower-case ones.
    return isOther ? negated(set) : set
  }
  if (flavour === 'perl' && /^\[([.=])[^\]]*\1\]/.test(text.source.slice(text.at)))
    throw new BadPattern('POSIX collating elements are not supported')
  if (isPerl && text.rest(1) === '\\') {
    const set = escapedSet(text)
    if (set) return set
  }
  return range(text, character(text))
}

function range(text: PatternText, first: number): Ranges {
  const next = text.rest(2)
  if (next.length < 2 || next[0] !== '-' || next[1] === ']') return [first, first]
  text.take('-')
  if (text.syntax.isPerl && text.rest(1) === '\\') {
    const set = escapedSet(text)
    if (set && text.syntax.flavour === 'perl') throw new BadPattern('invalid range in character class')
    if (set) return union([[first, first], [0x2d, 0x2d], set])
  }
  const last = character(text)
  if (last < first) {
    throw new BadPattern(text.syntax.isPerl ? 'range out of order in character class' : 'Invalid range end')
  }
  return [first, last]
}

function character(text: PatternText): number {
  for (const mark of ['.', '=']) {
    if (text.syntax.isPerl || !text.take(`[${mark}`)) continue
    const name = text.upTo(`${mark}]`)
    if (name === null) throw new BadPattern(UNMATCHED)
    if ([...name].length !== 1) throw new BadPattern('Invalid collation character')
    return name.codePointAt(0) ?? 0
  }
  if (text.syntax.isPerl && text.take('\\')) return text.escapedCharacter('b'.codePointAt(0) ?? 0)
  return text.character()
}

/** `\d` and similar; null, without reading anything, for an escape of a single character. */
export function escapedSet(text: PatternText): Ranges | null {
  const letter = text.rest(2)[1] ?? ''
  const set = text.syntax.escapedSets(letter.toLowerCase())
  if (set) {
    text.skip(2)
    return letter === letter.toLowerCase() ? set : negated(set)
  }
  if (!text.syntax.isPerl || letter.toLowerCase() !== 'p') return null
  text.skip(2)
  const name = text.take('{') ? text.upTo('}') : String.fromCodePoint(text.character())
  const isOther = (letter === 'P') !== (name?.startsWith('^') ?? false)
  const found = name === null ? null : property(name.replace(/^\^/, ''))
  if (!found) throw new BadPattern('unknown property after \\P or \\p')
  return isOther ? negated(found) : found
}
