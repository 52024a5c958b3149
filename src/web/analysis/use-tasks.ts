import { useEffect, useState } from 'preact/hooks'
import { listTasks, messageOf } from '../api.ts'
import { TaskStream } from './task-stream.ts'
import { mergeTasks, type Tasks } from './tasks.ts'

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
