// Waits longer after each failure, but never longer than it must: the network coming back, or the page coming into view,
// ends a wait at once.

const DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000]
const JITTER = 0.2

export type Wait = { attempt: number; retryAt: number }

export class Retry {
  readonly #again: () => void
  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(again: () => void) {
    this.#again = again
  }

  schedule(): Wait {
    this.cancel()
    const base = DELAYS_MS[Math.min(this.#attempt, DELAYS_MS.length - 1)] ?? 0
    const delayMs = base * (1 + JITTER * (Math.random() * 2 - 1))
    this.#attempt += 1
    this.#timer = setTimeout(this.now, delayMs)
    addEventListener('online', this.now)
    document.addEventListener('visibilitychange', this.#seen)
    return { attempt: this.#attempt, retryAt: Date.now() + delayMs }
  }

  /** Ends the wait, if there is one. */
  now = (): void => {
    if (this.#timer === undefined) return
    this.cancel()
    this.#again()
  }

  succeeded(): void {
    this.cancel()
    this.#attempt = 0
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    removeEventListener('online', this.now)
    document.removeEventListener('visibilitychange', this.#seen)
  }

  #seen = (): void => {
    if (document.visibilityState === 'visible') this.now()
  }
}
