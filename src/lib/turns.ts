// An isolate has one thread. Of many runs in it there is always one that can go on, and as long as one can, the runtime does
// not look at what has come in from outside: on a busy machine sockets go unserved until they are closed. So runs take
// turns, each after a timer of its own, because the runtime comes round before it fires one.

/** One whose request was cut off while it waited does not come back for its turn. */
const LONGEST_WAIT_MS = 100
const LEAST_PAUSE_MS = 5
const PAUSE_SPREAD_MS = 20

let last: object | null = null
let takenAt: number | null = null

/** Returns at once when nobody else has had a turn since `who` had one. */
export async function turn(who: object): Promise<void> {
  if (last === who) return
  // Whoever waits asks again by itself: nothing is handed from one request to another.
  while (takenAt !== null && Math.abs(Date.now() - takenAt) < LONGEST_WAIT_MS) {
    await pause(LEAST_PAUSE_MS + Math.random() * PAUSE_SPREAD_MS)
  }
  takenAt = Date.now()
  await pause(0)
  last = who
  takenAt = null
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs))
}
