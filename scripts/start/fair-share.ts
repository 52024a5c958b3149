// Whose turn it is at the runtime. It is one thread for everybody, and takes requests as they come: who sends sixty at a time makes
// everybody wait behind sixty. So the front keeps a line for each caller, and while others ask as well, a caller has only
// a few requests inside at a time. Who is alone hardly notices it.

export type Shares = {
  /** Requests of one caller in the runtime at a time while nobody else asks: enough to keep the thread busy. */
  readonly alone: number
  /** The same while others ask. */
  readonly besideOthers: number
  /** For so long after its last request a caller counts as one who asks. */
  readonly recentMs: number
  /** What takes longer waits for something outside, a model or a slow client, and holds nobody up. */
  readonly longestTurnMs: number
}

export const SHARES: Shares = { alone: 32, besideOthers: 1, recentMs: 5_000, longestTurnMs: 100 }

/** Ends a turn; more than once does nothing. */
export type EndTurn = () => void

type Waiting = { isGone: () => boolean; begin: (end: EndTurn | null) => void }
/** A line for each kind of request. */
type Caller = { inside: number; lines: Map<string, Waiting[]> }

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
    this.#note(name)
    const caller = this.#callers.get(name) ?? { inside: 0, lines: new Map<string, Waiting[]>() }
    this.#callers.set(name, caller)
    if (caller.lines.size === 0 && caller.inside < this.#most(name)) return this.#begin(name, caller)
    const line = caller.lines.get(kind) ?? []
    caller.lines.set(kind, line)
    return new Promise((begin) => line.push({ isGone, begin }))
  }

  #begin(name: string, caller: Caller): EndTurn {
    caller.inside += 1
    let isOver = false
    const end = () => {
      clearTimeout(timer)
      if (isOver) return
      isOver = true
      caller.inside -= 1
      this.#goOn(name, caller)
    }
    const timer = setTimeout(end, this.#shares.longestTurnMs)
    timer.unref()
    return end
  }

  #goOn(name: string, caller: Caller): void {
    while (caller.lines.size > 0 && caller.inside < this.#most(name)) {
      const next = takeNext(caller.lines)
      next?.begin(next.isGone() ? null : this.#begin(name, caller))
    }
    if (caller.inside === 0 && caller.lines.size === 0) this.#callers.delete(name)
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

  #most(name: string): number {
    const { alone, besideOthers } = this.#shares
    return this.isBesideOthers(name) ? besideOthers : alone
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
