// Room for large bodies. Each owner has room in the owner's object, so that one owner cannot block the others. The
// isolate has room for bodies that are being received, and for bodies that are being processed.

import { owner } from '../bindings.ts'
import { errorFields, log } from '../lib/log.ts'

// Room for a number of bytes. A caller waits in a queue for room, for a limited time; a reservation that is never
// released expires. A processed body can keep its room for a while, because work on it continues after its answer, and
// an owner who sends one after the other would leave no time for others. In memory only: after an eviction the requests
// end soon anyway.

export type Berth = { id: string; bytes: number }

/** `bytes` of the room, for a body with `whole` bytes. */
type BerthRequest = Berth & { whole: number }
type WaitingBerth = BerthRequest & { admit: (isIn: boolean) => void }
type OccupiedBerth = { bytes: number; whole: number; until: number; isLeaving: boolean }
type BerthOptions = { capacity: number; waitMs: number; stayMs: number; maxWaiting: number; bytesPerSecond?: number }

export class Berths {
  readonly #capacity: number
  readonly #waitMs: number
  readonly #stayMs: number
  readonly #maxWaiting: number
  readonly #bytesPerSecond: number
  readonly #taken = new Map<string, OccupiedBerth>()
  #line: WaitingBerth[] = []

  /** `bytesPerSecond`: how fast the room of a processed body becomes free again; 0 for at once. */
  constructor(options: BerthOptions) {
    this.#capacity = options.capacity
    this.#waitMs = options.waitMs
    this.#stayMs = options.stayMs
    this.#maxWaiting = options.maxWaiting
    this.#bytesPerSecond = options.bytesPerSecond ?? 0
  }

  /** Bytes that are reserved. */
  get used(): number {
    return [...this.#taken.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** True once there is room; false after too long a wait. A request that is larger than the whole room gets it alone. */
  take({ id, bytes }: Berth): Promise<boolean> {
    const wanted = { id, bytes: Math.min(bytes, this.#capacity), whole: bytes }
    this.#dropOverdue()
    if (this.#taken.has(id)) return Promise.resolve(true)
    if (this.#line.length === 0 && this.#enter(wanted)) return Promise.resolve(true)
    if (this.#line.length >= this.#maxWaiting) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#giveUp(waiting), this.#waitMs)
      const waiting: WaitingBerth = {
        ...wanted,
        admit: (isIn) => {
          clearTimeout(timer)
          resolve(isIn)
        },
      }
      this.#line.push(waiting)
    })
  }

  /** `isTakenIn`: the body was complete. A second call has no effect. */
  leave(id: string, isTakenIn = false): void {
    const taken = this.#taken.get(id)
    if (taken === undefined || taken.isLeaving) return
    if (isTakenIn && this.#bytesPerSecond > 0) {
      const restMs = (taken.whole * 1000) / this.#bytesPerSecond
      this.#taken.set(id, { ...taken, until: Date.now() + restMs, isLeaving: true })
      setTimeout(() => this.#free(id), restMs)
    } else this.#free(id)
  }

  #free(id: string): void {
    this.#taken.delete(id)
    this.#admitNext()
  }

  #giveUp(waiting: WaitingBerth): void {
    this.#dropOverdue()
    this.#admitNext()
    if (!this.#line.includes(waiting)) return
    this.#line = this.#line.filter((one) => one !== waiting)
    waiting.admit(false)
    // A smaller request may have waited behind it.
    this.#admitNext()
  }

  #admitNext(): void {
    for (let next = this.#line[0]; next !== undefined && this.#enter(next); next = this.#line[0]) {
      this.#line.shift()
      next.admit(true)
    }
  }

  #enter({ id, bytes, whole }: BerthRequest): boolean {
    if (this.used + bytes > this.#capacity) return false
    this.#taken.set(id, { bytes, whole, until: Date.now() + this.#stayMs, isLeaving: false })
    return true
  }

  #dropOverdue(): void {
    const now = Date.now()
    for (const [id, { until }] of this.#taken) if (until <= now) this.#taken.delete(id)
  }
}

// The received bytes of large bodies, of all owners. Only received bytes count: a client that announces a large body
// and sends nothing blocks nobody.

type Wish = { id: string; bytes: number }
type Waiting = Wish & { admit: (isIn: boolean) => void }

export class Arrivals {
  readonly #capacity: number
  readonly #waitMs: number
  readonly #held = new Map<string, number>()
  #line: Waiting[] = []
  /** The body that may exceed the capacity until it is complete. */
  #ahead: string | null = null

  constructor(options: { capacity: number; waitMs: number }) {
    this.#capacity = options.capacity
    this.#waitMs = options.waitMs
  }

  get held(): number {
    return [...this.#held.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  /** True once there is room for this many more bytes; false after too long a wait. */
  grow(wish: Wish): Promise<boolean> {
    if (this.#enter(wish)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(waiting, false), this.#waitMs)
      const waiting: Waiting = {
        ...wish,
        admit: (isIn) => {
          clearTimeout(timer)
          resolve(isIn)
        },
      }
      this.#line.push(waiting)
      this.#admit()
    })
  }

  /** The body is complete, given up or interrupted. A second call has no effect. */
  leave(id: string): void {
    this.#held.delete(id)
    if (this.#ahead === id) this.#ahead = null
    this.#admit()
  }

  #enter({ id, bytes }: Wish): boolean {
    if (this.#ahead !== id && this.held + bytes > this.#capacity) return false
    this.#held.set(id, (this.#held.get(id) ?? 0) + bytes)
    return true
  }

  #admit(): void {
    for (const waiting of [...this.#line]) if (this.#enter(waiting)) this.#settle(waiting, true)
    const first = this.#line.toSorted((a, b) => this.#heldBy(b) - this.#heldBy(a))[0]
    // If all bodies were only partly received, they would wait for each other for ever: the largest one may exceed the
    // capacity.
    if (this.#ahead !== null || first === undefined) return
    this.#ahead = first.id
    this.#enter(first)
    this.#settle(first, true)
  }

  #heldBy({ id }: Wish): number {
    return this.#held.get(id) ?? 0
  }

  #settle(waiting: Waiting, isIn: boolean): void {
    this.#line = this.#line.filter((one) => one !== waiting)
    waiting.admit(isIn)
  }
}

/** Longer than any body takes; by then the isolate that received it is gone. */
export const BODY_TIMES = { waitMs: 20_000, stayMs: 120_000, maxWaiting: 32 }
/** Of one isolate, for all owners: two of the largest bodies. */
const ISOLATE_BYTES = 16_777_216

const arrivals = new Arrivals({ capacity: ISOLATE_BYTES, waitMs: BODY_TIMES.waitMs })
const isolate = new Berths({ capacity: ISOLATE_BYTES, ...BODY_TIMES })

type Body = { id: string; bytes: number }

/** True once the owner's room admits the body; false after too long a wait. */
export async function takeOwnersRoom(env: Env, of: string, body: Body): Promise<boolean> {
  try {
    return await owner(env, of).takeBody(body)
  } catch (error) {
    // If the object cannot be reached, the request continues; the isolate's own room still limits it.
    log.error('body.room_not_asked', errorFields(error))
    return true
  }
}

/** True once this many more bytes of a body may be read. */
export const growArrival = (body: Body): Promise<boolean> => arrivals.grow(body)

/** True once the complete body may be processed. */
export async function takeIsolatesRoom(body: Body): Promise<boolean> {
  const isIn = await isolate.take(body)
  arrivals.leave(body.id)
  return isIn
}

/** Releases all reserved room. `isTakenIn`: the body was received and processed. */
export async function leaveRoom(
  env: Env,
  of: string,
  { id, isTakenIn }: { id: string; isTakenIn: boolean },
): Promise<void> {
  arrivals.leave(id)
  isolate.leave(id)
  try {
    await owner(env, of).leaveBody(id, isTakenIn)
  } catch (error) {
    // The reservation expires by itself.
    log.warn('body.not_left', errorFields(error))
  }
}
