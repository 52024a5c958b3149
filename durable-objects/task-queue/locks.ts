// Work that only one task of the whole service may do at a time. A lock is a lease on the task's id: taken in the
// transaction of its submission, renewed while it runs, released when it ends. It expires in any case.
//
// An owner who finds the lock taken is remembered until the time at which the client should come back. An owner who had
// it recently must leave it to waiting owners, so that nobody can take it again and again.

import { firstRow } from '../sql.ts'

export const LOCK_MS = 300_000
/** A turn that is older than this does not matter any more. */
const TURNS_KEPT_MS = 24 * 3600 * 1000

type LockRow = { task_id: string; until: number; waits: number | null }

export class Locks {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** The task that holds the lock, or null. A task that waits for a runner keeps it for any time. */
  holder(name: string, now: number): string | null {
    const query = `SELECT locks.task_id, locks.until, tasks.runnable_at IS NOT NULL AS waits
      FROM locks LEFT JOIN tasks ON tasks.id = locks.task_id WHERE locks.name = ?`
    const row = firstRow<LockRow>(this.#sql, query, name)
    if (row === null) return null
    return row.until > now || row.waits === 1 ? row.task_id : null
  }

  /** To be called when the lock is free. */
  take(name: string, taskId: string, now: number): void {
    this.#sql.exec('INSERT OR REPLACE INTO locks (name, task_id, until) VALUES (?, ?, ?)', name, taskId, now + LOCK_MS)
  }

  /** Whether a waiting owner had their last turn before this owner, or never. */
  isAnothersTurn(name: string, owner: string, now: number): boolean {
    const query = `SELECT 1 FROM lock_turns AS others WHERE name = ?1 AND owner <> ?2 AND waits_until > ?3 AND had_at <
      (SELECT had_at FROM lock_turns WHERE name = ?1 AND owner = ?2)`
    return firstRow(this.#sql, query, name, owner, now) !== null
  }

  /** The owner waits for the lock until that time; each new try extends it. */
  wait(name: string, owner: string, until: number): void {
    this.#sql.exec(
      `INSERT INTO lock_turns (name, owner, waits_until) VALUES (?1, ?2, ?3)
       ON CONFLICT (name, owner) DO UPDATE SET waits_until = MAX(waits_until, ?3)`,
      name,
      owner,
      until,
    )
  }

  /** The owner gets the lock. */
  hadTurn(name: string, owner: string, now: number): void {
    const old = now - TURNS_KEPT_MS
    this.#sql.exec('DELETE FROM lock_turns WHERE had_at < ? AND waits_until < ?', old, old)
    this.#sql.exec('INSERT OR REPLACE INTO lock_turns (name, owner, had_at) VALUES (?, ?, ?)', name, owner, now)
  }

  /** No effect for a task without a lock. */
  renew(taskId: string, now: number): void {
    this.#sql.exec('UPDATE locks SET until = ? WHERE task_id = ?', now + LOCK_MS, taskId)
  }

  release(taskId: string): void {
    this.#sql.exec('DELETE FROM locks WHERE task_id = ?', taskId)
  }
}
