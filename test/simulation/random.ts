// Chance that can be repeated: the same seed makes the same choices (mulberry32).

import { createHash } from 'node:crypto'

/** The same for the same story. */
export const hashOf = (story: readonly string[]): string =>
  createHash('sha256').update(story.join('\n')).digest('hex').slice(0, 16)

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1. */
  next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(of: number): boolean {
    return this.next() < of
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.below(from.length)]
    if (found === undefined) throw new Error('there is nothing to pick from')
    return found
  }
}
