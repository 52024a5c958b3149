// Applies hunks to a text, with positions found like in GNU's `patch`: near their line number, first with all of their
// context, then with less.

import type { Hunk, PatchForm } from './read.ts'

export interface Patched {
  lines: string[]
  /** Messages about hunks with an offset or fuzz. */
  notes: string[]
  failed: Hunk[]
}

const MAX_FUZZ = 2

export function applyHunks(before: readonly string[], hunks: readonly Hunk[], maxFuzz = MAX_FUZZ): Patched {
  const lines: string[] = []
  const [notes, failed]: [string[], Hunk[]] = [[], []]
  let [taken, offset, grown] = [0, 0, 0]
  for (const [i, hunk] of hunks.entries()) {
    const parts = partsOf(hunk)
    const first = hunk.oldStart - 1
    const found = placeOf(before, parts, { expected: first + offset, from: taken, maxFuzz })
    if (!found) {
      failed.push(hunk)
      notes.push(
        `Hunk #${i + 1} FAILED at ${Math.max(1, hunk.oldStart)}${differsInEnds(before, parts) ? ' (different line endings)' : ''}.`,
      )
      continue
    }
    const { at, fuzz } = found
    offset = at - first
    if (offset !== 0 || fuzz > 0) notes.push(noteOf(i + 1, { line: at + 1 + grown, fuzz, offset }))
    for (let i = taken; i < at; i++) lines.push(before[i] ?? '')
    // For ignored context, the file's own lines are kept.
    const { head, tail } = trimmedBy(fuzz, parts)
    const old = parts.old.length
    lines.push(...before.slice(at, at + head), ...parts.next.slice(head, parts.next.length - tail))
    lines.push(...before.slice(at + old - tail, at + old))
    taken = at + old
    grown += parts.next.length - old
  }
  return { lines: lines.concat(before.slice(taken)), notes, failed }
}

/** Whether it would match without carriage returns at line ends. */
function differsInEnds(before: readonly string[], parts: HunkSides): boolean {
  const plain = (lines: readonly string[]) => lines.map((line) => line.replace(/\r?\n$/, '\n'))
  const isDifferent = parts.old.some((line) => line.endsWith('\r\n')) !== before.some((line) => line.endsWith('\r\n'))
  if (!isDifferent) return false
  const stripped = { ...parts, old: plain(parts.old) }
  return placeOf(plain(before), stripped, { expected: 0, from: 0, maxFuzz: 0 }) !== null
}

function noteOf(number: number, { line, fuzz, offset }: { line: number; fuzz: number; offset: number }): string {
  const withFuzz = fuzz > 0 ? ` with fuzz ${fuzz}` : ''
  const moved = offset === 0 ? '' : ` (offset ${offset} line${offset === 1 ? '' : 's'})`
  return `Hunk #${number} succeeded at ${line}${withFuzz}${moved}.`
}

type HunkSides = { old: string[]; next: string[]; contextBefore: number; contextAfter: number }

function partsOf({ lines }: Hunk): HunkSides {
  const parts: HunkSides = { old: [], next: [], contextBefore: 0, contextAfter: 0 }
  let hasChange = false
  for (const [i, line] of lines.entries()) {
    const kind = line.charAt(0)
    if (kind === '\\') continue
    const text = line.slice(1) + (lines[i + 1]?.startsWith('\\') ? '' : '\n')
    if (kind !== '+') parts.old.push(text)
    if (kind !== '-') parts.next.push(text)
    if (kind === '+' || kind === '-') {
      hasChange = true
      parts.contextAfter = 0
    } else if (hasChange) parts.contextAfter++
    else parts.contextBefore++
  }
  return parts
}

/** The number of ignored context lines at both ends: more at the side with more context. */
function trimmedBy(fuzz: number, { contextBefore, contextAfter }: HunkSides): { head: number; tail: number } {
  const most = Math.max(contextBefore, contextAfter)
  return { head: Math.max(0, fuzz - (most - contextBefore)), tail: Math.max(0, fuzz - (most - contextAfter)) }
}

type Search = { expected: number; from: number; maxFuzz: number }

function placeOf(before: readonly string[], parts: HunkSides, { expected, from, maxFuzz }: Search) {
  const most = Math.min(maxFuzz, Math.max(parts.contextBefore, parts.contextAfter))
  for (let fuzz = 0; fuzz <= most; fuzz++) {
    const at = nearest(before, parts, { ...trimmedBy(fuzz, parts), expected, from, fuzz })
    if (at !== null) return { at, fuzz }
  }
  return null
}

type Near = { head: number; tail: number; expected: number; from: number; fuzz: number }

function nearest(
  before: readonly string[],
  parts: HunkSides,
  { head, tail, expected, from, fuzz }: Near,
): number | null {
  const { old, contextBefore, contextAfter } = parts
  const last = before.length - old.length
  const fits = (at: number): boolean => {
    if (at < from || at + head < 0 || at > last + tail) return false
    for (let i = head; i < old.length - tail; i++) if (before[at + i] !== old[i]) return false
    return true
  }
  // Less context before than after means the start of the file, and vice versa its end.
  if (fuzz === 0 && contextBefore < contextAfter && expected <= 0) return fits(0) ? 0 : null
  if (fuzz === 0 && contextAfter < contextBefore && fits(last) && expected === last) return last
  const reach = Math.max(expected - from, last + tail - expected, 0)
  for (let distance = 0; distance <= reach; distance++) {
    if (fits(expected + distance)) return expected + distance
    if (distance > 0 && fits(expected - distance)) return expected - distance
  }
  return null
}

/** The rejected hunks, as a separate patch: unified ones in their form, all others in context form. */
export function rejectsOf(header: string, hunks: readonly Hunk[], form: PatchForm): string {
  if (form !== 'unified') return header + hunks.map((hunk) => inContext(hunk, form)).join('')
  const range = (start: number, count: number) =>
    count === 1 ? String(start) : `${count === 0 ? start - 1 : start},${count}`
  const shown = hunks.map(
    ({ oldStart, oldLines, newStart, newLines, lines }) =>
      `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.map((line) => `${line}\n`).join('')}`,
  )
  return header + shown.join('')
}

function inContext(hunk: Hunk, form: PatchForm): string {
  const [stars, minuses] = form === 'context' ? [' ****', ' ----'] : ['', ' -----']
  const range = (start: number, count: number) =>
    count === 0 ? '0' : count === 1 ? String(start) : `${start},${start + count - 1}`
  const half = (mark: string) =>
    marked(hunk.lines, form === 'context')
      .filter(({ kind }) => kind === ' ' || kind === mark)
      .map(({ sign, text }) => `${sign} ${text}\n`)
      .join('')
  const old = `*** ${range(hunk.oldStart, hunk.oldLines)}${stars}\n${half('-')}`
  return `***************\n${old}--- ${range(hunk.newStart, hunk.newLines)}${minuses}\n${half('+')}`
}

type Marked = { kind: string; sign: string; text: string }

/** Replaced lines have their own sign, if the form has one. */
function marked(lines: readonly string[], hasChanges: boolean): Marked[] {
  const result: Marked[] = []
  let block: Marked[] = []
  const close = () => {
    const isChange = hasChanges && new Set(block.map(({ kind }) => kind)).size > 1
    for (const one of block) result.push(isChange ? { ...one, sign: '!' } : one)
    block = []
  }
  for (const line of lines.filter((one) => !one.startsWith('\\'))) {
    const one = { kind: line.charAt(0), sign: line.charAt(0), text: line.slice(1) }
    if (one.kind === ' ') {
      close()
      result.push(one)
    } else block.push(one)
  }
  close()
  return result
}
