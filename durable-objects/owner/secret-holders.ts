// Which conversations know the owner's secrets, so that a change reaches them. A conversation registers before it reads
// the secrets, never after: from then on it is told of each change. A registration expires; then the conversation must
// register and read again. So a conversation that cannot be reached uses old values no longer than that.

import { rows } from '../sql.ts'

/** How long a registration is valid, ms. */
export const HOLD_MS = 300_000

/** A conversation that has not been told of `due` changes yet. */
export type UntoldHolder = { holder: string; due: number }

export class SecretHolders {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Earlier changes need no message: the caller reads the secrets after this. */
  hold(holder: string, now: number): void {
    this.#sql.exec('INSERT OR REPLACE INTO secret_holders (holder, until, due) VALUES (?, ?, 0)', holder, now + HOLD_MS)
  }

  /** From now on all registered conversations must be told. */
  changed(now: number): void {
    this.#sql.exec('DELETE FROM secret_holders WHERE until < ?', now)
    this.#sql.exec('UPDATE secret_holders SET due = due + 1')
  }

  untold(now: number): UntoldHolder[] {
    const query = 'SELECT holder, due FROM secret_holders WHERE due > 0 AND until >= ?'
    return rows<UntoldHolder>(this.#sql, query, now)
  }

  /** Removes the entry unless there has been another change in the meantime. */
  told({ holder, due }: UntoldHolder): void {
    this.#sql.exec('UPDATE secret_holders SET due = 0 WHERE holder = ? AND due = ?', holder, due)
  }
}
