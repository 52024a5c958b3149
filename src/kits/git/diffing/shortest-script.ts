// Finds a short script between two texts with Myers' algorithm in linear space, with git's heuristics for texts that
// are large or have little in common.

/** One of the two texts. */
export interface Side {
  lines: readonly string[]
  /** Lines that compare as equal have the same number. */
  kinds: Int32Array
  /** 1 for a changed line. */
  changed: Uint8Array
}

/** Beyond this number of steps, a good enough script is used. */
const MIN_COST_LIMIT = 256
/** This many consecutive equal lines are a good position to split the problem. */
const GOOD_RUN = 20
const GOOD_RUN_AFTER = 256
const GOOD_RUN_FACTOR = 4
/** A line with at least this frequency is a weak indication. */
const MAX_FREQUENT = 1024
const NEIGHBOURS = 100
const UNMATCHED_SHARE = 4
const FAR = 2 ** 30

/** Marks the lines that changed on both sides. `kinds` is the number of different lines. */
export function markChanges(a: Side, b: Side, kinds: number): void {
  const [endA, endB] = [a.kinds.length, b.kinds.length]
  let head = 0
  while (head < endA && head < endB && a.kinds[head] === b.kinds[head]) head++
  let tail = 0
  while (tail < endA - head && tail < endB - head && a.kinds[endA - 1 - tail] === b.kinds[endB - 1 - tail]) tail++
  const [countA, countB] = [countsOf(a, kinds), countsOf(b, kinds)]
  const left = telling(a, { from: head, to: endA - tail, counts: countB })
  const right = telling(b, { from: head, to: endB - tail, counts: countA })
  new Comparison(left, right).compare({ fromA: 0, toA: left.kinds.length, fromB: 0, toB: right.kinds.length }, false)
}

function countsOf({ kinds }: Side, size: number): Int32Array {
  const counts = new Int32Array(size)
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** Roughly the square root; a power of two. */
function roughRoot(value: number): number {
  let root = 1
  for (let left = value; left > 0; left >>= 2) root <<= 1
  return root
}

/** The lines that are left to compare, and their positions in the text. */
interface Telling {
  side: Side
  kinds: Int32Array
  places: Int32Array
}

const NONE = 0
const SOME = 1
const MANY = 2

type Stretch = { from: number; to: number; counts: Int32Array }

function telling(side: Side, { from, to, counts }: Stretch): Telling {
  const limit = Math.min(roughRoot(side.kinds.length), MAX_FREQUENT)
  const matches = new Uint8Array(side.kinds.length)
  for (let i = from; i < to; i++) {
    const count = counts[side.kinds[i] ?? 0] ?? 0
    matches[i] = count === 0 ? NONE : count >= limit ? MANY : SOME
  }
  const kept: number[] = []
  for (let i = from; i < to; i++) {
    const isKept = matches[i] === SOME || (matches[i] === MANY && !isAmongUnmatched(matches, i, { from, to: to - 1 }))
    if (isKept) kept.push(i)
    else side.changed[i] = 1
  }
  return { side, places: Int32Array.from(kept), kinds: Int32Array.from(kept, (i) => side.kinds[i] ?? 0) }
}

/** A frequent line between lines without a match is most likely not worth matching either. */
function isAmongUnmatched(matches: Uint8Array, at: number, { from, to }: { from: number; to: number }): boolean {
  const scan = (step: number, last: number) => {
    let none = 0
    let many = 1
    for (let i = at + step; step < 0 ? i >= last : i <= last; i += step) {
      if (matches[i] === NONE) none++
      else if (matches[i] === MANY) many++
      else break
    }
    return { none, many }
  }
  const above = scan(-1, Math.max(from, at - NEIGHBOURS))
  if (above.none === 0) return false
  const below = scan(1, Math.min(to, at + NEIGHBOURS))
  if (below.none === 0) return false
  const many = above.many + below.many
  return many * UNMATCHED_SHARE < many + above.none + below.none
}

interface Box {
  fromA: number
  toA: number
  fromB: number
  toB: number
}

interface Cut {
  a: number
  b: number
  /** Whether the shortest script is required on this side of the split; a heuristic was used on the other. */
  exactBefore: boolean
  exactAfter: boolean
}

class Comparison {
  readonly #a: Telling
  readonly #b: Telling
  readonly #maxCost: number
  /** By diagonal: the furthest position from the start, and from the end. */
  readonly #forward: Int32Array
  readonly #backward: Int32Array
  readonly #zero: number

  constructor(a: Telling, b: Telling) {
    this.#a = a
    this.#b = b
    const diagonals = a.kinds.length + b.kinds.length + 3
    this.#maxCost = Math.max(roughRoot(diagonals), MIN_COST_LIMIT)
    this.#forward = new Int32Array(diagonals + 2)
    this.#backward = new Int32Array(diagonals + 2)
    this.#zero = b.kinds.length + 1
  }

  compare(whole: Box, isExact: boolean): void {
    const box = { ...whole }
    const [a, b] = [this.#a.kinds, this.#b.kinds]
    while (box.fromA < box.toA && box.fromB < box.toB && a[box.fromA] === b[box.fromB]) {
      box.fromA++
      box.fromB++
    }
    while (box.fromA < box.toA && box.fromB < box.toB && a[box.toA - 1] === b[box.toB - 1]) {
      box.toA--
      box.toB--
    }
    if (box.fromA === box.toA) mark(this.#b, box.fromB, box.toB)
    else if (box.fromB === box.toB) mark(this.#a, box.fromA, box.toA)
    else {
      const cut = this.#cut(box, isExact)
      this.compare({ fromA: box.fromA, toA: cut.a, fromB: box.fromB, toB: cut.b }, cut.exactBefore)
      this.compare({ fromA: cut.a, toA: box.toA, fromB: cut.b, toB: box.toB }, cut.exactAfter)
    }
  }

  /** A point of the script, found where the searches from both ends meet. */
  #cut(box: Box, isExact: boolean): Cut {
    const reach = new Reach(box, { forward: this.#forward, backward: this.#backward, zero: this.#zero })
    const texts = { a: this.#a.kinds, b: this.#b.kinds }
    for (let cost = 1; ; cost++) {
      const met = reach.stepForward(texts) ?? reach.stepBackward(texts)
      if (met) return { ...met, exactBefore: true, exactAfter: true }
      if (isExact) continue
      const run = reach.hasRun && cost > GOOD_RUN_AFTER ? reach.goodRun(texts, cost) : null
      if (run) return run
      if (cost >= this.#maxCost) return reach.furthest()
    }
  }
}

function mark({ side, places }: Telling, from: number, to: number): void {
  for (let i = from; i < to; i++) side.changed[places[i] ?? 0] = 1
}

type Texts = { a: Int32Array; b: Int32Array }
type Vectors = { forward: Int32Array; backward: Int32Array; zero: number }

/** The progress of the search in a box. A diagonal is the difference of the two positions. */
class Reach {
  readonly #box: Box
  readonly #f: Int32Array
  readonly #b: Int32Array
  readonly #zero: number
  readonly #lowest: number
  readonly #highest: number
  readonly #isOdd: boolean
  #f0: number
  #f1: number
  #b0: number
  #b1: number
  /** Whether the last step passed many consecutive equal lines. */
  hasRun = false

  constructor(box: Box, { forward, backward, zero }: Vectors) {
    this.#box = box
    this.#f = forward
    this.#b = backward
    this.#zero = zero
    this.#lowest = box.fromA - box.toB
    this.#highest = box.toA - box.fromB
    this.#f0 = this.#f1 = box.fromA - box.fromB
    this.#b0 = this.#b1 = box.toA - box.toB
    this.#isOdd = ((this.#f0 - this.#b0) & 1) !== 0
    this.#f[this.#f0 + zero] = box.fromA
    this.#b[this.#b0 + zero] = box.toA
  }

  stepForward({ a, b }: Texts): { a: number; b: number } | null {
    const [f, z, { toA, toB }] = [this.#f, this.#zero, this.#box]
    this.hasRun = false
    if (this.#f0 > this.#lowest) f[--this.#f0 - 1 + z] = -1
    else this.#f0++
    if (this.#f1 < this.#highest) f[++this.#f1 + 1 + z] = -1
    else this.#f1--
    for (let d = this.#f1; d >= this.#f0; d -= 2) {
      const [below = 0, above = 0] = [f[d - 1 + z], f[d + 1 + z]]
      let i = below >= above ? below + 1 : above
      const start = i
      while (i < toA && i - d < toB && a[i] === b[i - d]) i++
      if (i - start > GOOD_RUN) this.hasRun = true
      f[d + z] = i
      if (this.#isOdd && this.#b0 <= d && d <= this.#b1 && (this.#b[d + z] ?? 0) <= i) return { a: i, b: i - d }
    }
    return null
  }

  stepBackward({ a, b }: Texts): { a: number; b: number } | null {
    const [k, z, { fromA, fromB }] = [this.#b, this.#zero, this.#box]
    if (this.#b0 > this.#lowest) k[--this.#b0 - 1 + z] = FAR
    else this.#b0++
    if (this.#b1 < this.#highest) k[++this.#b1 + 1 + z] = FAR
    else this.#b1--
    for (let d = this.#b1; d >= this.#b0; d -= 2) {
      const [below = 0, above = 0] = [k[d - 1 + z], k[d + 1 + z]]
      let i = below < above ? below : above - 1
      const start = i
      while (i > fromA && i - d > fromB && a[i - 1] === b[i - d - 1]) i--
      if (start - i > GOOD_RUN) this.hasRun = true
      k[d + z] = i
      if (!this.#isOdd && this.#f0 <= d && d <= this.#f1 && i <= (this.#f[d + z] ?? 0)) return { a: i, b: i - d }
    }
    return null
  }

  /** The end of a long run of equal lines that is far along the script. */
  goodRun({ a, b }: Texts, cost: number): Cut | null {
    const { fromA, toA, fromB, toB } = this.#box
    const isAhead = (i: number, d: number) =>
      fromA + GOOD_RUN <= i && i < toA && fromB + GOOD_RUN <= i - d && i - d < toB && isRun(a, b, i - GOOD_RUN, d)
    const isBehind = (i: number, d: number) =>
      fromA < i && i <= toA - GOOD_RUN && fromB < i - d && i - d <= toB - GOOD_RUN && isRun(a, b, i, d)
    let best = 0
    let cut: Cut | null = null
    for (let d = this.#f1; d >= this.#f0; d -= 2) {
      const i = this.#f[d + this.#zero] ?? 0
      const value = i - fromA + (i - d - fromB) - Math.abs(d - (fromA - fromB))
      if (value <= GOOD_RUN_FACTOR * cost || value <= best || !isAhead(i, d)) continue
      best = value
      cut = { a: i, b: i - d, exactBefore: true, exactAfter: false }
    }
    if (cut) return cut
    for (let d = this.#b1; d >= this.#b0; d -= 2) {
      const i = this.#b[d + this.#zero] ?? 0
      const value = toA - i + (toB - (i - d)) - Math.abs(d - (toA - toB))
      if (value <= GOOD_RUN_FACTOR * cost || value <= best || !isBehind(i, d)) continue
      best = value
      cut = { a: i, b: i - d, exactBefore: false, exactAfter: true }
    }
    return cut
  }

  /** The best reached point, from the end that got further. */
  furthest(): Cut {
    const { fromA, toA, fromB, toB } = this.#box
    let [ahead, aheadA] = [-1, -1]
    for (let d = this.#f1; d >= this.#f0; d -= 2) {
      let i = Math.min(this.#f[d + this.#zero] ?? 0, toA)
      if (toB < i - d) i = toB + d
      if (ahead < 2 * i - d) [ahead, aheadA] = [2 * i - d, i]
    }
    let [behind, behindA] = [FAR, FAR]
    for (let d = this.#b1; d >= this.#b0; d -= 2) {
      let i = Math.max(fromA, this.#b[d + this.#zero] ?? 0)
      if (i - d < fromB) i = fromB + d
      if (2 * i - d < behind) [behind, behindA] = [2 * i - d, i]
    }
    return toA + toB - behind < ahead - (fromA + fromB)
      ? { a: aheadA, b: ahead - aheadA, exactBefore: true, exactAfter: false }
      : { a: behindA, b: behind - behindA, exactBefore: false, exactAfter: true }
  }
}

function isRun(a: Int32Array, b: Int32Array, from: number, diagonal: number): boolean {
  for (let i = from; i < from + GOOD_RUN; i++) if (a[i] !== b[i - diagonal]) return false
  return true
}
