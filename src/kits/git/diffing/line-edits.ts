// Finds the changed lines like git: with the same choice among the shortest scripts, so that patches, blame and merges
// name the same lines.
//
// Three steps. Lines without a match in the other text, and most of those between such lines, are removed. The rest is
// compared with Myers' algorithm, from both ends at once. Then each group of changed lines is moved up or down to the
// best position (`line-groups.ts`).

import type { LineEdit } from '../../../workspace/shifted-edits.ts'
import { markByHistogram } from './histogram.ts'
import { settleGroups } from './line-groups.ts'
import type { Side } from './shortest-script.ts'
import { markChanges } from './shortest-script.ts'

export interface EditOptions {
  /** The part of a line that is compared; the whole line by default. */
  key?: ((line: string) => string) | undefined
  /** Whether groups of lines are moved depending on their indentation. Merges do not. */
  byIndent?: boolean
  algorithm?: 'myers' | 'histogram' | undefined
  /** Whether the common end is removed first. Git does so without context lines. */
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

/** The number of lines left out at the end: whole equal pieces, starting with the first line that begins in the last one. */
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
