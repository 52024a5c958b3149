// Schedules requests for the runtime. It has one thread for all callers and accepts requests in order of arrival: a caller that sends sixty at a time makes
// all others wait behind sixty. So the proxy has a queue per caller, and while other callers are active, a caller has only
// a few requests in progress at a time, and a share of the time. A single active caller is hardly affected.

export type Shares = {
  /** Concurrent requests of one caller while no other caller is active: enough to keep the thread busy. */
  readonly alone: number
  /** The same while others are active. */
  readonly besideOthers: number
  /** How long a caller counts as active after its last request. */
  readonly recentMs: number
  /** A request that takes longer is waiting for something outside, a model or a slow client, and does not block others. */
  readonly longestTurnMs: number
  /** The maximum share of time of a caller while others are active, after it has exceeded this share by `burstMs`. */
  readonly partOfTime: number
  readonly burstMs: number
}

export const SHARES: Shares = {
  alone: 32,
  besideOthers: 1,
  recentMs: 5_000,
  longestTurnMs: 100,
  partOfTime: 0.25,
  burstMs: 200,
}

/** The kind of health checks: a monitor does not count as an active caller. */
export const LOOK = 'look'

/** The maximum time of a turn that is charged; the rest is mostly waiting. */
const MOST_COUNTED_MS = 20

/** Ends a turn; idempotent. */
export type EndTurn = () => void

type Waiting = { isGone: () => boolean; begin: (end: EndTurn | null) => void }
/** `usedMs` is the used time minus the caller's share of the elapsed time, as of `usedAt`. */
type Caller = {
  inside: number
  /** One for each kind of request. */
  lines: Map<string, Waiting[]>
  usedMs: number
  usedAt: number
  rest: NodeJS.Timeout | null
}

const newcomer = (): Caller => ({ inside: 0, lines: new Map(), usedMs: 0, usedAt: performance.now(), rest: null })

export class FairShare {
  readonly #shares: Shares
  readonly #callers = new Map<string, Caller>()
  /** The two most recent callers, which is enough to find a caller other than a given one. */
  #latest = { name: '', at: Number.NEGATIVE_INFINITY }
  #before = { name: '', at: Number.NEGATIVE_INFINITY }

  constructor(shares: Shares) {
    this.#shares = shares
  }

  /**
   * Settles when it is the request's turn, with a function to call when the runtime is done with it. Null: the client disconnected
   * while it waited. The waiting kinds take turns.
   */
  turn(name: string, kind: string, isGone: () => boolean): Promise<EndTurn | null> | EndTurn {
    if (kind !== LOOK) this.#note(name)
    const caller = this.#callers.get(name) ?? newcomer()
    this.#callers.set(name, caller)
    if (caller.lines.size === 0 && this.#hasRoom(name, caller)) return this.#begin(name, caller)
    const line = caller.lines.get(kind) ?? []
    caller.lines.set(kind, line)
    return new Promise((begin) => {
      line.push({ isGone, begin })
      if (caller.inside === 0) this.#goOn(name, caller)
    })
  }

  #begin(name: string, caller: Caller): EndTurn {
    caller.inside += 1
    let isOver = false
    const begun = performance.now()
    const end = () => {
      clearTimeout(timer)
      if (isOver) return
      isOver = true
      caller.inside -= 1
      this.#count(caller, Math.min(performance.now() - begun, MOST_COUNTED_MS))
      this.#goOn(name, caller)
    }
    const timer = setTimeout(end, this.#shares.longestTurnMs)
    timer.unref()
    return end
  }

  #goOn(name: string, caller: Caller): void {
    while (caller.lines.size > 0 && this.#hasRoom(name, caller)) {
      const next = takeNext(caller.lines)
      next?.begin(next.isGone() ? null : this.#begin(name, caller))
    }
    if (caller.inside > 0) return
    const { burstMs, partOfTime } = this.#shares
    const used = this.#count(caller, 0)
    if (caller.lines.size > 0) this.#rest(name, caller, (used - burstMs) / partOfTime)
    else if (used > 0) this.#rest(name, caller, used / partOfTime)
    else this.#callers.delete(name)
  }

  /** Checks again after a while, when the used time has decayed. */
  #rest(name: string, caller: Caller, ms: number): void {
    if (caller.rest !== null) clearTimeout(caller.rest)
    caller.rest = setTimeout(() => this.#goOn(name, caller), Math.max(1, ms))
    caller.rest.unref()
  }

  /** The used time now, limited to a little more than the burst. */
  #count(caller: Caller, ms: number): number {
    const now = performance.now()
    const { burstMs, partOfTime } = this.#shares
    const left = Math.max(0, caller.usedMs - (now - caller.usedAt) * partOfTime)
    caller.usedMs = Math.min(left + ms, burstMs + MOST_COUNTED_MS)
    caller.usedAt = now
    return caller.usedMs
  }

  #note(name: string): void {
    if (this.#latest.name !== name) this.#before = this.#latest
    this.#latest = { name, at: performance.now() }
  }

  /** Whether another caller was active a moment ago. */
  isBesideOthers(name: string): boolean {
    const other = this.#latest.name === name ? this.#before : this.#latest
    return performance.now() - other.at < this.#shares.recentMs
  }

  #hasRoom(name: string, caller: Caller): boolean {
    const { alone, besideOthers, burstMs } = this.#shares
    if (!this.isBesideOthers(name)) return caller.inside < alone
    return caller.inside < besideOthers && this.#count(caller, 0) <= burstMs
  }
}

/** The first of the line whose turn it is, which then stands behind the others. */
function takeNext(lines: Map<string, Waiting[]>): Waiting | undefined {
  const [first] = lines
  if (first === undefined) return undefined
  const [kind, line] = first
  const next = line.shift()
  lines.delete(kind)
  if (line.length > 0) lines.set(kind, line)
  return next
}
