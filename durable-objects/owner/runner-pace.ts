// A rate limit: a burst, and a rate per second in the long run. In memory only.

export class Pace {
  readonly #most: number
  readonly #perSecond: number
  #left: number
  #at = Date.now()

  constructor({ most, perSecond }: { most: number; perSecond: number }) {
    this.#most = most
    this.#perSecond = perSecond
    this.#left = most
  }

  /** Allows one more, because it was requested. */
  give(): void {
    this.#left += 1
  }

  /** Whether it is allowed now; only what is allowed counts. */
  take(cost = 1): boolean {
    const now = Date.now()
    const forgiven = (Math.max(0, now - this.#at) / 1000) * this.#perSecond
    if (this.#left < this.#most) this.#left = Math.min(this.#most, this.#left + forgiven)
    this.#at = now
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }
}
