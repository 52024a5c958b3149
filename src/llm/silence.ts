// For what is asked through a binding, where no bytes can be watched: the same patience, counted from piece to piece.

import { ModelError } from './model.ts'
import type { Patience } from './wire.ts'

export class Silence {
  readonly #controller = new AbortController()
  readonly #patience: Patience
  readonly #startedAt = Date.now()
  readonly #outer: AbortSignal | undefined
  readonly #forward = () => this.#controller.abort(this.#outer?.reason)
  #lastHeardAt = Date.now()
  #hasBegun = false
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(patience: Patience, outer: AbortSignal | undefined) {
    this.#patience = patience
    this.#outer = outer
    outer?.addEventListener('abort', this.#forward)
    this.#watch()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  heard(): void {
    this.#lastHeardAt = Date.now()
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#watch()
  }

  /** The work, or what cut it off: whoever does the work need not listen. */
  async unlessCut<T>(work: Promise<T>): Promise<T> {
    const cut = new Promise<never>((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason))
    })
    try {
      return await Promise.race([work, cut])
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer)
      this.#outer?.removeEventListener('abort', this.#forward)
    }
  }

  #watch(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const { firstByteMs, idleMs, totalMs } = this.#patience
    const now = Date.now()
    const silence = this.#lastHeardAt + (this.#hasBegun ? idleMs : firstByteMs) - now
    const leftMs = totalMs === null ? silence : Math.min(silence, this.#startedAt + totalMs - now)
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#watch(), leftMs)
      return
    }
    const what = this.#hasBegun ? 'stopped in the middle of its answer' : 'did not begin to answer'
    const advice = 'Try again, or choose another model.'
    this.#controller.abort(new ModelError('timeout', `The model ${what} within the time allowed. ${advice}`))
  }
}
