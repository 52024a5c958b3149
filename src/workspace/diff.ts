// Finds the changed lines of a text.

import { diffArrays } from 'diff'
import { type LineEdit, shiftedEdits } from './shifted-edits.ts'

/** The time of the search for the shortest script grows with the square of its length. */
const MAX_EDIT_LENGTH = 3000

/** Each line with its line end; the last one may have none. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
}

/**
 * The shortest list of edits from one text to the other; for texts that have little in common, a list that is found
 * quickly.
 */
export function lineEdits(before: readonly string[], after: readonly string[]): LineEdit[] {
  const edits = editsBetween(before, after, { start: 0, end: before.length, from: 0, to: after.length })
  return shiftedEdits(edits, before, after)
}

function editsBetween(before: readonly string[], after: readonly string[], whole: LineEdit): LineEdit[] {
  const part = trimmed(before, after, whole)
  const { start, end, from, to } = part
  if (start === end && from === to) return []
  if (start === end || from === to) return [part]
  const found = diffArrays(before.slice(start, end), after.slice(from, to), { maxEditLength: MAX_EDIT_LENGTH })
  return found ? editsOf(found, part) : anchoredEdits(before, after, part)
}

/** Without the common beginning and end of both. */
function trimmed(before: readonly string[], after: readonly string[], { start, end, from, to }: LineEdit): LineEdit {
  const part = { start, end, from, to }
  while (part.start < part.end && part.from < part.to && before[part.start] === after[part.from]) {
    part.start++
    part.from++
  }
  while (part.start < part.end && part.from < part.to && before[part.end - 1] === after[part.to - 1]) {
    part.end--
    part.to--
  }
  return part
}

type Piece = { added?: boolean; removed?: boolean; value: string[] }

function editsOf(pieces: readonly Piece[], { start, from }: LineEdit): LineEdit[] {
  const edits: LineEdit[] = []
  let [old, now] = [start, from]
  let open: LineEdit | null = null
  for (const { added = false, removed = false, value } of pieces) {
    if (!added && !removed) open = null
    else if (!open) {
      open = { start: old, end: old, from: now, to: now }
      edits.push(open)
    }
    if (!added) old += value.length
    if (!removed) now += value.length
    if (open) Object.assign(open, { end: old, to: now })
  }
  return edits
}

/** Lines that occur once in each text are matched; the lines between them are compared separately. */
function anchoredEdits(before: readonly string[], after: readonly string[], part: LineEdit): LineEdit[] {
  const anchors = increasing(uniquePairs(before, after, part))
  if (anchors.length === 0) return [part]
  const edits: LineEdit[] = []
  let { start, from } = part
  for (const { old, now } of [...anchors, { old: part.end, now: part.to }]) {
    edits.push(...editsBetween(before, after, { start, end: old, from, to: now }))
    start = old + 1
    from = now + 1
  }
  return edits
}

type Pair = { old: number; now: number }

function uniquePairs(before: readonly string[], after: readonly string[], part: LineEdit): Pair[] {
  const places = new Map<string, { old: number; now: number; olds: number; nows: number }>()
  for (let i = part.start; i < part.end; i++) {
    const place = places.get(before[i] ?? '') ?? { old: i, now: 0, olds: 0, nows: 0 }
    place.olds++
    places.set(before[i] ?? '', place)
  }
  for (let i = part.from; i < part.to; i++) {
    const place = places.get(after[i] ?? '')
    if (!place) continue
    place.now = i
    place.nows++
  }
  return [...places.values()].filter(({ olds, nows }) => olds === 1 && nows === 1)
}

/** The longest sequence of pairs with the same order in both texts. */
function increasing(pairs: Pair[]): Pair[] {
  const tails: number[] = []
  const previous: number[] = []
  pairs.forEach(({ now }, i) => {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[tails[middle] ?? 0]?.now ?? 0) < now) low = middle + 1
      else high = middle
    }
    previous[i] = low === 0 ? -1 : (tails[low - 1] ?? -1)
    tails[low] = i
  })
  const chosen: Pair[] = []
  for (let i = tails.at(-1) ?? -1; i >= 0; i = previous[i] ?? -1) {
    const pair = pairs[i]
    if (pair) chosen.push(pair)
  }
  return chosen.reverse()
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text, or null for bytes that are not text. */
export function textIfAny(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return strict.decode(bytes)
  } catch {
    // The decoder throws for invalid UTF-8; this is an expected result.
    return null
  }
}
