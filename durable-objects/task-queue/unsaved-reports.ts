// Pending writes to the database. Reports that the database did not accept are stored here, and their tasks stay open
// until they are written. Also deletions: reports whose task was cancelled after a run that died had stored them.

import { ledgerEntryOf } from '../../src/analysis/evidence/ledger.ts'
import { type NewAnalysis, withdrawAnalysis } from '../../src/db/analyses.ts'
import { saveReport } from '../../src/db/evidence.ts'
import { Outbox } from '../outbox.ts'
import { firstRow } from '../sql.ts'

const REPORT = 'analysis'
const WITHDRAWAL = 'withdrawal'
/** A row holds 2 MB. */
const MAX_CHARACTERS = 600_000

export class UnsavedReports {
  readonly #sql: SqlStorage
  readonly #outbox: Outbox

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.#outbox = new Outbox(sql)
  }

  /** Whether there is room for the report. */
  keep(taskId: string, record: string): boolean {
    if (record.length > MAX_CHARACTERS) return false
    this.#outbox.put(REPORT, taskId, record)
    return true
  }

  has(taskId: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM outbox WHERE kind = ? AND key = ?', REPORT, taskId) !== null
  }

  drop(taskId: string): void {
    this.#sql.exec('DELETE FROM outbox WHERE kind = ? AND key = ?', REPORT, taskId)
  }

  /** The task's stored report, if any, must be deleted. */
  withdraw(taskId: string): void {
    this.#outbox.put(WITHDRAWAL, taskId, '')
  }

  get nextAttemptAt(): number | null {
    return this.#outbox.nextAttemptAt
  }

  /**
   * Tries the due writes and calls `onSaved` for each that succeeded. The report of a task that was given up meanwhile
   * is deleted again.
   */
  async deliver(db: D1Database, onSaved: (taskId: string) => { isWanted: boolean }): Promise<void> {
    await this.#outbox.deliver(async ({ kind, key, payload }) => {
      if (kind === WITHDRAWAL) return withdrawAnalysis(db, key)
      const analysis = JSON.parse(payload) as NewAnalysis
      await saveReport(db, { analysis, entry: ledgerEntryOf(analysis) })
      if (!onSaved(key).isWanted) await withdrawAnalysis(db, key)
    })
  }
}
