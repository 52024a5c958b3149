// Two views of the tasks reach the page, the list and the stream, in no order that can be relied on. A task only moves
// forward, so of two reports about one task the one further along is the later.

import { useEffect, useState } from 'preact/hooks'
import { listTasks, messageOf } from '../api.ts'
import type { TaskInfo, TaskState } from '../wire.ts'
import { TaskStream } from './task-stream.ts'

const RANK: Record<TaskState, number> = {
  pending: 0,
  processing: 1,
  cancel_requested: 2,
  completed: 3,
  failed: 3,
  cancelled: 3,
}

export const isFinished = (status: TaskState): boolean => RANK[status] === 3

type Tasks = ReadonlyMap<string, TaskInfo>

function mergeTasks(known: Tasks, reported: TaskInfo[]): Tasks {
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

export type LiveTasks = { tasks: Tasks; loaded: boolean; live: boolean; problem: string | null }

/** Every task of this user, kept current for as long as the component is shown. */
export function useTasks(): LiveTasks {
  const [state, setState] = useState<LiveTasks>({ tasks: new Map(), loaded: false, live: true, problem: null })
  useEffect(() => {
    let shown = true
    const update = (change: (before: LiveTasks) => Partial<LiveTasks>) => {
      if (shown) setState((before) => ({ ...before, ...change(before) }))
    }
    const readList = async () => {
      try {
        const { tasks } = await listTasks()
        update((before) => ({ tasks: mergeTasks(before.tasks, tasks), loaded: true, problem: null }))
      } catch (error) {
        update(() => ({ problem: messageOf(error) }))
      }
    }
    const stream = new TaskStream({
      task: (task) => update((before) => ({ tasks: mergeTasks(before.tasks, [task]) })),
      connected: () => {
        update(() => ({ live: true }))
        void readList()
      },
      disconnected: () => update(() => ({ live: false })),
      refused: () => void readList(),
    })
    void readList()
    return () => {
      shown = false
      stream.close()
    }
  }, [])
  return state
}
