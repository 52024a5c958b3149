// Applies the hunks of a patch to a text. All context lines must match; their position may differ from the patch.

import { linesOf } from '../../../workspace/diff.ts'
import type { Hunk } from './parse-patch.ts'

export interface HunkOptions {
  /** Whether blanks in context lines are ignored. */
  ignoresBlanks: boolean
  /** Whether hunks without context are applied by their line numbers. */
  isWithoutContext: boolean
  /** Whether hunks that do not fit are left out. */
  rejects?: boolean
}

export interface AppliedHunk {
  number: number
  /** The line of the position, counted from 1, and its offset from the patch's position. */
  line: number
  offset: number
  hunk: Hunk
  isAtEnd: boolean
}

export type Applied = { ok: true; text: string; hunks: AppliedHunk[]; rejected: Hunk[] } | { ok: false; hunk: Hunk }

export function applyHunks(text: string, hunks: readonly Hunk[], options: HunkOptions): Applied {
  const lines = linesOf(text)
  const done: AppliedHunk[] = []
  const rejected: Hunk[] = []
  for (const [i, hunk] of hunks.entries()) {
    const before = hunk.lines.filter(({ sign }) => sign !== '+')
    const at = placeOf(lines, hunk, options)
    if (at === null) {
      if (!options.rejects) return { ok: false, hunk }
      rejected.push(hunk)
      continue
    }
    const after: string[] = []
    let old = at
    for (const { sign, text: line } of hunk.lines) {
      // Context lines keep the text's version.
      if (sign === ' ') after.push(lines[old] ?? line)
      if (sign === '+') after.push(line)
      if (sign !== '+') old++
    }
    const isAtEnd = at + before.length >= lines.length
    lines.splice(at, before.length, ...after)
    const expected = Math.max(0, hunk.newStart - 1)
    done.push({ number: i + 1, line: at + 1, offset: at - expected, hunk, isAtEnd })
  }
  return { ok: true, text: lines.join(''), hunks: done, rejected }
}

/** The position of the hunk's old lines; the one nearest to the patch's position. */
function placeOf(lines: readonly string[], hunk: Hunk, options: HunkOptions): number | null {
  const wanted = hunk.lines.filter(({ sign }) => sign !== '+').map(({ text }) => text)
  const { isWithoutContext } = options
  const isAtStart = hunk.oldStart === 0 || (hunk.oldStart === 1 && !isWithoutContext)
  const last = hunk.lines.at(-1)
  const isAtEnd = !isWithoutContext && last?.sign !== ' '
  const fits = (at: number) =>
    (!isAtStart || at === 0) &&
    (!isAtEnd || at + wanted.length === lines.length) &&
    wanted.every((line, i) => isSame(lines[at + i], line, options.ignoresBlanks))
  const named = isAtStart ? 0 : isAtEnd ? lines.length - wanted.length : Math.max(0, hunk.newStart - 1)
  const start = Math.min(Math.max(0, named), lines.length)
  if (fits(start)) return start
  for (let distance = 1; distance <= lines.length; distance++) {
    if (start + distance <= lines.length && fits(start + distance)) return start + distance
    if (start - distance >= 0 && fits(start - distance)) return start - distance
  }
  return null
}

function isSame(found: string | undefined, wanted: string, ignoresBlanks: boolean): boolean {
  if (found === undefined) return false
  if (found === wanted) return true
  const plain = (line: string) => line.trimEnd().replace(/\s+/g, ' ')
  return ignoresBlanks && plain(found) === plain(wanted)
}
