// Classes of characters: those that no set of a pattern distinguishes are one class.

import { has } from './char-sets.ts'
import type { Ranges } from './syntax.ts'

/** The kind of neighbor of a position, for assertions. */
export const EDGE = 0
export const WORD = 1
const OTHER = 2

const PLANE = 0x10000

export class Alphabet {
  readonly size: number
  /** The class of separators between records, and of the edges of the text. */
  readonly separatorClass: number
  readonly #plane = new Uint16Array(PLANE)
  readonly #beyondStarts: number[] = []
  readonly #beyondClasses: number[] = []
  readonly #kinds: number[] = []
  readonly #examples: number[] = []

  constructor(sets: readonly Ranges[], word: Ranges, separator: number) {
    const all = [...sets, word, [separator, separator]]
    const bounds = new Set([0, PLANE])
    for (const set of all) for (let i = 0; i < set.length; i++) bounds.add((set[i] ?? 0) + (i % 2))
    const starts = [...bounds].sort((a, b) => a - b)
    const known = new Map<string, number>()
    starts.forEach((start, i) => {
      const signature = all.map((set) => (has(set, start) ? '1' : '0')).join('')
      let found = known.get(signature)
      if (found === undefined) {
        found = known.size
        known.set(signature, found)
        this.#examples.push(start)
        this.#kinds.push(start === separator ? EDGE : has(word, start) ? WORD : OTHER)
      }
      if (start < PLANE) this.#plane.fill(found, start, Math.min(starts[i + 1] ?? PLANE, PLANE))
      else {
        this.#beyondStarts.push(start)
        this.#beyondClasses.push(found)
      }
    })
    this.size = known.size
    this.separatorClass = this.#plane[separator] ?? 0
  }

  /** By code unit, for many lookups. */
  get units(): Uint16Array {
    return this.#plane
  }

  classBeyond(code: number): number {
    let low = 0
    for (let high = this.#beyondStarts.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((this.#beyondStarts[middle] ?? 0) <= code) low = middle + 1
      else high = middle
    }
    return this.#beyondClasses[low - 1] ?? 0
  }

  kindOf(characterClass: number): number {
    return this.#kinds[characterClass] ?? OTHER
  }

  isIn(characterClass: number, set: Ranges): boolean {
    return has(set, this.#examples[characterClass] ?? 0)
  }
}
