// What one owner's heavy work leaves to the others. A local service is one thread for everybody, and the objects of an isolate share
// one everywhere. So work that can go on for long (turns of agents, messages and what becomes of them on each socket, the bytes of an
// upload) is charged to its owner, and once that is more than a moment's worth the owner waits between two pieces of it, while somebody
// else is at work. Nobody waits who is alone, and nothing is refused here.

/** After the last request an owner counts as at work for so long. */
const AT_WORK_MS = 3_000
/** Work that is never waited for: a message and its turn, a page, a small file. */
const BURST_MS = 50
/** However much was charged, nobody waits longer in one go. */
const MOST_WAIT_MS = 2_000
/** Beyond so many others the share gets no smaller. */
const MOST_OTHERS = 4

/** What pieces of work cost, in ms of a processor, roughly as measured. */
export const COST_MS = {
  /** An event to one socket. */
  frame: 0.02,
  message: 0.1,
  /** A step of an agent, with its events and the reads of its settings. */
  step: 2,
  /** Opening a socket, with the probes that it may send unseen. */
  socket: 4,
  /** 100 events of a replay. */
  replay: 1,
  /** A stage of an analysis, or its steps at a source, and what the queue stores of it. */
  report: 1,
  /** 64 KiB of an upload, through all that they pass. */
  upload: 1,
} as const

export class Shares {
  readonly #now: () => number
  /** When each owner was last at work, the one that is longest ago first. */
  readonly #seen = new Map<string, number>()
  /** Until when each owner's work would last, were it spread as the share says, epoch ms. */
  readonly #busyUntil = new Map<string, number>()

  constructor(now = () => Date.now()) {
    this.#now = now
  }

  /** The owner asked for something. */
  seen(owner: string): void {
    const now = this.#now()
    this.#seen.delete(owner)
    this.#seen.set(owner, now)
    for (const [old, at] of this.#seen) {
      if (now - at < AT_WORK_MS) return
      this.#seen.delete(old)
      this.#busyUntil.delete(old)
    }
  }

  /** Notes work of the owner's; returns how many ms the next piece has to wait, 0 when nobody else is at work. */
  charge(owner: string, costMs: number): number {
    const now = this.#now()
    const others = this.#othersThan(owner, now)
    if (others === 0) return 0
    const until = Math.max(now, this.#busyUntil.get(owner) ?? 0) + costMs * (2 + Math.min(others, MOST_OTHERS))
    this.#busyUntil.set(owner, Math.min(until, now + BURST_MS + MOST_WAIT_MS))
    return this.waitOf(owner)
  }

  /** How many ms the owner's next piece of work has to wait. */
  waitOf(owner: string): number {
    const now = this.#now()
    if (this.#othersThan(owner, now) === 0) return 0
    return Math.max(0, Math.ceil((this.#busyUntil.get(owner) ?? 0) - now - BURST_MS))
  }

  #othersThan(owner: string, now: number): number {
    let others = 0
    for (const [other, at] of this.#seen) {
      // A clock that was set back leaves times that are to come.
      if (other !== owner && Math.abs(now - at) < AT_WORK_MS) others += 1
      if (others === MOST_OTHERS) break
    }
    return others
  }
}

/** Of this isolate. */
export const shares = new Shares()

/** Charges the work, and settles when the owner may go on; null when that is at once. */
export function charged(owner: string, costMs: number): Promise<void> | null {
  const waitMs = shares.charge(owner, costMs)
  return waitMs === 0 ? null : scheduler.wait(waitMs)
}
