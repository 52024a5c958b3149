// Which conversations know the owner's secrets, so that a change reaches them. A conversation says so before it reads the
// secrets, never after: what is changed from then on, it is told. Its word holds for a time, after which it has to say it,
// and to read, again; so whoever could not be told works by what is old for no longer than that.

import { rows } from '../sql.ts'

/** How long the word of a conversation holds. */
export const HOLD_MS = 300_000

/** Who has not been told of `due` changes. */
export type UntoldHolder = { holder: string; due: number }

export class SecretHolders {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** What changed before is read by whoever says this now. */
  hold(holder: string, now: number): void {
    this.#sql.exec('INSERT OR REPLACE INTO secret_holders (holder, until, due) VALUES (?, ?, 0)', holder, now + HOLD_MS)
  }

  /** From now on all of them are to be told. */
  changed(now: number): void {
    this.#sql.exec('DELETE FROM secret_holders WHERE until < ?', now)
    this.#sql.exec('UPDATE secret_holders SET due = due + 1')
  }

  untold(now: number): UntoldHolder[] {
    const query = 'SELECT holder, due FROM secret_holders WHERE due > 0 AND until >= ?'
    return rows<UntoldHolder>(this.#sql, query, now)
  }

  /** Unless there has been another change in the meantime. */
  told({ holder, due }: UntoldHolder): void {
    this.#sql.exec('UPDATE secret_holders SET due = 0 WHERE holder = ? AND due = ?', holder, due)
  }
}
