// A place with room for so many bytes at a time. Whoever finds none waits in a line, for a while; who leaves without a
// word loses the berth after its time. In memory alone: what an eviction forgets is over soon anyway.

export type Berth = { id: string; bytes: number }

type Waiting = Berth & { admit: (isIn: boolean) => void }

export class Berths {
  readonly #capacity: number
  readonly #waitMs: number
  readonly #stayMs: number
  readonly #maxWaiting: number
  readonly #taken = new Map<string, { bytes: number; until: number }>()
  #line: Waiting[] = []

  constructor(options: { capacity: number; waitMs: number; stayMs: number; maxWaiting: number }) {
    this.#capacity = options.capacity
    this.#waitMs = options.waitMs
    this.#stayMs = options.stayMs
    this.#maxWaiting = options.maxWaiting
  }

  /** Bytes that have a berth. */
  get used(): number {
    return [...this.#taken.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** True once there is room; false when there was none for too long. What is larger than the place has it to itself. */
  take({ id, bytes }: Berth): Promise<boolean> {
    const wanted = { id, bytes: Math.min(bytes, this.#capacity) }
    this.#dropOverdue()
    if (this.#taken.has(id)) return Promise.resolve(true)
    if (this.#line.length === 0 && this.#enter(wanted)) return Promise.resolve(true)
    if (this.#line.length >= this.#maxWaiting) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#giveUp(waiting), this.#waitMs)
      const waiting: Waiting = {
        ...wanted,
        admit: (isIn) => {
          clearTimeout(timer)
          resolve(isIn)
        },
      }
      this.#line.push(waiting)
    })
  }

  /** Leaving twice is leaving once. */
  leave(id: string): void {
    this.#taken.delete(id)
    this.#admitNext()
  }

  #giveUp(waiting: Waiting): void {
    this.#dropOverdue()
    this.#admitNext()
    if (!this.#line.includes(waiting)) return
    this.#line = this.#line.filter((one) => one !== waiting)
    waiting.admit(false)
    // One that wants less may have stood behind it.
    this.#admitNext()
  }

  #admitNext(): void {
    for (let next = this.#line[0]; next !== undefined && this.#enter(next); next = this.#line[0]) {
      this.#line.shift()
      next.admit(true)
    }
  }

  #enter({ id, bytes }: Berth): boolean {
    if (this.used + bytes > this.#capacity) return false
    this.#taken.set(id, { bytes, until: Date.now() + this.#stayMs })
    return true
  }

  #dropOverdue(): void {
    const now = Date.now()
    for (const [id, { until }] of this.#taken) if (until <= now) this.#taken.delete(id)
  }
}
