// The interpreter runs scripts without pausing: it only awaits what is ready at once, so neither a stop nor any other
// request would be processed before the script ends. The pacer is called at places that a script passes repeatedly, and
// makes some of them real pauses.

const PAUSE_EVERY_MS = 12
/** On a platform whose clock stands still between I/O, time alone would never cause a pause. */
const PAUSE_EVERY_CALLS = 2000
/**
 * A loop that passes none of these places cannot be stopped from outside and is aborted here: well before the service's
 * supervisor considers it dead.
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

  /** A promise to await if a pause is due, otherwise null. */
  pauseIfDue(): Promise<void> | null {
    this.#calls++
    if (this.#calls < PAUSE_EVERY_CALLS && Date.now() - this.#pausedAt < PAUSE_EVERY_MS) return null
    return this.#pause()
  }

  /** Called by the interpreter, as its coverage recorder: several times for each command. */
  hit(): void {
    this.#hits++
    // Reading the clock takes longer than everything else here.
    const tooLong = this.#hits % 256 === 0 && Date.now() - this.#pausedAt > MAX_MS_WITHOUT_PAUSE
    if (!tooLong && this.#hits < MAX_HITS_WITHOUT_PAUSE) return
    // The shell checks before each command whether it is stopped.
    this.#onStuck()
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0))
    this.#pausedAt = Date.now()
    this.#calls = 0
    this.#hits = 0
  }
}
