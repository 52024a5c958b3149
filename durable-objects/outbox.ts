// Writes to other storage (mostly D1), stored here until they are delivered. `put` is part of the caller's transaction,
// so the state here and the write that follows from it are always stored together. For each kind and key the newest
// payload wins: an older payload that was not sent yet is never sent.
//
// One delivery runs at a time, so an older payload cannot overtake a newer one. A send that timed out may still arrive
// late; `seq` grows with every put and lets the receiver refuse the older one.

import { type Clock, systemClock } from '../src/lib/clock.ts'
import { errorFields, log } from '../src/lib/log.ts'
import { inTime, noAnswerWithin } from '../src/lib/wait-at-most.ts'
import { firstRow, rows } from './sql.ts'

export type OutboxEntry = { seq: number; kind: string; key: string; payload: string; attempts: number }

export type Delivery = { delivered: number; failed: number; nextAttemptAt: number | null }

type Options = { clock?: Clock; sendTimeoutMs?: number }

const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 300_000
const SEND_TIMEOUT_MS = 15_000

export class Outbox {
  readonly #sql: SqlStorage
  readonly #clock: Clock
  readonly #sendTimeoutMs: number
  #running: Promise<unknown> = Promise.resolve()

  constructor(sql: SqlStorage, { clock = systemClock, sendTimeoutMs = SEND_TIMEOUT_MS }: Options = {}) {
    this.#sql = sql
    this.#clock = clock
    this.#sendTimeoutMs = sendTimeoutMs
  }

  /**
   * Stores the payload for delivery, in place of an older one of the same key. A back-off of the entry stays in effect.
   */
  put(kind: string, key: string, payload: string): void {
    const older = firstRow<{ attempts: number; next_at: number }>(
      this.#sql,
      'SELECT attempts, next_at FROM outbox WHERE kind = ? AND key = ?',
      kind,
      key,
    )
    this.#sql.exec(
      'INSERT OR REPLACE INTO outbox (kind, key, payload, attempts, next_at) VALUES (?, ?, ?, ?, ?)',
      kind,
      key,
      payload,
      older?.attempts ?? 0,
      older?.next_at ?? this.#clock(),
    )
  }

  /** Makes a waiting entry due now, because a caller waits for its delivery. Its count of failures stays. */
  hurry(kind: string, key: string): void {
    const now = this.#clock()
    this.#sql.exec('UPDATE outbox SET next_at = MIN(next_at, ?) WHERE kind = ? AND key = ?', now, kind, key)
  }

  /** Everything that is not delivered yet, oldest first. */
  pending(): OutboxEntry[] {
    return rows<OutboxEntry>(this.#sql, 'SELECT seq, kind, key, payload, attempts FROM outbox ORDER BY seq')
  }

  /**
   * When the next delivery should be tried, epoch ms; null when nothing waits. The object's alarm must be set to this
   * time.
   */
  get nextAttemptAt(): number | null {
    return firstRow<{ at: number | null }>(this.#sql, 'SELECT MIN(next_at) AS at FROM outbox')?.at ?? null
  }

  /**
   * Sends what is due, oldest first, after any delivery that is still running. When a send throws or takes too long,
   * its entry is kept for a retry and does not delay the others. Throws only when the object's own storage fails; the
   * next delivery tries again.
   */
  deliver(send: (entry: OutboxEntry) => Promise<void>): Promise<Delivery> {
    const next = this.#running.then(() => this.#deliverDue(send))
    this.#running = next.catch(() => {})
    return next
  }

  async #deliverDue(send: (entry: OutboxEntry) => Promise<void>): Promise<Delivery> {
    const due = rows<OutboxEntry>(
      this.#sql,
      'SELECT seq, kind, key, payload, attempts FROM outbox WHERE next_at <= ? ORDER BY seq',
      this.#clock(),
    )
    let delivered = 0
    try {
      for (const entry of due) {
        if (await this.#sendOne(entry, send)) delivered += 1
      }
      return { delivered, failed: due.length - delivered, nextAttemptAt: this.nextAttemptAt }
    } catch (error) {
      // The object was erased during a send, and its tables with it: there is nothing left to send.
      if (!(error instanceof Error && /no such table: outbox/.test(error.message))) throw error
      return { delivered, failed: due.length - delivered, nextAttemptAt: null }
    }
  }

  async #sendOne(entry: OutboxEntry, send: (entry: OutboxEntry) => Promise<void>): Promise<boolean> {
    try {
      await inTime(this.#sendTimeoutMs, send(entry), noAnswerWithin(this.#sendTimeoutMs))
    } catch (error) {
      const attempts = entry.attempts + 1
      const nextAt = this.#clock() + backOffMs(attempts)
      const { kind, key } = entry
      // By key and not by `seq`: a payload that was put during the failed send gets the same back-off.
      this.#sql.exec(
        'UPDATE outbox SET attempts = ?, next_at = ? WHERE kind = ? AND key = ?',
        attempts,
        nextAt,
        kind,
        key,
      )
      log.warn('outbox.send_failed', { kind, attempts, ...errorFields(error) })
      return false
    }
    this.#sql.exec('DELETE FROM outbox WHERE seq = ?', entry.seq)
    // A put during the send inherited the back-off of the entry that has just been delivered.
    this.#sql.exec(
      'UPDATE outbox SET attempts = 0, next_at = MIN(next_at, ?) WHERE kind = ? AND key = ?',
      this.#clock(),
      entry.kind,
      entry.key,
    )
    return true
  }
}

// Between half and all of the doubling delay, at random, so that objects that failed together do not retry together.
function backOffMs(attempts: number): number {
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1))
  return Math.round(ceiling * (0.5 + Math.random() / 2))
}
