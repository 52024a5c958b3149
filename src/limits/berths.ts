// Room for a number of bytes at a time. A caller for which there is no room waits in a queue, for a limited time; a
// reservation that is never released expires. In memory only: after an eviction the requests are over soon anyway.

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

  /** Bytes that are reserved. */
  get used(): number {
    return [...this.#taken.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** True once there is room; false after too long a wait. A request larger than the whole room gets it alone. */
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

  /** A second call has no effect. */
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
    // A smaller request may have waited behind it.
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
