// The output formats of `diff`.

import type { LineEdit } from '../../../../../workspace/shifted-edits.ts'

export interface Change extends LineEdit {
  /** Only ignored lines changed: it is shown next to other changes, but not alone. */
  isIgnored: boolean
}

export interface Compared {
  oldLines: readonly string[]
  newLines: readonly string[]
  changes: readonly Change[]
}

export interface Titles {
  old: string
  now: string
  /** Whether the function of a hunk is shown. */
  showsFunction: boolean
}

const NO_END = '\\ No newline at end of file\n'

export function plainText({ oldLines, newLines, changes }: Compared): string {
  const range = (start: number, end: number) => (end - start <= 1 ? String(end) : `${start + 1},${end}`)
  return changes
    .filter(({ isIgnored }) => !isIgnored)
    .map(({ start, end, from, to }) => {
      const kind = start === end ? 'a' : from === to ? 'd' : 'c'
      const removed = marked('< ', oldLines.slice(start, end))
      const added = marked('> ', newLines.slice(from, to))
      return `${range(start, end)}${kind}${range(from, to)}\n${removed}${kind === 'c' ? '---\n' : ''}${added}`
    })
    .join('')
}

/** In the format of RCS: lines of the old text by number, and new lines after one of them. */
export function rcsText({ newLines, changes }: Compared): string {
  return changes
    .filter(({ isIgnored }) => !isIgnored)
    .map(({ start, end, from, to }) => {
      const removed = end > start ? `d${start + 1} ${end - start}\n` : ''
      const added = to > from ? `a${end} ${to - from}\n${newLines.slice(from, to).join('')}` : ''
      return removed + added
    })
    .join('')
}

/** A script for `ed`, from the end to the beginning. A line with a single dot would end its text, so it is written as two. */
export function edText({ newLines, changes }: Compared): string {
  const range = (start: number, end: number) => (end - start <= 1 ? String(end) : `${start + 1},${end}`)
  return changes
    .filter(({ isIgnored }) => !isIgnored)
    .toReversed()
    .map(({ start, end, from, to }) => {
      if (from === to) return `${range(start, end)}d\n`
      const kind = start === end ? 'a' : 'c'
      return `${range(start, end)}${kind}\n${edLines(newLines.slice(from, to))}`
    })
    .join('')
}

function edLines(lines: readonly string[]): string {
  let [text, isOpen] = ['', true]
  for (const line of lines) {
    const whole = line.endsWith('\n') ? line : `${line}\n`
    if (!isOpen) text += 'a\n'
    isOpen = whole !== '.\n'
    text += isOpen ? whole : '..\n.\ns/.//\n'
  }
  return isOpen ? `${text}.\n` : text
}

interface Hunk {
  start: number
  end: number
  from: number
  to: number
  changes: Change[]
}

function hunksOf({ oldLines, changes }: Compared, context: number): Hunk[] {
  const groups: Change[][] = []
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1)
    const near = last && (last.isIgnored || change.isIgnored) ? context - 1 : 2 * context
    if (last && change.start - last.end <= near) groups.at(-1)?.push(change)
    else groups.push([change])
  }
  const hunks: Hunk[] = []
  for (const group of groups) {
    const [first, last] = [group[0], group.at(-1)]
    if (!first || !last || group.every(({ isIgnored }) => isIgnored)) continue
    const lead = Math.min(context, first.start, first.from)
    const trail = Math.min(context, oldLines.length - last.end)
    hunks.push({
      start: first.start - lead,
      end: last.end + trail,
      from: first.from - lead,
      to: last.to + trail,
      changes: group,
    })
  }
  return hunks
}

export function unifiedText(compared: Compared, context: number, { old, now, showsFunction }: Titles): string {
  const { oldLines, newLines } = compared
  const range = (start: number, length: number) =>
    length === 1 ? String(start + 1) : `${length === 0 ? start : start + 1},${length}`
  const parts = hunksOf(compared, context).map(({ start, end, from, to, changes }) => {
    let [text, at] = ['', start]
    for (const change of changes) {
      text += marked(' ', oldLines.slice(at, change.start)) + marked('-', oldLines.slice(change.start, change.end))
      text += marked('+', newLines.slice(change.from, change.to))
      at = change.end
    }
    const name = showsFunction ? functionBefore(oldLines, start) : ''
    const lines = `@@ -${range(start, end - start)} +${range(from, to - from)} @@${name}\n`
    return `${lines}${text}${marked(' ', oldLines.slice(at, end))}`
  })
  return `--- ${old}\n+++ ${now}\n${parts.join('')}`
}

export function contextText(compared: Compared, context: number, { old, now, showsFunction }: Titles): string {
  const { oldLines, newLines } = compared
  const range = (start: number, end: number) => (end - start <= 1 ? String(end) : `${start + 1},${end}`)
  const parts = hunksOf(compared, context).map((hunk) => {
    const { start, end, from, to, changes } = hunk
    const name = showsFunction ? functionBefore(oldLines, start) : ''
    const [removes, adds] = [changes.some((one) => one.start < one.end), changes.some((one) => one.from < one.to)]
    const before = removes ? sideText(oldLines, { hunk, isOld: true }) : ''
    const after = adds ? sideText(newLines, { hunk, isOld: false }) : ''
    return `***************${name}\n*** ${range(start, end)} ****\n${before}--- ${range(from, to)} ----\n${after}`
  })
  return `*** ${old}\n--- ${now}\n${parts.join('')}`
}

function sideText(lines: readonly string[], { hunk, isOld }: { hunk: Hunk; isOld: boolean }): string {
  let [text, at] = ['', isOld ? hunk.start : hunk.from]
  for (const change of hunk.changes) {
    const [start, end] = isOld ? [change.start, change.end] : [change.from, change.to]
    const isReplaced = change.start < change.end && change.from < change.to
    text +=
      marked('  ', lines.slice(at, start)) + marked(isReplaced ? '! ' : isOld ? '- ' : '+ ', lines.slice(start, end))
    at = end
  }
  return text + marked('  ', lines.slice(at, isOld ? hunk.end : hunk.to))
}

const FUNCTION_CHARS = 40

/** The last preceding line that starts with a letter, `_` or `$`. */
function functionBefore(lines: readonly string[], start: number): string {
  for (let at = start - 1; at >= 0; at--) {
    const line = lines[at] ?? ''
    if (/^[A-Za-z$_]/.test(line)) return ` ${line.trimEnd().slice(0, FUNCTION_CHARS).trimEnd()}`
  }
  return ''
}

function marked(mark: string, lines: readonly string[]): string {
  return lines.map((line) => `${mark}${line}${line.endsWith('\n') ? '' : `\n${NO_END}`}`).join('')
}
