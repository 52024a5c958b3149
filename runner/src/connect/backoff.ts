/** The service does not accept the key or ticket. */
export const isRefusal = (status: number | null): boolean => status === 401 || status === 403

/** The time until the next attempt: doubles, with jitter so that a thousand runners do not connect at once. */
export class Backoff {
  readonly #firstMs: number
  readonly #mostMs: number
  readonly #random: () => number
  #attempts = 0

  constructor({ firstMs, mostMs, random = Math.random }: { firstMs: number; mostMs: number; random?: () => number }) {
    this.#firstMs = firstMs
    this.#mostMs = mostMs
    this.#random = random
  }

  next(): number {
    const ms = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#attempts, 30))
    this.#attempts += 1
    return Math.round(ms * (0.5 + this.#random() / 2))
  }

  reset(): void {
    this.#attempts = 0
  }
}
