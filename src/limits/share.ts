// Fair shares between owners. A local service is one thread for everybody, and the objects of an isolate share one
// everywhere. So work that can take long (turns of agents, messages and their effects on each socket, the bytes of an
// upload) is charged to its owner. When an owner has used more than a short burst, the owner waits between pieces of
// work while somebody else is active. An owner who is alone never waits, and nothing is refused here.

/** After the last request an owner counts as active for this long. */
const AT_WORK_MS = 3_000
/** Work that never waits: a message and its turn, a page, a small file. */
const BURST_MS = 50
/** The longest single wait, however much was charged. */
const MOST_WAIT_MS = 2_000
/** With more other owners than this the share does not get smaller. */
const MOST_OTHERS = 4

/** The cost of pieces of work, in ms of a processor, roughly as measured. */
export const COST_MS = {
  /** One event to one socket. */
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
  /** 64 KiB of an upload, through all processing. */
  upload: 1,
} as const

export class Shares {
  readonly #now: () => number
  /** When each owner was last active, the oldest first. */
  readonly #seen = new Map<string, number>()
  /** When each owner's work would end if it was spread according to the share, epoch ms. */
  readonly #busyUntil = new Map<string, number>()

  constructor(now = () => Date.now()) {
    this.#now = now
  }

  /** The owner sent a request. */
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

  /** Charges work to the owner; returns for how many ms the next piece must wait, 0 when nobody else is active. */
  charge(owner: string, costMs: number): number {
    const now = this.#now()
    const others = this.#othersThan(owner, now)
    if (others === 0) return 0
    const until = Math.max(now, this.#busyUntil.get(owner) ?? 0) + costMs * (2 + Math.min(others, MOST_OTHERS))
    this.#busyUntil.set(owner, Math.min(until, now + BURST_MS + MOST_WAIT_MS))
    return this.waitOf(owner)
  }

  /** For how many ms the owner's next piece of work must wait. */
  waitOf(owner: string): number {
    const now = this.#now()
    if (this.#othersThan(owner, now) === 0) return 0
    return Math.max(0, Math.ceil((this.#busyUntil.get(owner) ?? 0) - now - BURST_MS))
  }

  #othersThan(owner: string, now: number): number {
    let others = 0
    for (const [other, at] of this.#seen) {
      // After the clock was set back there may be times in the future.
      if (other !== owner && Math.abs(now - at) < AT_WORK_MS) others += 1
      if (others === MOST_OTHERS) break
    }
    return others
  }
}

/** The shares of this isolate. */
export const shares = new Shares()

/** Charges the work, and settles when the owner may continue; null when that is at once. */
export function charged(owner: string, costMs: number): Promise<void> | null {
  const waitMs = shares.charge(owner, costMs)
  return waitMs === 0 ? null : scheduler.wait(waitMs)
}
