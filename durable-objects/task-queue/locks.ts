// What only one task of the whole service may do at a time. A lock is a lease on the task's id: taken in the transaction of
// its submission, renewed while it runs, given back when it ends. Whatever else happens, it runs out.

import { firstRow } from '../sql.ts'

export const LOCK_MS = 300_000

type LockRow = { task_id: string; until: number; waits: number | null }

export class Locks {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** The task that holds the lock, or null. A task that still waits for a runner keeps it however long that takes. */
  holder(name: string, now: number): string | null {
    const query = `SELECT locks.task_id, locks.until, tasks.runnable_at IS NOT NULL AS waits
      FROM locks LEFT JOIN tasks ON tasks.id = locks.task_id WHERE locks.name = ?`
    const row = firstRow<LockRow>(this.#sql, query, name)
    if (row === null) return null
    return row.until > now || row.waits === 1 ? row.task_id : null
  }

  /** To be called when nobody holds it. */
  take(name: string, taskId: string, now: number): void {
    this.#sql.exec('INSERT OR REPLACE INTO locks (name, task_id, until) VALUES (?, ?, ?)', name, taskId, now + LOCK_MS)
  }

  /** Does nothing for a task that holds none. */
  renew(taskId: string, now: number): void {
    this.#sql.exec('UPDATE locks SET until = ? WHERE task_id = ?', now + LOCK_MS, taskId)
  }

  release(taskId: string): void {
    this.#sql.exec('DELETE FROM locks WHERE task_id = ?', taskId)
  }
}
