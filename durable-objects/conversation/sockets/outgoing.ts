// Stored events on their way to the live sockets. They go at once, unless the owner has had more than a fair share of a busy service: a
// conversation with many sockets makes a frame for each of an event. Then events wait for a moment and go together, in their order,
// and whatever belongs after them waits as well.

import type { StoredEvent } from '../../../src/agent/events.ts'

/** No event waits longer. */
const MOST_HELD_MS = 250
/** More are not kept waiting at a time. */
const MOST_HELD = 500

type Deps = {
  /** Sends them to every live socket; returns how many ms the next ones have to wait. */
  send(events: readonly StoredEvent[]): number
}

export class Outgoing {
  readonly #deps: Deps
  #events: StoredEvent[] = []
  #behind: (() => void)[] = []
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  add(events: readonly StoredEvent[]): void {
    if (this.#timer === null) {
      this.#send(events)
      return
    }
    this.#events.push(...events)
    if (this.#events.length > MOST_HELD) this.flush()
  }

  /** Runs it after every event that was added until now: at once, when none waits. */
  after(run: () => void): void {
    if (this.#events.length === 0) run()
    else this.#behind.push(run)
  }

  /** Sends what waits. To be called before anything is sent that comes after it. */
  flush(): void {
    const events = this.#events
    const behind = this.#behind
    if (events.length === 0) return
    this.#events = []
    this.#behind = []
    this.#send(events)
    for (const run of behind) run()
  }

  #send(events: readonly StoredEvent[]): void {
    const waitMs = this.#deps.send(events)
    if (waitMs === 0 || this.#timer !== null) return
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.flush()
      },
      Math.min(waitMs, MOST_HELD_MS),
    )
  }
}
