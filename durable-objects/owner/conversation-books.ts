// Which conversations the owner has, and how many bytes each stores. An id is reserved before its conversation is
// created, and the first report of the conversation confirms it. An unconfirmed reservation is checked and released.
// Every call is idempotent.

import { firstRow, rows } from '../sql.ts'

export type Reservation =
  /** `isFresh`: this call made the reservation, so its caller may release it. */
  { ok: true; isFresh: boolean } | { ok: false; limit: 'conversations' | 'stored_bytes'; used: number; allowed: number }

type Totals = { conversations: number; bytes: number }

export class ConversationBooks {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
  }

  get totals(): Totals {
    return firstRow<Totals>(this.#sql, 'SELECT conversations, bytes FROM totals') as Totals
  }

  reserve(id: string, allowed: Totals, now: number): Reservation {
    if (this.has(id)) return { ok: true, isFresh: false }
    const used = this.totals
    if (used.conversations >= allowed.conversations) {
      return { ok: false, limit: 'conversations', used: used.conversations, allowed: allowed.conversations }
    }
    if (used.bytes >= allowed.bytes) {
      return { ok: false, limit: 'stored_bytes', used: used.bytes, allowed: allowed.bytes }
    }
    this.#sql.exec('INSERT INTO conversations (id, reserved_at) VALUES (?, ?)', id, now)
    return { ok: true, isFresh: true }
  }

  /** Confirms the conversation and records how many bytes it stores. */
  report(id: string, bytes: number): void {
    this.#sql.exec(
      `INSERT INTO conversations (id, bytes) VALUES (?1, ?2)
       ON CONFLICT (id) DO UPDATE SET bytes = ?2, reserved_at = NULL`,
      id,
      bytes,
    )
  }

  forget(id: string): void {
    this.#sql.exec('DELETE FROM conversations WHERE id = ?', id)
  }

  /** Releases a reservation; a conversation that has reported is kept. */
  release(id: string): void {
    this.#sql.exec('DELETE FROM conversations WHERE id = ? AND reserved_at IS NOT NULL', id)
  }

  /** Reservations older than the given time that are not confirmed. */
  unconfirmed(before: number, limit: number): string[] {
    const query = 'SELECT id FROM conversations WHERE reserved_at < ? ORDER BY reserved_at LIMIT ?'
    return rows<{ id: string }>(this.#sql, query, before, limit).map(({ id }) => id)
  }

  get isTakenOver(): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM taken_over') !== null
  }

  /** Adds conversations that are older than these records; their sizes follow with their next report. */
  takeOver(owner: string, ids: readonly string[], now: number): void {
    this.#storage.transactionSync(() => {
      for (const id of ids) this.#sql.exec('INSERT OR IGNORE INTO conversations (id) VALUES (?)', id)
      this.#sql.exec('INSERT INTO taken_over (owner, at) VALUES (?, ?)', owner, now)
    })
  }

  /** Null before the records exist. */
  get owner(): string | null {
    return firstRow<{ owner: string }>(this.#sql, 'SELECT owner FROM taken_over')?.owner ?? null
  }

  ids(): string[] {
    return rows<{ id: string }>(this.#sql, 'SELECT id FROM conversations').map(({ id }) => id)
  }

  /** Those of the ids that the owner does not have; empty while the records do not exist. */
  unknown(ids: readonly string[]): string[] {
    if (ids.length === 0 || !this.isTakenOver) return []
    const query = 'SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM conversations)'
    return rows<{ value: string }>(this.#sql, query, JSON.stringify(ids)).map(({ value }) => value)
  }

  has(id: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM conversations WHERE id = ?', id) !== null
  }
}
