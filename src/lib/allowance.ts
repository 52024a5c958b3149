/** So many at once, and so many a second in the long run. */
export class Allowance {
  readonly #perSecond: number
  readonly #most: number
  #left: number
  #at: number | null = null

  constructor(perSecond: number, most: number) {
    this.#perSecond = perSecond
    this.#most = most
    this.#left = most
  }

  /** False for one too many. `now`: epoch ms. */
  take(now: number): boolean {
    const gained = this.#at === null ? 0 : (Math.max(0, now - this.#at) / 1000) * this.#perSecond
    this.#at = now
    this.#left = Math.min(this.#most, this.#left + gained)
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
