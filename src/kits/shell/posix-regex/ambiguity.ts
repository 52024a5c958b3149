// Analyzes an expression before a backtracking engine may run it: whether the first match is always the longest, and
// how long a failing search may take.

import type { Regex } from './syntax.ts'

export interface Ambiguity {
  /** Whether the first match is always the longest. */
  isLongest: boolean
  /** The time of a failed search grows with this power of the text's length; infinite for a faster growth. */
  degree: number
}

type SingleCharacter = Extract<Regex, { kind: 'one' }>

/** More repetitions than this count as unlimited. */
const FEW_ROUNDS = 8

export function ambiguityOf(tree: Regex): Ambiguity {
  const found = { isLongest: true, isHopeless: false, hasRepeat: false }
  survey(tree, found)
  const start = startsAnchored(tree) ? 0 : 1
  const tries = Math.max(doubtfulRepeats(tree, null), found.hasRepeat ? 1 : 0)
  return { isLongest: found.isLongest, degree: found.isHopeless ? Number.POSITIVE_INFINITY : start + tries }
}

function survey(tree: Regex, found: { isLongest: boolean; isHopeless: boolean; hasRepeat: boolean }): void {
  if (tree.kind === 'sequence' && hasGreedyTrap(tree.parts)) found.isLongest = false
  if (tree.kind === 'choice' && !isOrderless(tree.options)) found.isLongest = false
  if (tree.kind === 'repeat' && tree.max > FEW_ROUNDS) {
    found.hasRepeat = true
    if (!isClearRound(tree.part)) found.isHopeless = true
  }
  for (const part of partsOf(tree)) survey(part, found)
}

function partsOf(tree: Regex): readonly Regex[] {
  if (tree.kind === 'sequence') return tree.parts
  if (tree.kind === 'choice') return tree.options
  return tree.kind === 'group' || tree.kind === 'repeat' ? [tree.part] : []
}

/** A part of several characters or lengths after a part that may match its beginning: `a?(ab)?`, `a?.(ab)?`. */
function hasGreedyTrap(parts: readonly Regex[]): boolean {
  return parts.some((part, at) => {
    const following = parts.slice(at + 1)
    return following.some(hasLooseLength) && mayEndSooner(part, following)
  })
}

/** Whether it could also end at another place, and what follows go on from there. */
function mayEndSooner(tree: Regex, following: readonly Regex[]): boolean {
  switch (tree.kind) {
    case 'group':
      return mayEndSooner(tree.part, following)
    case 'choice':
      return tree.options.some((option) => mayEndSooner(option, following))
    case 'sequence':
      return tree.parts.some((part, at) => mayEndSooner(part, [...tree.parts.slice(at + 1), ...following]))
    case 'repeat': {
      const sure = following.findIndex((part) => !mayBeEmpty(part))
      const next = sure < 0 ? following : following.slice(0, sure + 1)
      const isSettled = tree.min === tree.max || next.every((part) => areApart(tree, part))
      return !isSettled || (tree.part.kind !== 'one' && mayEndSooner(tree.part, following))
    }
    default:
      return false
  }
}

/** Whether something of more than one character in it may come or not. */
function hasLooseLength(tree: Regex): boolean {
  if (tree.kind === 'repeat' && tree.min !== tree.max && tree.part.kind !== 'one') return true
  return partsOf(tree).some(hasLooseLength)
}

/** Whether no two options can match at the same position, or all possible matches have the same length. */
function isOrderless(options: readonly Regex[]): boolean {
  const lengths = new Set(options.map(fixedLength))
  return (lengths.size === 1 && !lengths.has(null)) || areAllApart(options)
}

function areAllApart(options: readonly Regex[]): boolean {
  return options.every((option, i) => options.slice(i + 1).every((other) => areApart(option, other)))
}

/** Whether one iteration of a repeat is separated from the next by single characters: `([a-z]+ )*`, not `(a+)*`. */
function isClearRound(part: Regex): boolean {
  const body = bare(part)
  if (body.kind === 'one' || body.kind === 'place') return true
  if (body.kind === 'choice') return areAllApart(body.options) && body.options.every(isClearRound)
  if (body.kind === 'repeat') return body.min === body.max && isClearRound(body.part)
  if (body.kind === 'back-reference') return false
  if (body.kind !== 'sequence' || body.parts.length === 0) return false
  return body.parts.every((piece, at) => {
    const inner = bare(piece)
    if (inner.kind !== 'repeat') return inner.kind === 'one' || inner.kind === 'place' || isClearRound(inner)
    return inner.min === inner.max || behind(body.parts, at).every((next) => next !== piece && areApart(inner, next))
  })
}

/**
 * The parts that may directly follow a part of an iteration, including the next iteration: all up to the first
 * mandatory one.
 */
function behind(parts: readonly Regex[], at: number): readonly Regex[] {
  const ring = [...parts.slice(at + 1), ...parts.slice(0, at + 1)]
  const sure = ring.findIndex((part) => !mayBeEmpty(part))
  return sure < 0 ? ring : ring.slice(0, sure + 1)
}

function mayBeEmpty(tree: Regex): boolean {
  if (tree.kind === 'one') return false
  if (tree.kind === 'group') return mayBeEmpty(tree.part)
  if (tree.kind === 'repeat') return tree.min === 0 || mayBeEmpty(tree.part)
  if (tree.kind === 'sequence') return tree.parts.every(mayBeEmpty)
  return tree.kind !== 'choice' || tree.options.some(mayBeEmpty)
}

/** Long repeats with an ambiguous end, for which a failure tries each position. */
function doubtfulRepeats(tree: Regex, next: Regex | null): number {
  switch (tree.kind) {
    case 'group':
      return doubtfulRepeats(tree.part, next)
    case 'choice':
      return Math.max(...tree.options.map((option) => doubtfulRepeats(option, next)))
    case 'sequence':
      return tree.parts.reduce((sum, part, at) => sum + doubtfulRepeats(part, tree.parts[at + 1] ?? next), 0)
    case 'repeat': {
      const inner = doubtfulRepeats(tree.part, next) * Math.min(tree.max, FEW_ROUNDS)
      if (tree.max <= FEW_ROUNDS) return inner
      const isClear = next === null || (!mayBeEmpty(next) && areApart(tree, next))
      return isClear ? Math.min(inner, 1) : 1 + inner
    }
    default:
      return 0
  }
}

/** Whether no character can start both. Unknown counts as no. */
function areApart(a: Regex, b: Regex): boolean {
  const [first, second] = [firstOf(a), firstOf(b)]
  if (!first || !second) return false
  if (first.literal !== null) return !canBe(second, first.literal)
  return second.literal !== null && !canBe(first, second.literal)
}

function canBe({ source }: SingleCharacter, char: string): boolean {
  return new RegExp(`^${source}$`, 'ui').test(char)
}

/** The characters with which it starts if it is not empty, if a single position determines them. */
function firstOf(tree: Regex | undefined): SingleCharacter | null {
  if (tree === undefined) return null
  if (tree.kind === 'one') return tree
  if (tree.kind === 'group' || tree.kind === 'repeat') return firstOf(tree.part)
  if (tree.kind !== 'sequence') return null
  const [first] = tree.parts
  // If it may be empty, the next part may be the start.
  return first === undefined || mayBeEmpty(first) ? null : firstOf(first)
}

function bare(tree: Regex): Regex {
  return tree.kind === 'group' ? bare(tree.part) : tree
}

function fixedLength(tree: Regex): number | null {
  switch (tree.kind) {
    case 'one':
      return 1
    case 'place':
      return 0
    case 'group':
      return fixedLength(tree.part)
    case 'sequence': {
      const lengths = tree.parts.map(fixedLength)
      return lengths.reduce<number | null>((sum, length) => (sum === null || length === null ? null : sum + length), 0)
    }
    case 'repeat': {
      const length = fixedLength(tree.part)
      return tree.min === tree.max && length !== null ? length * tree.min : null
    }
    default:
      return null
  }
}

function startsAnchored(tree: Regex): boolean {
  if (tree.kind === 'place') return tree.place === 'line-start' || tree.place === 'text-start'
  if (tree.kind === 'group') return startsAnchored(tree.part)
  if (tree.kind === 'choice') return tree.options.every(startsAnchored)
  const [first] = tree.kind === 'sequence' ? tree.parts : []
  return first !== undefined && startsAnchored(first)
}
