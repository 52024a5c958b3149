// How often the connection to a runner broke during one call. A runner that violates the protocol does so on every
// attempt; a failing network recovers. A command may take hours, so old failures do not count.

/** Failures that are the runner's fault: it violates the protocol, or does not answer. */
const MOST_FAULTS = 3
/** How long a network may keep failing. */
const MOST_FLAPPING_MS = 60_000
/** A connection that lasted this long was healthy. */
const WELL_MS = 30_000

export class Breaks {
  #count = 0
  #firstAt = 0
  #beganAt = Date.now()

  /** The call is tried over another connection. */
  begin(): void {
    this.#beganAt = Date.now()
  }

  /**
   * An attempt failed. `isNetworks`: the connection was lost without a message. True when another attempt is useless.
   */
  isHopeless(isNetworks: boolean): boolean {
    const now = Date.now()
    if (isNetworks && now - this.#beganAt > WELL_MS) this.#count = 0
    if (this.#count === 0) this.#firstAt = now
    this.#count += 1
    return isNetworks ? now - this.#firstAt > MOST_FLAPPING_MS : this.#count > MOST_FAULTS
  }
}
