// Closes idle conversations. A running loop uses one of the owner's few places. A loop without clients, without work and
// without new events for a while is closed; it starts again when a client connects.

type Watched = {
  isRunning(): boolean
  /** Whether a client is connected, or the agent works. */
  isBusy(): boolean
  /** When its newest event was stored, ISO; null when there is none. */
  lastAt(): string | null
  stop(): void
}

export class IdleWatch {
  readonly #watched: Watched
  readonly #wakeAt: (at: number) => void
  readonly #delayMs: number

  constructor(watched: Watched, wakeAt: (at: number) => void, delayMs: number) {
    this.#watched = watched
    this.#wakeAt = wakeAt
    this.#delayMs = delayMs
  }

  /** The idle time counts from now. */
  begin(): void {
    if (this.#watched.isRunning()) this.#wakeAt(Date.now() + this.#delayMs)
  }

  /** Closes the session, or checks again when it may be time. */
  look(): void {
    if (!this.#watched.isRunning()) return
    if (this.#watched.isBusy()) {
      this.begin()
      return
    }
    const lastAt = this.#watched.lastAt()
    const dueAt = (lastAt === null ? 0 : Date.parse(lastAt)) + this.#delayMs
    if (dueAt > Date.now()) this.#wakeAt(dueAt)
    else this.#watched.stop()
  }
}
