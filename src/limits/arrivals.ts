// The bytes of large bodies that have come and are not whole yet, of all owners. Only what has come counts: a client that
// announces much and sends nothing keeps nobody out.

type Wish = { id: string; bytes: number }
type Waiting = Wish & { admit: (isIn: boolean) => void }

export class Arrivals {
  readonly #capacity: number
  readonly #waitMs: number
  readonly #held = new Map<string, number>()
  #line: Waiting[] = []
  /** Who may go beyond the capacity until it is whole. */
  #ahead: string | null = null

  constructor(options: { capacity: number; waitMs: number }) {
    this.#capacity = options.capacity
    this.#waitMs = options.waitMs
  }

  get held(): number {
    return [...this.#held.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  /** True once there is room for so many bytes more; false when there was none for too long. */
  grow(wish: Wish): Promise<boolean> {
    if (this.#enter(wish)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(waiting, false), this.#waitMs)
      const waiting: Waiting = {
        ...wish,
        admit: (isIn) => {
          clearTimeout(timer)
          resolve(isIn)
        },
      }
      this.#line.push(waiting)
      this.#admit()
    })
  }

  /** Whole, given up or broken off. Leaving twice is leaving once. */
  leave(id: string): void {
    this.#held.delete(id)
    if (this.#ahead === id) this.#ahead = null
    this.#admit()
  }

  #enter({ id, bytes }: Wish): boolean {
    if (this.#ahead !== id && this.held + bytes > this.#capacity) return false
    this.#held.set(id, (this.#held.get(id) ?? 0) + bytes)
    return true
  }

  #admit(): void {
    for (const waiting of [...this.#line]) if (this.#enter(waiting)) this.#settle(waiting, true)
    const first = this.#line.toSorted((a, b) => this.#heldBy(b) - this.#heldBy(a))[0]
    // Bodies that are all half there would wait for each other for ever: the one that has most is let through.
    if (this.#ahead !== null || first === undefined) return
    this.#ahead = first.id
    this.#enter(first)
    this.#settle(first, true)
  }

  #heldBy({ id }: Wish): number {
    return this.#held.get(id) ?? 0
  }

  #settle(waiting: Waiting, isIn: boolean): void {
    this.#line = this.#line.filter((one) => one !== waiting)
    waiting.admit(isIn)
  }
}
