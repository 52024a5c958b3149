// Limits the rate of WebSocket frames of an owner's clients, mainly while other owners are active. A frame costs the runtime only microseconds, but
// pings and refused frames cost as much as others, and a few clients can send a million of them per second.

export type Pace = {
  /** Units per second; a frame is one unit, and each KiB is one more. */
  readonly perSecond: number
  readonly burst: number
  /** The maximum delay before a socket is read again. */
  readonly longestMs: number
}

export const BESIDE_OTHERS: Pace = { perSecond: 5_000, burst: 10_000, longestMs: 10_000 }
/** More than clients normally send, and less than the runtime can process, so that the next client does not wait behind seconds of queued frames. */
export const ALONE: Pace = { perSecond: 100_000, burst: 200_000, longestMs: 10_000 }

const MOST_REMEMBERED = 10_000

type Bucket = { left: number; at: number }

export class FramePace {
  readonly #pace: Pace
  readonly #buckets = new Map<string, Bucket>()

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** Counts the frames of an owner's client; returns the delay in ms before its socket is read again. */
  said(owner: string, frames: number, bytes: number, now = performance.now()): number {
    const { perSecond, burst, longestMs } = this.#pace
    const { left, at } = this.#buckets.get(owner) ?? { left: burst, at: now }
    const grown = Math.min(burst, left + ((now - at) / 1000) * perSecond)
    const rest = Math.max(grown - frames - bytes / 1024, (-longestMs / 1000) * perSecond)
    // The longest idle owner has an almost full bucket again, so its entry can be removed.
    this.#buckets.delete(owner)
    const oldest = this.#buckets.keys().next()
    if (this.#buckets.size >= MOST_REMEMBERED && !oldest.done) this.#buckets.delete(oldest.value)
    this.#buckets.set(owner, { left: rest, at: now })
    return rest >= 0 ? 0 : (-rest / perSecond) * 1000
  }
}
