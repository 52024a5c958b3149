// Which lines changed, as git sees it: the same choice among the many shortest scripts, so that patches, blame and
// merges name the same lines as git's own.
//
// Three steps. Lines that the other text does not have, and most of those that stand between such lines, are taken out.
// What is left is compared by Myers' algorithm, from both ends at once. Then each group of changed lines is slid up or
// down to where it reads best (`line-groups.ts`).

import type { LineEdit } from '../../../workspace/shifted-edits.ts'
import { markByHistogram } from './histogram.ts'
import { settleGroups } from './line-groups.ts'
import type { Side } from './shortest-script.ts'
import { markChanges } from './shortest-script.ts'

export interface EditOptions {
  /** What of a line is compared; the whole line unless told otherwise. */
  key?: ((line: string) => string) | undefined
  /** Whether groups of lines are slid by how they are indented. Merges leave that out. */
  byIndent?: boolean
  algorithm?: 'myers' | 'histogram' | undefined
  /** Whether what both texts end with is put aside first. Without lines around the changes, git does that. */
  trimsTail?: boolean
}

/** The end is compared in pieces of this size. */
const TAIL_PIECE = 1024

export function gitEdits(
  before: readonly string[],
  after: readonly string[],
  { key, byIndent = true, algorithm = 'myers', trimsTail = false }: EditOptions = {},
): LineEdit[] {
  const tail = trimsTail ? tailOf(before, after) : 0
  if (tail > 0) {
    const options = { key, byIndent, algorithm }
    return gitEdits(before.slice(0, before.length - tail), after.slice(0, after.length - tail), options)
  }
  const numbers = new Map<string, number>()
  const [a, b] = [sideOf(before, numbers, key), sideOf(after, numbers, key)]
  if (algorithm === 'histogram') markByHistogram(a, b, numbers.size)
  else markChanges(a, b, numbers.size)
  settleGroups(a, b, byIndent)
  settleGroups(b, a, byIndent)
  return scriptOf(a, b)
}

/** How many lines at the end are left out: whole pieces that are equal, from the line that begins in the last one. */
function tailOf(before: readonly string[], after: readonly string[]): number {
  let [count, sizeChars] = [0, 0]
  let whole = 0
  const smaller = Math.min(before.length, after.length)
  while (count < smaller && before[before.length - 1 - count] === after[after.length - 1 - count]) {
    sizeChars += before[before.length - 1 - count]?.length ?? 0
    count++
  }
  const limit = Math.floor(sizeChars / TAIL_PIECE) * TAIL_PIECE
  for (let size = 0, i = 0; i < count; i++) {
    size += before[before.length - 1 - i]?.length ?? 0
    if (size < limit) whole = i + 1
  }
  return whole
}

function sideOf(lines: readonly string[], numbers: Map<string, number>, key: EditOptions['key'] = undefined): Side {
  const kinds = new Int32Array(lines.length)
  for (const [i, line] of lines.entries()) {
    const text = key ? key(line) : line
    let number = numbers.get(text)
    if (number === undefined) {
      number = numbers.size
      numbers.set(text, number)
    }
    kinds[i] = number
  }
  return { lines, kinds, changed: new Uint8Array(lines.length) }
}

function scriptOf(a: Side, b: Side): LineEdit[] {
  const edits: LineEdit[] = []
  const [oldLength, newLength] = [a.changed.length, b.changed.length]
  let [old, now] = [0, 0]
  while (old < oldLength || now < newLength) {
    if (!a.changed[old] && !b.changed[now]) {
      old++
      now++
      continue
    }
    const edit = { start: old, end: old, from: now, to: now }
    while (old < oldLength && a.changed[old]) old++
    while (now < newLength && b.changed[now]) now++
    edits.push({ ...edit, end: old, to: now })
  }
  return edits
}
