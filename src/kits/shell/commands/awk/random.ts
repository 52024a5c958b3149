// The numbers of `rand`, which for a seed are those of the C library's `random`, as in other implementations of awk.

const DEGREE = 31
const SEPARATION = 3
const WARM_UP = 310
const MODULUS = 2147483647

export class RandomNumbers {
  #state: number[] = []
  #at = 0

  constructor(seed: number) {
    this.seed(seed)
  }

  seed(seed: number): void {
    const state = [seed >>> 0 || 1]
    for (let i = 1; i < DEGREE; i++) {
      const before = (state[i - 1] ?? 0) | 0
      // 16807 * before modulo 2^31 - 1, which fits into a double.
      const next = (16807 * before) % MODULUS
      state.push(next < 0 ? next + MODULUS : next)
    }
    this.#state = state
    this.#at = 0
    for (let i = 0; i < WARM_UP; i++) this.#next()
  }

  /** From 0 to 1. */
  next(): number {
    return (this.#next() >>> 1) / MODULUS
  }

  #next(): number {
    const front = (this.#at + SEPARATION) % DEGREE
    const sum = ((this.#state[front] ?? 0) + (this.#state[this.#at] ?? 0)) >>> 0
    this.#state[front] = sum
    this.#at = (this.#at + 1) % DEGREE
    return sum
  }
}
