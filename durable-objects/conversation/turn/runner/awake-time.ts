// How long this object has waited while it could receive messages. A busy machine or a suspended process can hold it
// up: the clock goes on, and messages that arrived meanwhile are read only later. That time must not count against the
// sender.

const LOOK_EVERY_MS = 500
/** The most that the time between two checks counts. */
const MOST_BETWEEN_MS = 2 * LOOK_EVERY_MS

export class AwakeTime {
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  #lookedAt = Date.now()
  #ms = 0

  /** Milliseconds since this timer was created. */
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
