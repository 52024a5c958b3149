// The events that were sent to each owner's streams, numbered from 1 without gaps, so that "everything after 41" is an
// exact answer for a client that was away. Only the newest ones are stored; the log knows its first number, and returns
// null instead of a list with a gap.

import { sseFrame } from '../../src/lib/sse-frame.ts'
import { firstRow, rows } from '../sql.ts'

export const KEEP_EVENTS_PER_OWNER = 5_000
export const KEEP_EVENTS_MS = 24 * 3600 * 1000
/** Pruning at every event would double its cost. */
const CUT_EVERY = 256

type StreamRow = { last_id: number; pruned_to: number }

export class StreamLog {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Numbers and stores the event and returns its frame. */
  append(owner: string, { event, json, at }: { event: string; json: string; at: number }): string {
    const { last_id: id } = firstRow<StreamRow>(
      this.#sql,
      `INSERT INTO streams (owner, last_id) VALUES (?, 1)
       ON CONFLICT (owner) DO UPDATE SET last_id = last_id + 1 RETURNING last_id, pruned_to`,
      owner,
    ) as StreamRow
    const frame = sseFrame({ id, event, json })
    this.#sql.exec('INSERT INTO stream_events (owner, id, frame, at) VALUES (?, ?, ?, ?)', owner, id, frame, at)
    if (id % CUT_EVERY === 0) this.#cut(owner, id - KEEP_EVENTS_PER_OWNER)
    return frame
  }

  /** The number of the owner's newest event; 0 before the first. */
  last(owner: string): number {
    return this.#stream(owner).last_id
  }

  /**
   * The frames after that number, or null when the log does not have all of them any more or never assigned that
   * number.
   */
  since(owner: string, after: number): string[] | null {
    const { last_id, pruned_to } = this.#stream(owner)
    if (after > last_id || after < pruned_to) return null
    const query = 'SELECT frame FROM stream_events WHERE owner = ? AND id > ? ORDER BY id'
    return rows<{ frame: string }>(this.#sql, query, owner, after).map(({ frame }) => frame)
  }

  /** Deletes events that no client will ask for. */
  prune(now: number): void {
    const query = 'SELECT owner, MAX(id) AS id FROM stream_events WHERE at <= ? GROUP BY owner'
    for (const { owner, id } of rows<{ owner: string; id: number }>(this.#sql, query, now - KEEP_EVENTS_MS)) {
      this.#cut(owner, id)
    }
  }

  get isEmpty(): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM stream_events LIMIT 1') === null
  }

  #stream(owner: string): StreamRow {
    const row = firstRow<StreamRow>(this.#sql, 'SELECT last_id, pruned_to FROM streams WHERE owner = ?', owner)
    return row ?? { last_id: 0, pruned_to: 0 }
  }

  #cut(owner: string, upTo: number): void {
    if (upTo <= 0) return
    this.#sql.exec('DELETE FROM stream_events WHERE owner = ? AND id <= ?', owner, upTo)
    this.#sql.exec('UPDATE streams SET pruned_to = MAX(pruned_to, ?) WHERE owner = ?', upTo, owner)
  }
}
