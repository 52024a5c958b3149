/** Expires when nothing has got further for so long. */
export class StageClock {
  readonly #timeoutMs: number
  readonly #expired = new AbortController()
  #timer: ReturnType<typeof setTimeout>

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#timer = this.#wind()
  }

  get expired(): AbortSignal {
    return this.#expired.signal
  }

  /** Something got further. */
  restart(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#wind()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #wind(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#expired.abort(new Error('stage deadline')), this.#timeoutMs)
  }
}
