// If the first line of a group of changed lines equals the line after the group, the group can be moved down by one,
// and so on; likewise up. Groups are moved to the position of a group of the other text, or to where the indentation
// shows the start and end of a block. Git's authors determined the weights by asking users about thousands of patches.

import type { Side } from './shortest-script.ts'

const MAX_SLIDING = 100
const MAX_INDENT = 200
const MAX_BLANKS = 20
const START_OF_FILE = 1
const END_OF_FILE = 21
const TOTAL_BLANKS = -30
const BLANKS_AFTER = 6
const DEEPER = -4
const DEEPER_WITH_BLANK = 10
const OUTDENT = 24
const OUTDENT_WITH_BLANK = 17
const DEDENT = 23
const DEDENT_WITH_BLANK = 17
const INDENT_WEIGHT = 60

/** Moves the groups of one side, and follows with the corresponding group of the other side. */
export function settleGroups(side: Side, other: Side, byIndent: boolean): void {
  const group = new Group(side)
  const partner = new Group(other)
  for (;;) {
    if (!group.isEmpty) settle(group, partner, byIndent)
    if (!group.next()) return
    partner.next()
  }
}

function settle(group: Group, partner: Group, byIndent: boolean): void {
  let earliest: number
  let beside: number
  let size: number
  // Moving can join the group with its neighbors, which allows further moves.
  do {
    size = group.size
    beside = -1
    while (group.slideUp()) partner.previous()
    earliest = group.end
    if (!partner.isEmpty) beside = group.end
    while (group.slideDown()) {
      partner.next()
      if (!partner.isEmpty) beside = group.end
    }
  } while (size !== group.size)
  if (group.end === earliest) return
  if (beside !== -1) {
    while (partner.isEmpty && group.slideUp()) partner.previous()
  } else if (byIndent) {
    const goal = bestEnd(group, earliest)
    while (group.end > goal && group.slideUp()) partner.previous()
  }
}

class Group {
  readonly side: Side
  start = 0
  end = 0

  constructor(side: Side) {
    this.side = side
    this.#growDown()
  }

  get size(): number {
    return this.end - this.start
  }

  get isEmpty(): boolean {
    return this.end === this.start
  }

  /** The next group, which may be empty: there is one between any two unchanged lines. */
  next(): boolean {
    if (this.end === this.side.changed.length) return false
    this.start = this.end = this.end + 1
    this.#growDown()
    return true
  }

  previous(): boolean {
    if (this.start === 0) return false
    this.start = this.end = this.start - 1
    this.#growUp()
    return true
  }

  slideDown(): boolean {
    const { kinds, changed } = this.side
    if (this.end >= changed.length || kinds[this.start] !== kinds[this.end]) return false
    changed[this.start++] = 0
    changed[this.end++] = 1
    this.#growDown()
    return true
  }

  slideUp(): boolean {
    const { kinds, changed } = this.side
    if (this.start === 0 || kinds[this.start - 1] !== kinds[this.end - 1]) return false
    changed[--this.start] = 1
    changed[--this.end] = 0
    this.#growUp()
    return true
  }

  #growDown(): void {
    while (this.end < this.side.changed.length && this.side.changed[this.end]) this.end++
  }

  #growUp(): void {
    while (this.start > 0 && this.side.changed[this.start - 1]) this.start--
  }
}

interface Score {
  indent: number
  penalty: number
}

/** The best of the possible ends of the group; the last one among equals. */
function bestEnd({ side, end, size }: Group, earliest: number): number {
  let best: Score | null = null
  let found = end
  for (let at = Math.max(earliest, end - size - 1, end - MAX_SLIDING); at <= end; at++) {
    const score = { indent: 0, penalty: 0 }
    addSplit(score, side, at)
    addSplit(score, side, at - size)
    if (best && compare(score, best) > 0) continue
    best = score
    found = at
  }
  return found
}

function compare(a: Score, b: Score): number {
  return INDENT_WEIGHT * Math.sign(a.indent - b.indent) + a.penalty - b.penalty
}

/** Scores a split of the text before the line. */
function addSplit(score: Score, { lines }: Side, at: number): void {
  const own = at >= lines.length ? -1 : indentOf(lines[at] ?? '')
  const before = neighbour(lines, at, -1)
  const after = neighbour(lines, at, 1)
  if (before.indent === -1 && before.blanks === 0) score.penalty += START_OF_FILE
  if (at >= lines.length) score.penalty += END_OF_FILE
  const blanksAfter = own === -1 ? 1 + after.blanks : 0
  const blanks = before.blanks + blanksAfter
  score.penalty += TOTAL_BLANKS * blanks + BLANKS_AFTER * blanksAfter
  const indent = own === -1 ? after.indent : own
  score.indent += indent
  if (indent === -1 || before.indent === -1 || indent === before.indent) return
  const isBlank = blanks !== 0
  if (indent > before.indent) score.penalty += isBlank ? DEEPER_WITH_BLANK : DEEPER
  else if (after.indent !== -1 && after.indent > indent) score.penalty += isBlank ? OUTDENT_WITH_BLANK : OUTDENT
  else score.penalty += isBlank ? DEDENT_WITH_BLANK : DEDENT
}

/** The indentation of the nearest line that is not blank, and the number of blank lines before it. */
function neighbour(lines: readonly string[], at: number, step: 1 | -1): { indent: number; blanks: number } {
  let blanks = 0
  for (let i = at + step; i >= 0 && i < lines.length; i += step) {
    const indent = indentOf(lines[i] ?? '')
    if (indent !== -1) return { indent, blanks }
    if (++blanks === MAX_BLANKS) return { indent: 0, blanks }
  }
  return { indent: -1, blanks }
}

/** In columns; -1 for a blank line. */
function indentOf(line: string): number {
  let indent = 0
  for (const char of line) {
    if (char === ' ') indent++
    else if (char === '\t') indent += 8 - (indent % 8)
    else if (!/\s/.test(char)) return indent
    if (indent >= MAX_INDENT) return MAX_INDENT
  }
  return -1
}
