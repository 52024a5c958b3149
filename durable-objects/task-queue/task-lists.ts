// An owner's tasks, as lists show them.

import { type Task, TaskState } from '../../src/analysis/task.ts'
import { rows } from '../sql.ts'
import type { TaskRow } from './schema.ts'
import { OPEN, toTask } from './task-rows.ts'

export type ListQuery = { statuses: string[] | null; limit: number; filterFirst: boolean }

export type TaskList = { tasks: Task[]; total: number; pending: number; processing: number }

export class TaskLists {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Newest first. The limit comes before the filter unless `filterFirst`; the counts are of all of the owner's tasks. */
  list(owner: string, { statuses, limit, filterFirst }: ListQuery): TaskList {
    const counts = rows<{ status: string; n: number }>(
      this.#sql,
      'SELECT status, n FROM task_counts WHERE owner = ?',
      owner,
    )
    const count = (status: string) => counts.find((row) => row.status === status)?.n ?? 0
    const matches = ({ status }: TaskRow) => statuses === null || statuses.includes(status)
    const newest =
      filterFirst && statuses !== null ? this.#newestOf(owner, statuses, limit) : this.#newest(owner, limit)
    return {
      tasks: newest.filter(matches).map(toTask),
      total: counts.reduce((sum, { n }) => sum + n, 0),
      pending: count('pending'),
      processing: count('processing'),
    }
  }

  /** The owner's unfinished tasks, oldest first. */
  open(owner: string): Task[] {
    const query = `SELECT * FROM tasks WHERE owner = ? AND status IN ${OPEN} ORDER BY seq`
    return rows<TaskRow>(this.#sql, query, owner).map(toTask)
  }

  /** The tasks of one submission, in its order. */
  batch(owner: string, batch: string): Task[] {
    const query = 'SELECT * FROM tasks WHERE batch = ? AND owner = ? ORDER BY seq'
    return rows<TaskRow>(this.#sql, query, batch, owner).map(toTask)
  }

  #newest(owner: string, limit: number): TaskRow[] {
    return rows<TaskRow>(this.#sql, 'SELECT * FROM tasks WHERE owner = ? ORDER BY seq DESC LIMIT ?', owner, limit)
  }

  #newestOf(owner: string, statuses: string[], limit: number): TaskRow[] {
    const known = TaskState.options.filter((status) => statuses.includes(status))
    const marks = known.map(() => '?').join(', ')
    const query = `SELECT * FROM tasks WHERE owner = ? AND status IN (${marks}) ORDER BY seq DESC LIMIT ?`
    return rows<TaskRow>(this.#sql, query, owner, ...known, limit)
  }
}
