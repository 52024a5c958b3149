// The refs that clients gave their requests, so that a repeated request does not add a second event.

import { firstRow } from '../../sql.ts'

/**
 * A ref is remembered for at least KEPT_FOR events. Deleting older ones scans all refs, so it runs only once in
 * SWEPT_EVERY events.
 */
const KEPT_FOR = 20_000
const SWEPT_EVERY = 1_000

export class ClientRefs {
  readonly #sql: SqlStorage
  #lastSweep: number

  constructor(sql: SqlStorage, newestEvent: number) {
    this.#sql = sql
    this.#lastSweep = Math.floor(newestEvent / SWEPT_EVERY)
  }

  eventOf(ref: string): number | null {
    const row = firstRow<{ event_id: number }>(this.#sql, 'SELECT event_id FROM client_refs WHERE ref = ?', ref)
    return row?.event_id ?? null
  }

  remember(ref: string, eventId: number): void {
    this.#sql.exec('INSERT INTO client_refs (ref, event_id) VALUES (?, ?)', ref, eventId)
    const sweep = Math.floor(eventId / SWEPT_EVERY)
    if (sweep === this.#lastSweep) return
    this.#lastSweep = sweep
    this.#sql.exec('DELETE FROM client_refs WHERE event_id < ?', eventId - KEPT_FOR)
  }
}
