// Whether the sockets of a key are permitted. The owner's object is asked before a socket is opened, and again when a
// client sends something and the last answer is some seconds old; no message is processed before the answer. So a
// revoked key cannot send anything even if the notice of the revocation was lost. A client that sends all the time
// causes one call in some seconds, and a silent one none.

import { errorFields, log } from '../../../src/lib/log.ts'
import { inTime, noAnswerWithin } from '../../../src/lib/wait-at-most.ts'
import type { SocketAnswer, SocketClaim } from '../../owner/held-sockets.ts'

/** How long an answer is valid, ms. */
const GOOD_FOR_MS = 3_000
const PATIENCE_MS = 5_000
/** Characters of messages of one key that may wait for an answer. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024

export type Permit = SocketAnswer | { ok: false; reason: 'unknown' }

type Deps = {
  ask(claim: Omit<SocketClaim, 'holder'>): Promise<SocketAnswer>
  /** How many sockets of the key are open here. */
  count(key: string | null): number
  /** Closes the sockets of a key that was revoked, or whose state cannot be found out. */
  close(key: string, why: 'ended' | 'unknown'): void
  /** Keeps the object awake until the promise has settled. */
  wait(work: Promise<unknown>): void
}

type Standing = {
  /** How many sockets are permitted, and when that was answered; 0 when the owner's object must be asked again. */
  granted: number
  askedAt: number
  /** Sockets that are being opened. */
  coming: number
  /** Messages that wait for an answer; null when no question is open. */
  waiting: { runs: (() => void)[]; length: number } | null
}

export class SocketPermits {
  readonly #deps: Deps
  readonly #standings = new Map<string | null, Standing>()
  /** One question at a time: an older number must not arrive after a newer one. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether one more socket of the key may be opened. */
  async admit(key: string | null): Promise<Permit> {
    const standing = this.#of(key)
    standing.coming += 1
    try {
      const sockets = this.#deps.count(key) + standing.coming
      if (isGood(standing) && sockets <= standing.granted) return { ok: true, granted: standing.granted }
      return await this.#ask(key, { coming: true })
    } finally {
      standing.coming -= 1
    }
  }

  /**
   * Runs a message of a client of the key: at once if the key is known to be valid, else after the answer. Messages
   * keep their order.
   */
  pass(key: string | null, length: number, run: () => void): void {
    const standing = this.#of(key)
    const { waiting } = standing
    if (waiting !== null) {
      waiting.runs.push(run)
      waiting.length += length
      if (waiting.length > MAX_WAITING_LENGTH) this.#refuse(key, 'unknown')
    } else if (key === null || isGood(standing)) run()
    else {
      standing.waiting = { runs: [run], length }
      this.#deps.wait(this.#check(key, standing))
    }
  }

  /** Calls `run` after all messages of the key that wait for an answer. */
  behind(key: string | null, run: () => void): void {
    const waiting = this.#standings.get(key)?.waiting ?? null
    if (waiting === null) run()
    else waiting.runs.push(run)
  }

  /** The key has fewer sockets than before. */
  left(key: string | null): void {
    const sockets = this.#deps.count(key)
    const { granted, askedAt } = this.#of(key)
    const isTold = granted === 0 && askedAt > 0
    if ((sockets === 0 && !isTold) || granted > 2 * sockets + 8) this.#deps.wait(this.#ask(key, { coming: false }))
  }

  /** The key was revoked: earlier answers are invalid, and waiting messages are dropped. */
  ended(key: string): void {
    this.#refuse(key, 'ended')
  }

  async #check(key: string, standing: Standing): Promise<void> {
    const answer = await this.#ask(key, { coming: false })
    const runs = standing.waiting?.runs ?? []
    // Refused meanwhile, for another reason.
    if (this.#standings.get(key) !== standing) return
    standing.waiting = null
    if (answer.ok) for (const run of runs) run()
    else this.#refuse(key, answer.reason === 'ended' ? 'ended' : 'unknown')
  }

  #refuse(key: string | null, why: 'ended' | 'unknown'): void {
    this.#standings.delete(key)
    if (key !== null) this.#deps.close(key, why)
  }

  #ask(key: string | null, { coming }: { coming: boolean }): Promise<Permit> {
    const asked = this.#last.then(async (): Promise<Permit> => {
      const standing = this.#of(key)
      // Counted when the request is sent, not when it was planned.
      const sockets = this.#deps.count(key) + standing.coming
      const answer = await this.#answer({ key, sockets, coming })
      // The key was revoked after this answer was given, but the revocation arrived first.
      if (this.#standings.get(key) !== standing) return { ok: false, reason: 'ended' }
      if (answer.ok) Object.assign(standing, { granted: answer.granted, askedAt: Date.now() })
      return answer
    })
    this.#last = asked
    return asked
  }

  async #answer(claim: Omit<SocketClaim, 'holder'>): Promise<Permit> {
    try {
      return await inTime(PATIENCE_MS, this.#deps.ask(claim), noAnswerWithin(PATIENCE_MS))
    } catch (error) {
      log.warn('socket.key_not_checked', errorFields(error))
      return { ok: false, reason: 'unknown' }
    }
  }

  #of(key: string | null): Standing {
    const known = this.#standings.get(key)
    if (known !== undefined) return known
    const fresh: Standing = { granted: 0, askedAt: Number.NEGATIVE_INFINITY, coming: 0, waiting: null }
    this.#standings.set(key, fresh)
    return fresh
  }
}

function isGood({ askedAt }: Standing): boolean {
  const age = Date.now() - askedAt
  // A clock that was set back must not make an old answer valid.
  return age >= 0 && age < GOOD_FOR_MS
}
