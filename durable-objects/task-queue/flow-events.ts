import { firstRow, rows } from '../sql.ts'

const MAX_PER_TASK = 200

/** The steps that runners reported of each task's run, in order; steps after the first 200 are dropped. */
export class FlowEvents {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  append(taskId: string, bodies: readonly string[]): void {
    if (bodies.length === 0) return
    const query = 'SELECT COUNT(*) AS n FROM flow_events WHERE task_id = ?'
    let n = firstRow<{ n: number }>(this.#sql, query, taskId)?.n ?? 0
    for (const body of bodies) {
      if (n >= MAX_PER_TASK) return
      n += 1
      this.#sql.exec('INSERT INTO flow_events (task_id, n, body) VALUES (?, ?, ?)', taskId, n, body)
    }
  }

  of(taskId: string): string[] {
    const query = 'SELECT body FROM flow_events WHERE task_id = ? ORDER BY n'
    return rows<{ body: string }>(this.#sql, query, taskId).map(({ body }) => body)
  }
}
