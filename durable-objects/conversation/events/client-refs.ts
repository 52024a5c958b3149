// The refs that clients gave their requests, so that a repeated request does not add a second event.

import { createHash } from 'node:crypto'
import type { ActionEvent } from '../../../src/agent/events.ts'
import { firstRow } from '../../sql.ts'

/**
 * A ref is remembered for at least KEPT_FOR events. Deleting older ones scans all refs, so it runs only once in
 * SWEPT_EVERY events.
 */
const KEPT_FOR = 20_000
const SWEPT_EVERY = 1_000

/** A ref, and a digest of the event that it names: what a request says beside the event does not count. */
type NamedEvent = { ref: string; digest: string }

const digestOf = (event: ActionEvent): string => createHash('sha256').update(JSON.stringify(event)).digest('hex')

export class ClientRefs {
  readonly #sql: SqlStorage
  #lastSweep: number

  constructor(sql: SqlStorage, newestEvent: number) {
    this.#sql = sql
    this.#lastSweep = Math.floor(newestEvent / SWEPT_EVERY)
  }

  /**
   * Adds the event, and returns its id. With a ref that was used before it adds nothing: it returns the id of the first event, or
   * says that this is another one. `event`: as the client sent it, before anything is masked.
   */
  once(ref: string | null, event: ActionEvent, add: () => number): number | 'other_event' {
    if (ref === null) return add()
    const named = { ref, digest: digestOf(event) }
    const known = this.eventOf(named)
    if (known !== null) return known
    const id = add()
    this.remember(named, id)
    return id
  }

  /** Null for a new ref. */
  eventOf({ ref, digest }: NamedEvent): number | 'other_event' | null {
    const query = 'SELECT event_id, digest FROM client_refs WHERE ref = ?'
    const row = firstRow<{ event_id: number; digest: string | null }>(this.#sql, query, ref)
    if (row === null) return null
    return row.digest === null || row.digest === digest ? row.event_id : 'other_event'
  }

  remember({ ref, digest }: NamedEvent, eventId: number): void {
    this.#sql.exec('INSERT INTO client_refs (ref, event_id, digest) VALUES (?, ?, ?)', ref, eventId, digest)
    const sweep = Math.floor(eventId / SWEPT_EVERY)
    if (sweep === this.#lastSweep) return
    this.#lastSweep = sweep
    this.#sql.exec('DELETE FROM client_refs WHERE event_id < ?', eventId - KEPT_FOR)
  }
}
