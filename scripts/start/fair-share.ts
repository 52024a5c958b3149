// Whose turn it is at the runtime. It is one thread for everybody, and takes requests as they come: who sends sixty at a time makes
// everybody wait behind sixty. So the front keeps a line for each caller, and while others ask as well, a caller has only
// a few requests inside at a time, and a part of the time. Who is alone hardly notices it.

export type Shares = {
  /** Requests of one caller in the runtime at a time while nobody else asks: enough to keep the thread busy. */
  readonly alone: number
  /** The same while others ask. */
  readonly besideOthers: number
  /** For so long after its last request a caller counts as one who asks. */
  readonly recentMs: number
  /** What takes longer waits for something outside, a model or a slow client, and holds nobody up. */
  readonly longestTurnMs: number
  /** The most of the time that a caller is inside while others ask, once it has been there for `burstMs` more than that. */
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

/** The kind of what only asks whether the service lives: a monitor is nobody whom others have to make room for. */
export const LOOK = 'look'

/** As much of a turn counts; the rest is mostly spent waiting. */
const MOST_COUNTED_MS = 20

/** Ends a turn; more than once does nothing. */
export type EndTurn = () => void

type Waiting = { isGone: () => boolean; begin: (end: EndTurn | null) => void }
/** `usedMs` is what it was inside, less its part of the time since then, at `usedAt`. */
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
  /** The two callers who asked last: whoever looks for another one finds it here. */
  #latest = { name: '', at: Number.NEGATIVE_INFINITY }
  #before = { name: '', at: Number.NEGATIVE_INFINITY }

  constructor(shares: Shares) {
    this.#shares = shares
  }

  /**
   * Settles when it is the request's turn, with what is to be called when the runtime is done with it. Null: the client has left
   * while it waited. Of each kind that waits one has its turn after the other.
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

  /** Looks again after a while, in which what it used is forgotten. */
  #rest(name: string, caller: Caller, ms: number): void {
    if (caller.rest !== null) clearTimeout(caller.rest)
    caller.rest = setTimeout(() => this.#goOn(name, caller), Math.max(1, ms))
    caller.rest.unref()
  }

  /** What it has used by now. More than a little over the burst is not held against it. */
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

  /** Whether somebody else has asked a moment ago. */
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
