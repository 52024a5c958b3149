// The interpreter runs scripts without ever giving way: it awaits only what is ready at once, so neither a stop nor any
// other request would be served before the script ends. The pacer is asked at the places a script passes again and
// again, and makes some of them real pauses.

const PAUSE_EVERY_MS = 12
/** On a machine whose clock stands still between I/O, time never says that a pause is due. */
const PAUSE_EVERY_CALLS = 2000
/**
 * A loop that passes none of these places cannot be stopped from outside and is cut off here: well before whoever
 * watches over the service takes it for dead.
 */
const MAX_MS_WITHOUT_PAUSE = 3000
const MAX_HITS_WITHOUT_PAUSE = 30_000_000

export class Pacer {
  readonly #onStuck: () => void
  #pausedAt = Date.now()
  #calls = 0
  #hits = 0

  constructor(onStuck: () => void) {
    this.#onStuck = onStuck
  }

  /** A promise to wait for when a pause is due, else null. */
  pauseIfDue(): Promise<void> | null {
    this.#calls++
    if (this.#calls < PAUSE_EVERY_CALLS && Date.now() - this.#pausedAt < PAUSE_EVERY_MS) return null
    return this.#pause()
  }

  /** Called by the interpreter, as its recorder of what it runs: several times for each command. */
  hit(): void {
    this.#hits++
    // Reading the clock costs more than all the rest.
    const tooLong = this.#hits % 256 === 0 && Date.now() - this.#pausedAt > MAX_MS_WITHOUT_PAUSE
    if (!tooLong && this.#hits < MAX_HITS_WITHOUT_PAUSE) return
    // The shell looks whether it is stopped before each command.
    this.#onStuck()
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0))
    this.#pausedAt = Date.now()
    this.#calls = 0
    this.#hits = 0
  }
}
