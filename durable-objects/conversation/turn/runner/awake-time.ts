// How long this object has waited and could have heard what it waits for. Where it was held up, by a busy machine or because its
// process stood still, the clock has gone on, and what came meanwhile is read only now: that time is not held against who sent it.

const LOOK_EVERY_MS = 500
/** Of the time between two looks no more than this counts. */
const MOST_BETWEEN_MS = 2 * LOOK_EVERY_MS

export class AwakeTime {
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  #lookedAt = Date.now()
  #ms = 0

  /** Milliseconds since it was made. */
  get ms(): number {
    this.#look()
    return this.#ms
  }

  end(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = Date.now()
    this.#ms += Math.min(Math.max(0, now - this.#lookedAt), MOST_BETWEEN_MS)
    this.#lookedAt = now
  }
}
