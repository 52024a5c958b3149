// Submissions that may be repeated: a schedule's slot whose first caller died before it stored the answer. The answer
// is stored with its tasks in one transaction, and returned again.

import { firstRow } from '../sql.ts'
import { SubmittedStocks } from './keyed-requests.ts'

export class Submissions {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** The earlier answer, or null. */
  find(owner: string, key: string): SubmittedStocks | null {
    const query = 'SELECT answer FROM submissions WHERE owner = ? AND key = ?'
    const row = firstRow<{ answer: string }>(this.#sql, query, owner, key)
    return row && SubmittedStocks.parse(JSON.parse(row.answer))
  }

  remember(owner: string, { key, answer, at }: { key: string; answer: SubmittedStocks; at: number }): void {
    this.#sql.exec(
      'INSERT INTO submissions (owner, key, answer, at) VALUES (?, ?, ?, ?)',
      owner,
      key,
      JSON.stringify(answer),
      at,
    )
  }

  prune(before: number): void {
    this.#sql.exec('DELETE FROM submissions WHERE at <= ?', before)
  }
}
