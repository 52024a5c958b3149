// An index from characters to Chinese names.

import { isHan } from './fold.ts'
import type { NameTable } from './name-table.ts'
import { TERM } from './terms.ts'

/** Names in Chinese characters, and for each character the numbers of the names that contain it. */
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

/** The numbers of the names that contain this character. */
export function namesWith({ starts, entries }: CharacterLists, code: number): Uint16Array {
  return entries.subarray(starts[code], starts[code + 1])
}

/** Increments the counter and returns its previous value. */
function bump(counts: Uint32Array | Uint8Array, place: number): number {
  const before = counts[place] ?? 0
  counts[place] = before + 1
  return before
}

/** Each distinct character once. Names are short, so looking back is faster than a set. */
function eachCode(text: string, see: (code: number) => void): void {
  for (let i = 0; i < text.length; i++) if (text.indexOf(text.charAt(i)) === i) see(text.charCodeAt(i))
}
