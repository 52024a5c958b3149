// Names that are nearly the one that was typed. Only names that share enough characters with it are compared, and those are
// found through lists of who has which character.

import { isHan } from './fold.ts'
import type { NameTable } from './name-table.ts'
import { TERM } from './terms.ts'

/** Names in Chinese characters, and for each character the numbers of the names that have it. */
export type CharacterLists = {
  readonly terms: Uint16Array
  readonly starts: Uint32Array
  readonly entries: Uint16Array
}

const CODE_UNITS = 0x10000

export function characterLists({ texts, kinds }: Pick<NameTable, 'texts' | 'kinds'>): CharacterLists {
  const terms: number[] = []
  for (let at = 0; at < texts.length; at++) if (kinds[at] === TERM.name && isHan(texts[at] ?? '')) terms.push(at)
  const starts = new Uint32Array(CODE_UNITS + 1)
  for (const at of terms) eachCode(texts[at] ?? '', (code) => bump(starts, code + 1))
  for (let code = 1; code <= CODE_UNITS; code++) starts[code] = (starts[code] ?? 0) + (starts[code - 1] ?? 0)
  const next = starts.slice()
  const entries = new Uint16Array(starts[CODE_UNITS] ?? 0)
  for (const [number, at] of terms.entries()) {
    eachCode(texts[at] ?? '', (code) => {
      entries[bump(next, code)] = number
    })
  }
  return { terms: Uint16Array.from(terms), starts, entries }
}

/** The numbers of the names that have this character. */
export function namesWith({ starts, entries }: CharacterLists, code: number): Uint16Array {
  return entries.subarray(starts[code], starts[code + 1])
}

/** Adds one to the place and tells what stood there. */
function bump(counts: Uint32Array | Uint8Array, place: number): number {
  const before = counts[place] ?? 0
  counts[place] = before + 1
  return before
}

/** Each distinct character once. Names are short: looking back is quicker than a set. */
function eachCode(text: string, see: (code: number) => void): void {
  for (let i = 0; i < text.length; i++) if (text.indexOf(text.charAt(i)) === i) see(text.charCodeAt(i))
}

const SHORTEST = 3
const CLOSE = 0.8
const TYPO = 0.7

/** The places of the names most like `text`, if they are like enough; several when they are equally so. */
export function closestTerms(
  { texts }: Pick<NameTable, 'texts'>,
  lists: CharacterLists,
  text: string,
): { likeness: number; places: number[] } {
  let best = { likeness: 0, places: [] as number[] }
  if (text.length < SHORTEST) return best
  const shared = new Uint8Array(lists.terms.length)
  // No common subsequence is longer than the shared characters, each counted once, and what the text repeats.
  let repeated = text.length
  eachCode(text, (code) => {
    repeated--
    for (const number of namesWith(lists, code)) bump(shared, number)
  })
  for (let number = 0; number < shared.length; number++) {
    const place = lists.terms[number] ?? 0
    const name = texts[place] ?? ''
    if (2 * ((shared[number] ?? 0) + repeated) < TYPO * (text.length + name.length)) continue
    const likeness = similarity(text, name)
    if (!isClose(text, name, likeness) || likeness < best.likeness) continue
    if (likeness > best.likeness) best = { likeness, places: [] }
    best.places.push(place)
  }
  return best
}

function isClose(text: string, name: string, likeness: number): boolean {
  if (name.length < SHORTEST) return false
  if (likeness >= CLOSE) return true
  return likeness >= TYPO && text.length === name.length && differences(text, name) === 1
}

function differences(a: string, b: string): number {
  let count = 0
  for (let i = 0; i < a.length; i++) if (a.charCodeAt(i) !== b.charCodeAt(i)) count++
  return count
}

/** Twice the length of the longest common subsequence over both lengths: 1 for equals, 0 for strangers. */
export function similarity(a: string, b: string): number {
  if (a.length + b.length === 0) return 1
  const row = new Uint8Array(b.length + 1)
  for (let i = 0; i < a.length; i++) {
    let diagonal = 0
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0
      row[j] = a.charCodeAt(i) === b.charCodeAt(j - 1) ? diagonal + 1 : Math.max(above, row[j - 1] ?? 0)
      diagonal = above
    }
  }
  return (2 * (row[b.length] ?? 0)) / (a.length + b.length)
}
