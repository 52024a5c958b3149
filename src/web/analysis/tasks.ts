// Two views of the tasks reach the page, the list and the stream, in no order that can be relied on. A task only moves
// forward, so of two reports about one task the one further along is the later.

import type { TaskInfo, TaskState } from '../wire.ts'

const RANK: Record<TaskState, number> = {
  pending: 0,
  processing: 1,
  cancel_requested: 2,
  completed: 3,
  failed: 3,
  cancelled: 3,
}

export const isFinished = (status: TaskState): boolean => RANK[status] === 3

export type Tasks = ReadonlyMap<string, TaskInfo>

export function mergeTasks(known: Tasks, reported: TaskInfo[]): Tasks {
  const merged = new Map(known)
  for (const task of reported) {
    const before = merged.get(task.task_id)
    if (!before || isLater(task, before)) merged.set(task.task_id, task)
  }
  return merged
}

function isLater(task: TaskInfo, before: TaskInfo): boolean {
  const step = RANK[task.status] - RANK[before.status]
  return step > 0 || (step === 0 && task.progress >= before.progress)
}

export const newestFirst = (tasks: Tasks): TaskInfo[] =>
  [...tasks.values()].sort((a, b) => b.created_at.localeCompare(a.created_at))
