// Whether the sockets of a key may be there. The owner's object is asked before one more is opened, and again when a
// client says something and the last answer is some seconds old; nothing is taken up before the answer. So a key that has
// ended says nothing any more even if the word of its end never got here, a client that talks all the time costs a question
// in some seconds, and one that is silent costs nothing and wakes nobody.

import { errorFields, log } from '../../src/lib/log.ts'
import type { SocketAnswer, SocketClaim } from '../owner/held-sockets.ts'

/** How long an answer holds. */
const GOOD_FOR_MS = 3_000
const PATIENCE_MS = 5_000
/** Characters of one key's clients that may wait for an answer. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024

export type Permit = SocketAnswer | { ok: false; reason: 'unknown' }

type Ports = {
  ask(claim: Omit<SocketClaim, 'holder'>): Promise<SocketAnswer>
  /** How many sockets of the key are open here. */
  count(key: string | null): number
  /** Closes the sockets of a key that has ended, or of which nothing can be found out. */
  close(key: string, why: 'ended' | 'unknown'): void
  /** Keeps the object there until it has settled. */
  wait(work: Promise<unknown>): void
}

type Standing = {
  /** How many sockets there may be, and when that was said; 0 when it must be asked anew. */
  granted: number
  askedAt: number
  /** Sockets that are about to be opened. */
  coming: number
  /** Messages that wait for an answer; null when nobody is asked. */
  waiting: { runs: (() => void)[]; length: number } | null
}

export class SocketPermits {
  readonly #ports: Ports
  readonly #standings = new Map<string | null, Standing>()
  /** One question at a time: a later number must not be overtaken by an earlier one. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Whether one more socket of the key may be opened. */
  async admit(key: string | null): Promise<Permit> {
    const standing = this.#of(key)
    standing.coming += 1
    try {
      const sockets = this.#ports.count(key) + standing.coming
      if (isGood(standing) && sockets <= standing.granted) return { ok: true, granted: standing.granted }
      return await this.#ask(key, { coming: true })
    } finally {
      standing.coming -= 1
    }
  }

  /** Runs what a client of the key wants: at once, or when it is known that it may. In the order of the calls. */
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
      this.#ports.wait(this.#check(key, standing))
    }
  }

  /** Runs it behind what waits for an answer. */
  behind(key: string | null, run: () => void): void {
    const waiting = this.#standings.get(key)?.waiting ?? null
    if (waiting === null) run()
    else waiting.runs.push(run)
  }

  /** There are fewer sockets of the key than before. */
  left(key: string | null): void {
    const sockets = this.#ports.count(key)
    const { granted, askedAt } = this.#of(key)
    const isTold = granted === 0 && askedAt > 0
    if ((sockets === 0 && !isTold) || granted > 2 * sockets + 8) this.#ports.wait(this.#ask(key, { coming: false }))
  }

  /** The key has ended: what is known of it holds no longer, and what its clients said last is not heard. */
  ended(key: string): void {
    this.#refuse(key, 'ended')
  }

  async #check(key: string, standing: Standing): Promise<void> {
    const answer = await this.#ask(key, { coming: false })
    const runs = standing.waiting?.runs ?? []
    // Refused in the meantime, for another reason.
    if (this.#standings.get(key) !== standing) return
    standing.waiting = null
    if (answer.ok) for (const run of runs) run()
    else this.#refuse(key, answer.reason === 'ended' ? 'ended' : 'unknown')
  }

  #refuse(key: string | null, why: 'ended' | 'unknown'): void {
    this.#standings.delete(key)
    if (key !== null) this.#ports.close(key, why)
  }

  #ask(key: string | null, { coming }: { coming: boolean }): Promise<Permit> {
    const asked = this.#last.then(async (): Promise<Permit> => {
      const standing = this.#of(key)
      // Counted when it is said, not when it was meant.
      const sockets = this.#ports.count(key) + standing.coming
      const answer = await this.#answer({ key, sockets, coming })
      // The word of the key's end was faster than an answer from before it.
      if (this.#standings.get(key) !== standing) return { ok: false, reason: 'ended' }
      if (answer.ok) Object.assign(standing, { granted: answer.granted, askedAt: Date.now() })
      return answer
    })
    this.#last = asked
    return asked
  }

  async #answer(claim: Omit<SocketClaim, 'holder'>): Promise<Permit> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS)
    })
    try {
      return await Promise.race([this.#ports.ask(claim), late])
    } catch (error) {
      log.warn('socket.key_not_checked', errorFields(error))
      return { ok: false, reason: 'unknown' }
    } finally {
      clearTimeout(timer)
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
  // A clock that was set back makes nothing young.
  return age >= 0 && age < GOOD_FOR_MS
}
