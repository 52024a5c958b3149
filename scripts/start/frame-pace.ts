// How fast an owner's clients may talk over sockets, above all while others are at work. A frame is a matter of microseconds to the runtime, but
// pings and frames that are refused cost it as much as others, and a few clients can send a million of them in a second.

export type Pace = {
  /** In a second; a frame is one, and each KiB is one more. */
  readonly perSecond: number
  readonly burst: number
  /** Who has said so much at once waits no longer than this before his socket is read again. */
  readonly longestMs: number
}

export const BESIDE_OTHERS: Pace = { perSecond: 5_000, burst: 10_000, longestMs: 10_000 }
/** More than clients say, and less than the runtime takes: whoever comes next must not find seconds of it in front of him. */
export const ALONE: Pace = { perSecond: 100_000, burst: 200_000, longestMs: 10_000 }

const MOST_REMEMBERED = 10_000

type Bucket = { left: number; at: number }

export class FramePace {
  readonly #pace: Pace
  readonly #buckets = new Map<string, Bucket>()

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** Notes what an owner's client has said; returns after how many ms it may go on. */
  said(owner: string, frames: number, bytes: number, now = performance.now()): number {
    const { perSecond, burst, longestMs } = this.#pace
    const { left, at } = this.#buckets.get(owner) ?? { left: burst, at: now }
    const grown = Math.min(burst, left + ((now - at) / 1000) * perSecond)
    const rest = Math.max(grown - frames - bytes / 1024, (-longestMs / 1000) * perSecond)
    // The one that has been silent for longest has a full bucket again, or hardly less.
    this.#buckets.delete(owner)
    const oldest = this.#buckets.keys().next()
    if (this.#buckets.size >= MOST_REMEMBERED && !oldest.done) this.#buckets.delete(oldest.value)
    this.#buckets.set(owner, { left: rest, at: now })
    return rest >= 0 ? 0 : (-rest / perSecond) * 1000
  }
}
