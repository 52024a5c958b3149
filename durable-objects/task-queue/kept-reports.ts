// What the database has yet to hear. Reports that it did not take when they were made wait here, beside the books, and until
// they are in, their tasks are not over. And reports that nobody may find any more, because their task was cancelled after a
// run that died had saved one.

import { type NewAnalysis, saveAnalysis } from '../../src/db/analyses.ts'
import { withdrawAnalysis } from '../../src/db/withdrawn-analyses.ts'
import { Outbox } from '../outbox.ts'
import { firstRow } from '../sql.ts'

const REPORT = 'analysis'
const WITHDRAWAL = 'withdrawal'
/** A row holds 2 MB. */
const MAX_CHARACTERS = 600_000

export class KeptReports {
  readonly #sql: SqlStorage
  readonly #outbox: Outbox

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.#outbox = new Outbox(sql)
  }

  /** Whether there is room for it. */
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

  /** Whatever was saved for the task is to be deleted. */
  withdraw(taskId: string): void {
    this.#outbox.put(WITHDRAWAL, taskId, '')
  }

  get nextAttemptAt(): number | null {
    return this.#outbox.nextAttemptAt
  }

  /** Tries what is due, and tells of each that got through. One whose task was given up meanwhile is taken back. */
  async deliver(db: D1Database, onSaved: (taskId: string) => { isWanted: boolean }): Promise<void> {
    await this.#outbox.deliver(async ({ kind, key, payload }) => {
      if (kind === WITHDRAWAL) return withdrawAnalysis(db, key)
      await saveAnalysis(db, JSON.parse(payload) as NewAnalysis)
      if (!onSaved(key).isWanted) await withdrawAnalysis(db, key)
    })
  }
}
