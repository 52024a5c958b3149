// `diff -y`: both files side by side, with a mark between different lines.

import { charsOf, textOf } from '../bytes.ts'
import { columnsOf } from '../width.ts'
import type { Compared } from './formats.ts'

export interface Sides {
  width: number
  expandsTabs: boolean
  /** For equal lines, only the left one. */
  leftColumn: boolean
  hidesCommon: boolean
}

const TAB = 8
const GUTTER = 3

interface Layout {
  half: number
  /** The start of the right side. */
  second: number
  expandsTabs: boolean
}

export function sideBySide({ oldLines, newLines, changes }: Compared, sides: Sides): string {
  const layout = layoutOf(sides)
  let [text, old, now] = ['', 0, 0]
  const common = (end: number) => {
    for (; old < end; old++, now++) {
      if (sides.hidesCommon) continue
      text += sides.leftColumn
        ? row(oldLines[old], '(', undefined, layout)
        : row(oldLines[old], ' ', newLines[now], layout)
    }
  }
  for (const { start, end, from, to, isIgnored } of changes) {
    common(start)
    const both = Math.min(end - start, to - from)
    for (let i = 0; i < both; i++) text += row(oldLines[start + i], isIgnored ? ' ' : '|', newLines[from + i], layout)
    for (let i = from + both; i < to; i++) text += row(undefined, isIgnored ? ' ' : '>', newLines[i], layout)
    for (let i = start + both; i < end; i++) text += row(oldLines[i], isIgnored ? ' ' : '<', undefined, layout)
    old = end
    now = to
  }
  common(oldLines.length)
  return text
}

/** The right side starts at a tab stop. */
function layoutOf({ width, expandsTabs }: Sides): Layout {
  const tab = expandsTabs ? 1 : TAB
  const middle = (width >> 1) + ((tab + GUTTER) >> 1) + (width & (tab + GUTTER) & 1)
  const second = middle - (middle % tab)
  const half = Math.max(0, Math.min(second - GUTTER, width - second))
  return { half, second: half > 0 ? second : width, expandsTabs }
}

function row(left: string | undefined, mark: string, right: string | undefined, layout: Layout): string {
  const { half, second } = layout
  let [text, column] = left === undefined ? ['', 0] : halfLine(left, layout)
  const endsLeft = left?.endsWith('\n') ?? false
  const endsRight = right?.endsWith('\n') ?? false
  if (mark !== ' ') {
    const at = (half + second - 1) >> 1
    // One of the two has no line end.
    const shown = mark === '|' && endsLeft !== endsRight ? (endsLeft ? '/' : '\\') : mark
    text += gap(column, at, layout) + shown
    column = at + 1
  }
  if (right !== undefined && right !== '\n') text += gap(column, second, layout) + halfLine(right, layout)[0]
  return endsLeft || endsRight ? `${text}\n` : text
}

function gap(from: number, to: number, { expandsTabs }: Layout): string {
  let [text, at] = ['', from]
  if (!expandsTabs) {
    for (let stop = at + TAB - (at % TAB); stop <= to; stop += TAB) {
      text += '\t'
      at = stop
    }
  }
  return text + ' '.repeat(Math.max(0, to - at))
}

/** The part of a line that fits, and the column of its end. */
function halfLine(line: string, { half, expandsTabs }: Layout): [string, number] {
  let [text, read, shown] = ['', 0, 0]
  for (const char of charsOf(line)) {
    if (char === '\n') break
    if (char === '\t') {
      const stop = read + TAB - (read % TAB)
      if (read === shown && expandsTabs) {
        text += ' '.repeat(Math.max(0, Math.min(stop, half) - shown))
        shown = Math.max(shown, Math.min(stop, half))
      } else if (read === shown && stop < half) {
        text += char
        shown = stop
      }
      read = stop
      continue
    }
    read += char.length > 1 ? columnsOf(textOf(char)) : 1
    if (read <= half) {
      text += char
      shown = read
    }
  }
  return [text, shown]
}
