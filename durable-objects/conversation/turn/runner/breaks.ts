// How often the connection to a runner broke in one call. A runner that breaks the rules of the wire does so each time that it is
// asked; a network that fails comes back. A command may take hours, and what was hours ago says nothing.

/** Of those that are the runner's fault: it breaks the rules, or does not answer. */
const MOST_FAULTS = 3
/** For so long a network may fail again and again. */
const MOST_FLAPPING_MS = 60_000
/** A connection that stood for so long was well. */
const WELL_MS = 30_000

export class Breaks {
  #count = 0
  #firstAt = 0
  #beganAt = Date.now()

  /** The call is tried over another connection. */
  begin(): void {
    this.#beganAt = Date.now()
  }

  /** It came to nothing; `isNetworks`: the connection went without a word. True when there is no use in another try. */
  isHopeless(isNetworks: boolean): boolean {
    const now = Date.now()
    if (isNetworks && now - this.#beganAt > WELL_MS) this.#count = 0
    if (this.#count === 0) this.#firstAt = now
    this.#count += 1
    return isNetworks ? now - this.#firstAt > MOST_FLAPPING_MS : this.#count > MOST_FAULTS
  }
}
