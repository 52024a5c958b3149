// Stored events on their way to the live sockets. They are sent at once, unless the owner has used more than a fair
// share of a busy service: a conversation with many sockets makes a frame for each socket and event. Then events wait
// for a moment and are sent together, in order, and everything that must follow them waits, too.

import type { StoredEvent } from '../../../src/agent/events.ts'

/** The longest time that an event waits. */
const MOST_HELD_MS = 250
/** The most events that wait at a time. */
const MOST_HELD = 500

type Deps = {
  /** Sends the events to every live socket; returns for how many ms the next ones have to wait. */
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

  /** Calls `run` after all events that were added before: at once if none waits. */
  after(run: () => void): void {
    if (this.#events.length === 0) run()
    else this.#behind.push(run)
  }

  /** Sends the waiting events. To be called before anything that must follow them is sent. */
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
