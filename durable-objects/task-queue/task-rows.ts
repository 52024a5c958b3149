import { OPEN_STATES, type Task, TaskRequest, TaskState } from '../../src/analysis/task.ts'
import type { TaskRow } from './schema.ts'

/** The states of unfinished tasks, for an `IN`. */
export const OPEN = `('${OPEN_STATES.join("', '")}')`

export function toTask(row: TaskRow): Task {
  return {
    id: row.id,
    owner: row.owner,
    request: TaskRequest.parse(JSON.parse(row.request)),
    status: TaskState.parse(row.status),
    progress: row.progress,
    message: row.message,
    stockName: row.stock_name,
    error: row.error,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  }
}
