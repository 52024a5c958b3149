// Schedules programs if there are fewer places than programs. The group with the fewest running programs goes first, then the oldest request, and
// a group must leave one place to others, so that no group can block all others.

type Waiting = { group: string; enter: () => void }

export class ProgramSlots {
  readonly #count: number
  readonly #running = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #taken = 0

  constructor(count: number) {
    this.#count = count
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get taken(): number {
    return this.#taken
  }

  /** Waits for a place and returns a function that releases it. Rejects with the signal's reason if that comes first. */
  async take(group: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const waiting = { group, enter: resolve }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal.reason)
      }
      waiting.enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave)
      this.#waiting.push(waiting)
      this.#admit()
    })
    let isGiven = true
    return () => {
      if (!isGiven) return
      isGiven = false
      this.#leave(group)
    }
  }

  #admit(): void {
    while (this.#taken < this.#count) {
      const next = this.#next()
      if (next === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#taken++
      this.#running.set(next.group, this.#of(next.group) + 1)
      next.enter()
    }
  }

  #next(): Waiting | undefined {
    const share = Math.max(1, this.#count - 1)
    const [first, ...others] = this.#waiting.filter(({ group }) => this.#of(group) < share)
    return others.reduce((best, one) => (best && this.#of(one.group) < this.#of(best.group) ? one : best), first)
  }

  #of(group: string): number {
    return this.#running.get(group) ?? 0
  }

  #leave(group: string): void {
    this.#taken--
    const left = this.#of(group) - 1
    if (left > 0) this.#running.set(group, left)
    else this.#running.delete(group)
    this.#admit()
  }
}
