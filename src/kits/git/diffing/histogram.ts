// The diff of merges and `--histogram`: the longest run of equal lines around the rarest common line is kept, and the
// parts before and after it are compared in the same way.

import type { Side } from './shortest-script.ts'
import { markChanges } from './shortest-script.ts'

/** If all lines are more frequent than this, there is no starting point. */
const MAX_OCCURRENCES = 64

interface Box {
  fromA: number
  toA: number
  fromB: number
  toB: number
}

interface Run {
  a: number
  b: number
  length: number
}

/** Marks the lines that changed on both sides. */
export function markByHistogram(a: Side, b: Side, kinds: number): void {
  const open: Box[] = [{ fromA: 0, toA: a.kinds.length, fromB: 0, toB: b.kinds.length }]
  for (let box = open.pop(); box; box = open.pop()) {
    const { fromA, toA, fromB, toB } = box
    if (fromA === toA || fromB === toB) {
      a.changed.fill(1, fromA, toA)
      b.changed.fill(1, fromB, toB)
      continue
    }
    const search = new RarestRun(a.kinds, b.kinds, box)
    if (search.isTooFrequent) markPart(a, b, { ...box, kinds })
    else if (!search.run) {
      a.changed.fill(1, fromA, toA)
      b.changed.fill(1, fromB, toB)
    } else {
      const { a: atA, b: atB, length } = search.run
      open.push({ fromA: atA + length, toA, fromB: atB + length, toB }, { fromA, toA: atA, fromB, toB: atB })
    }
  }
}

function markPart(a: Side, b: Side, { fromA, toA, fromB, toB, kinds }: Box & { kinds: number }): void {
  const part = ({ lines, kinds: all, changed }: Side, from: number, to: number): Side => ({
    lines,
    kinds: all.subarray(from, to),
    changed: changed.subarray(from, to),
  })
  markChanges(part(a, fromA, toA), part(b, fromB, toB), kinds)
}

class RarestRun {
  /** Null if there is no common line. */
  run: Run | null = null
  readonly #a: Int32Array
  readonly #b: Int32Array
  readonly #box: Box
  /** The positions of each kind of line in the first text. */
  readonly #places = new Map<number, number[]>()
  #fewest = MAX_OCCURRENCES + 1
  #hasCommon = false

  constructor(a: Int32Array, b: Int32Array, box: Box) {
    this.#a = a
    this.#b = b
    this.#box = box
    for (let i = box.fromA; i < box.toA; i++) {
      const places = this.#places.get(a[i] ?? 0)
      if (places) places.push(i)
      else this.#places.set(a[i] ?? 0, [i])
    }
    for (let i = box.fromB; i < box.toB; ) i = this.#try(i)
  }

  get isTooFrequent(): boolean {
    return this.#hasCommon && this.#fewest > MAX_OCCURRENCES
  }

  /** Checks the runs through this line of the second text; returns the line to continue with. */
  #try(at: number): number {
    const places = this.#places.get(this.#b[at] ?? 0)
    let next = at + 1
    if (!places) return next
    this.#hasCommon = true
    if (places.length > this.#fewest) return next
    let end = -1
    for (const place of places) {
      if (place < end) continue
      const { run, rarity } = this.#around(place, at, places.length)
      end = run.a + run.length
      next = Math.max(next, run.b + run.length)
      if ((this.run?.length ?? 1) < run.length || rarity < this.#fewest) {
        this.run = run
        this.#fewest = rarity
      }
    }
    return next
  }

  #around(a: number, b: number, count: number): { run: Run; rarity: number } {
    const { fromA, toA, fromB, toB } = this.#box
    let rarity = count
    const note = (i: number) => {
      rarity = Math.min(rarity, this.#places.get(this.#a[i] ?? 0)?.length ?? rarity)
    }
    let [startA, startB, endA, endB] = [a, b, a + 1, b + 1]
    while (startA > fromA && startB > fromB && this.#a[startA - 1] === this.#b[startB - 1]) {
      note(--startA)
      startB--
    }
    while (endA < toA && endB < toB && this.#a[endA] === this.#b[endB]) {
      note(endA++)
      endB++
    }
    return { run: { a: startA, b: startB, length: endA - startA }, rarity }
  }
}
