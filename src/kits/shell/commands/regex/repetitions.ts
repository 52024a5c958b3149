// Parses repetitions: `*`, `+`, `?` and counts in braces.

import type { PatternText } from './pattern-text.ts'
import type { Reader } from './reader.ts'
import { BadPattern, type RegexNode } from './syntax.ts'

const MANY = Number.POSITIVE_INFINITY
/** The limit of regcomp. */
const MAX_COUNT = 32_767
const INVALID = 'Invalid content of \\{\\}'

interface Count {
  min: number
  max: number
}

/** The atom with all its repetitions. */
export function repetition(reader: Reader, atom: RegexNode, isFirst: boolean): RegexNode {
  const { text } = reader
  const isAnchor = atom.kind === 'assert' && !text.syntax.isPerl
  if (isAnchor && reader.signs === 'library') return atom
  let node = atom
  let sign = text.rest(1)
  for (let count = countOf(text); count !== null; count = countOf(text)) {
    // With a warning at the start.
    if (isAnchor && isFirst) reader.warnings.push(`${sign === '{' ? '{...}' : sign} at start of expression`)
    sign = text.rest(1)
    node = { kind: 'repeat', node, ...count, mode: modeOf(text) }
    if (text.syntax.flavour === 'perl' && /[*+?]/.test(text.rest(1)))
      throw new BadPattern('quantifier does not follow a repeatable item')
  }
  return node
}

function modeOf(text: PatternText): 'greedy' | 'lazy' | 'possessive' {
  if (!text.syntax.isPerl) return 'greedy'
  if (text.take('?')) return 'lazy'
  return text.syntax.flavour === 'perl' && text.take('+') ? 'possessive' : 'greedy'
}

/** Null, without reading anything, if there is no repetition. */
export function countOf(text: PatternText): Count | null {
  const isBasic = text.syntax.flavour === 'basic'
  if (text.take('*')) return { min: 0, max: MANY }
  if (text.take(isBasic ? '\\+' : '+')) return { min: 1, max: MANY }
  if (text.take(isBasic ? '\\?' : '?')) return { min: 0, max: 1 }
  if (isBasic) return text.take('\\{') ? basicCount(text) : null
  return text.rest(1) === '{' ? bracedCount(text) : null
}

function basicCount(text: PatternText): Count {
  const inside = text.upTo('\\}')
  if (inside === null) throw new BadPattern('Unmatched \\{')
  return checked(/^(\d*)(,?)(\d*)$/.exec(inside), INVALID)
}

/** Braces without a count are literal. */
function bracedCount(text: PatternText): Count | null {
  const { isPerl } = text.syntax
  const found = text.takeMatch(isPerl ? /\{(\d+)(,?)(\d*)\}/y : /\{(\d*)(,?)(\d*)\}/y)
  if (found && (found[0] !== '{}' || isPerl)) {
    return checked(found, isPerl ? 'numbers out of order in {} quantifier' : INVALID)
  }
  if (found) text.skip(-2)
  if (!isPerl && text.takeMatch(/\{[\d,]+\}/y)) throw new BadPattern(INVALID)
  if (text.syntax.flavour === 'rust') throw new BadPattern('repetition operator missing or malformed')
  return null
}

function checked(found: RegExpExecArray | null, problem: string): Count {
  if (!found) throw new BadPattern(problem)
  const [, first = '', comma = '', last = ''] = found
  if (first === '' && comma === '') throw new BadPattern(problem)
  const min = Number(first || '0')
  const max = comma === '' ? min : last === '' ? MANY : Number(last)
  if (min > max) throw new BadPattern(problem)
  if (min > MAX_COUNT || (max !== MANY && max > MAX_COUNT)) throw new BadPattern('Regular expression too big')
  return { min, max }
}
