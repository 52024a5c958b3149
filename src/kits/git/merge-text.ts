// Merges two sets of changes to one text, and marks their conflicts.

import { linesOf } from '../../workspace/diff.ts'
import type { LineEdit } from '../../workspace/shifted-edits.ts'
import { gitEdits } from './diffing/line-edits.ts'

export interface MergeLabels {
  ours: string
  theirs: string
  base?: string
}

/** The resolution of a conflict: both sides between markers, one of the sides, or both. */
export type Favour = 'ours' | 'theirs' | 'union'

export interface MergeStyle {
  favour?: Favour | undefined
  /** Whether the markers include the base. */
  showsBase?: boolean | undefined
}

export interface MergedText {
  text: string
  conflicts: number
}

/** A part of the three texts with differences, and the side whose lines are used. */
interface Region {
  taken: 'ours' | 'theirs' | 'same' | 'conflict'
  base: Span
  ours: Span
  theirs: Span
}

interface Span {
  at: number
  count: number
}

/** Conflicts with at most this many lines between them are joined. */
const NEAR = 3

interface Texts {
  base: string[]
  ours: string[]
  theirs: string[]
}

/** Lines are compared with their line ends, so a missing line end is a change like any other. */
export function mergeText(
  base: string,
  [ours, theirs]: readonly [string, string],
  { favour, showsBase = false, ...labels }: MergeLabels & MergeStyle,
): MergedText {
  const texts = { base: linesOf(base), ours: linesOf(ours), theirs: linesOf(theirs) }
  const regions = regionsOf(texts)
  // With the base between the markers, the complete sides are shown next to it.
  const shown = showsBase ? regions : joinedNear(regions.flatMap((region) => refined(region, texts)))
  const merged: string[] = []
  let at = 0
  let conflicts = 0
  for (const region of shown) {
    if (region.taken === 'same') continue
    merged.push(...texts.ours.slice(at, region.ours.at))
    at = region.ours.at + region.ours.count
    if (region.taken === 'conflict' && !favour) {
      conflicts++
      merged.push(...marked(region, texts, { labels, showsBase }))
    } else {
      merged.push(...taken(region, texts, favour))
    }
  }
  merged.push(...texts.ours.slice(at))
  return { text: merged.join(''), conflicts }
}

const compare = (before: readonly string[], after: readonly string[]) =>
  gitEdits(before, after, { byIndent: false, algorithm: 'histogram' })

/** Changes of both sides that overlap or touch are a conflict, unless they are equal. */
function regionsOf(texts: Texts): Region[] {
  const [mine, yours] = [compare(texts.base, texts.ours), compare(texts.base, texts.theirs)]
  const regions: Region[] = []
  let [i, j] = [0, 0]
  /** The offset of each side relative to the base after its last change. */
  const shift = { ours: 0, theirs: 0 }
  for (let [a, b] = [mine[i], yours[j]]; a || b; [a, b] = [mine[i], yours[j]]) {
    if (a && (!b || a.end < b.start)) {
      const base = { at: a.start, count: a.end - a.start }
      add(regions, { taken: 'ours', base, ours: newSpan(a), theirs: { ...base, at: a.start + shift.theirs } })
      shift.ours = a.to - a.end
      i++
    } else if (b && (!a || b.end < a.start)) {
      const base = { at: b.start, count: b.end - b.start }
      add(regions, { taken: 'theirs', base, ours: { ...base, at: b.start + shift.ours }, theirs: newSpan(b) })
      shift.theirs = b.to - b.end
      j++
    } else if (a && b) {
      if (!isSameChange(a, b, texts)) add(regions, overlapping(a, b))
      if (a.end >= b.end) {
        shift.theirs = b.to - b.end
        j++
      }
      if (b.end >= a.end) {
        shift.ours = a.to - a.end
        i++
      }
    }
  }
  return regions
}

function newSpan({ from, to }: LineEdit): Span {
  return { at: from, count: to - from }
}

function isSameChange(a: LineEdit, b: LineEdit, { ours, theirs }: Texts): boolean {
  if (a.start !== b.start || a.end !== b.end || a.to - a.from !== b.to - b.from) return false
  return sameLines(ours.slice(a.from, a.to), theirs.slice(b.from, b.to))
}

/** The part of the base that either change covers, with the lines of each side. */
function overlapping(a: LineEdit, b: LineEdit): Region {
  const start = Math.min(a.start, b.start)
  const end = Math.max(a.end, b.end)
  const side = (edit: LineEdit): Span => {
    const at = edit.from - (edit.start - start)
    return { at, count: edit.to + (end - edit.end) - at }
  }
  return { taken: 'conflict', base: { at: start, count: end - start }, ours: side(a), theirs: side(b) }
}

/** A region that touches the last one on either side is joined with it. */
function add(regions: Region[], region: Region): void {
  const last = regions.at(-1)
  const touches = (side: 'ours' | 'theirs') => last && region[side].at <= last[side].at + last[side].count
  if (!last || !(touches('ours') || touches('theirs'))) {
    regions.push(region)
    return
  }
  if (last.taken !== region.taken) last.taken = 'conflict'
  for (const side of ['base', 'ours', 'theirs'] as const) {
    last[side] = { at: last[side].at, count: region[side].at + region[side].count - last[side].at }
  }
}

/** Common lines of both sides are removed from a conflict, which may leave several smaller ones. */
function refined(region: Region, { ours, theirs }: Texts): Region[] {
  if (region.taken !== 'conflict' || region.ours.count === 0 || region.theirs.count === 0) return [region]
  const linesIn = (text: string[], { at, count }: Span) => text.slice(at, at + count)
  const edits = compare(linesIn(ours, region.ours), linesIn(theirs, region.theirs))
  if (edits.length === 0) return [{ ...region, taken: 'same' }]
  return edits.map(({ start, end, from, to }) => ({
    ...region,
    ours: { at: region.ours.at + start, count: end - start },
    theirs: { at: region.theirs.at + from, count: to - from },
  }))
}

function joinedNear(regions: readonly Region[]): Region[] {
  const joined: Region[] = []
  for (const region of regions) {
    const last = joined.at(-1)
    const isNear = last && region.ours.at - (last.ours.at + last.ours.count) <= NEAR
    if (!last || !isNear || last.taken !== 'conflict' || region.taken !== 'conflict') {
      joined.push({ ...region })
      continue
    }
    for (const side of ['ours', 'theirs'] as const) {
      last[side] = { at: last[side].at, count: region[side].at + region[side].count - last[side].at }
    }
  }
  return joined
}

function taken(region: Region, { ours, theirs }: Texts, favour: Favour | undefined): string[] {
  const linesIn = (text: string[], { at, count }: Span) => text.slice(at, at + count)
  const whose = region.taken === 'conflict' ? favour : region.taken
  if (whose === 'ours') return linesIn(ours, region.ours)
  if (whose === 'theirs') return linesIn(theirs, region.theirs)
  return [...ended(linesIn(ours, region.ours), '\n'), ...linesIn(theirs, region.theirs)]
}

function marked(
  region: Region,
  texts: Texts,
  { labels, showsBase }: { labels: MergeLabels; showsBase: boolean },
): string[] {
  const end = hasCarriageReturns(region, texts) ? '\r\n' : '\n'
  const side = (name: keyof Texts) =>
    ended(texts[name].slice(region[name].at, region[name].at + region[name].count), end)
  const mark = (sign: string, label: string) => `${sign.repeat(7)}${label === '' ? '' : ` ${label}`}${end}`
  return [
    mark('<', labels.ours),
    ...side('ours'),
    ...(showsBase ? [mark('|', labels.base ?? ''), ...side('base')] : []),
    mark('=', ''),
    ...side('theirs'),
    mark('>', labels.theirs),
  ]
}

/** Whether the lines before the conflict, and the first of the base, end with CRLF. */
function hasCarriageReturns({ ours, theirs }: Region, texts: Texts): boolean {
  const places = [
    { lines: texts.ours, at: Math.max(0, ours.at - 1) },
    { lines: texts.theirs, at: Math.max(0, theirs.at - 1) },
    { lines: texts.base, at: 0 },
  ]
  let has = false
  for (const { lines, at } of places) {
    const line = lines[at] ?? ''
    const told = line.endsWith('\n') ? line : at > 0 ? (lines[at - 1] ?? '') : null
    // A single line without a line end gives no information.
    if (told === null) continue
    if (!told.endsWith('\r\n')) return false
    has = true
  }
  return has
}

function ended(lines: string[], end: string): string[] {
  return lines.map((line) => (line.endsWith('\n') ? line : line + end))
}

function sameLines(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i])
}
