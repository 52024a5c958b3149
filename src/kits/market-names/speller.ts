// Pinyin as in the names of the list: it has no dictionary of its own, so characters that are not in the list have no
// pinyin.

import { isHan } from './fold.ts'
import type { Listing } from './listing.ts'

/** The most common reading of each character. A name with an unknown character gives an empty text. */
export function spellerFrom(known: readonly Pick<Listing, 'zh' | 'pinyin'>[]): (name: string) => string {
  const counts = new Map<string, Map<string, number>>()
  for (const { zh, pinyin } of known) {
    const parts = partsOf(zh)
    const syllables = pinyin.split(' ')
    if (parts.length !== syllables.length) continue
    for (const [i, part] of parts.entries()) {
      const readings = counts.get(part) ?? new Map<string, number>()
      const reading = syllables[i] ?? ''
      readings.set(reading, (readings.get(reading) ?? 0) + 1)
      counts.set(part, readings)
    }
  }
  const commonest = (part: string): string | null => {
    if (!isHan(part)) return part
    const readings = [...(counts.get(part) ?? [])].sort((a, b) => b[1] - a[1])
    return readings[0]?.[0] ?? null
  }
  return (name) => {
    if (!isHan(name)) return ''
    const syllables = partsOf(name).map(commonest)
    return syllables.every((syllable) => syllable !== null) ? syllables.join(' ') : ''
  }
}

/** Each Chinese character, and each run of letters and digits. */
export function partsOf(name: string): string[] {
  return name.toLowerCase().match(/[\u3400-\u9fff]|[a-z0-9]+/g) ?? []
}
