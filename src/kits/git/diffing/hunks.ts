// The hunks of a patch: groups of changed lines with their context.

import { linesOf } from '../../../workspace/diff.ts'
import type { LineEdit } from '../../../workspace/shifted-edits.ts'
import { gitEdits } from './line-edits.ts'

/** How whitespace is compared: not at all, only its presence, or all except that at line ends. */
export type Whitespace = 'ignored' | 'condensed' | 'trimmed' | 'without-cr'

export interface HunkOptions {
  /** The number of lines shown around a change. */
  context: number
  whitespace?: Whitespace | undefined
  algorithm?: 'myers' | 'histogram' | undefined
}

export const DEFAULT_CONTEXT = 3
const FUNCTION_LINE = /^[A-Za-z_$]/
const MAX_FUNCTION_CHARS = 80

/** The part of a line that is compared. */
export function lineKey(whitespace: Whitespace | undefined): ((line: string) => string) | undefined {
  if (whitespace === 'ignored') return (line) => line.replace(/\s+/g, '')
  if (whitespace === 'condensed') return (line) => line.trimEnd().replace(/\s+/g, ' ')
  // In a last line without a line end, a carriage return counts.
  if (whitespace === 'without-cr') return (line) => line.replace(/\r?\n$/, '')
  return whitespace === 'trimmed' ? (line) => line.trimEnd() : undefined
}

export function hunksOf(before: string, after: string, { context, whitespace, algorithm }: HunkOptions): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  const edits = gitEdits(old, now, { key: lineKey(whitespace), algorithm, trimsTail: context === 0 })
  let text = ''
  let functionFrom = 0
  let functionLine = ''
  for (const group of groupsOf(edits, context)) {
    const span = spanOf(group, { context, oldLength: old.length })
    for (; functionFrom < span.start; functionFrom++) {
      const line = old[functionFrom] ?? ''
      if (FUNCTION_LINE.test(line)) functionLine = ` ${line.slice(0, MAX_FUNCTION_CHARS).trimEnd()}`
    }
    text += `@@ -${rangeOf(span.start, span.end)} +${rangeOf(span.from, span.to)} @@${functionLine}\n`
    text += bodyOf(group, { span, old, now })
  }
  return text
}

/** Groups of changes that are close enough to share their context. */
function groupsOf(edits: readonly LineEdit[], context: number): LineEdit[][] {
  const groups: LineEdit[][] = []
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1)
    if (last && edit.start - last.end <= 2 * context) groups.at(-1)?.push(edit)
    else groups.push([edit])
  }
  return groups
}

function spanOf(group: readonly LineEdit[], { context, oldLength }: { context: number; oldLength: number }): LineEdit {
  const first = group[0] ?? { start: 0, end: 0, from: 0, to: 0 }
  const last = group.at(-1) ?? first
  const start = Math.max(0, first.start - context)
  const end = Math.min(oldLength, last.end + context)
  return { start, end, from: first.from - (first.start - start), to: last.to + (end - last.end) }
}

type Texts = { span: LineEdit; old: readonly string[]; now: readonly string[] }

/** Lines that compare as equal are shown as in the new text. */
function bodyOf(group: readonly LineEdit[], { span, old, now }: Texts): string {
  const shown: string[] = []
  let at = span.from
  for (const { start, end, from, to } of group) {
    for (; at < from; at++) shown.push(` ${now[at] ?? ''}`)
    for (let i = start; i < end; i++) shown.push(`-${old[i] ?? ''}`)
    for (; at < to; at++) shown.push(`+${now[at] ?? ''}`)
  }
  for (; at < span.to; at++) shown.push(` ${now[at] ?? ''}`)
  return shown.map(ended).join('')
}

/** In the form of a hunk's header: the number of the first line, and the count unless it is one. */
function rangeOf(start: number, end: number): string {
  const count = end - start
  return count === 1 ? String(start + 1) : `${count === 0 ? start : start + 1},${count}`
}

function ended(line: string): string {
  return line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`
}
