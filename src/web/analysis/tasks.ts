// The page gets tasks in two ways, the list and the stream, in no reliable order. A task only moves forward, so of two
// states of one task the more advanced one is the later.

import { useEffect, useState } from 'preact/hooks'
import { listTasks, messageOf } from '../api.ts'
import { noteFinished } from '../frame/attention.ts'
import { Retry } from '../stream.ts'
import { say } from '../texts.ts'
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

/** All tasks of this user, kept up to date while the component is mounted. */
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
      task: (task) => {
        update((before) => ({ tasks: mergeTasks(before.tasks, [task]) }))
        if (isFinished(task.status)) noteFinished(say('An analysis is done'), task.stock_name ?? task.stock_code)
      },
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

// The live updates of all tasks. EventSource reconnects itself after a dropped connection and then sends the id of its
// last event; after an error answer it stops, and this class opens a new one that requests the missing events.

const TASK_EVENTS = ['task_created', 'task_started', 'task_progress', 'task_completed', 'task_failed']
// The service sends a heartbeat every 30 s; after two and a half intervals without one the connection is dead.
const SILENCE_MS = 75_000

type Listener = {
  task: (task: TaskInfo) => void
  /** After every connect. The list must be read again, because tasks that ended in the meantime are in no snapshot. */
  connected: () => void
  disconnected: () => void
  /** After an answer that is not a stream. Only a plain request, such as the list's, gets the reason. */
  refused: () => void
}

class TaskStream {
  readonly #on: Listener
  readonly #retry = new Retry(() => this.#open())
  #source: EventSource | null = null
  #lastEventId = ''
  #silence: ReturnType<typeof setTimeout> | undefined

  constructor(on: Listener) {
    this.#on = on
    this.#open()
  }

  close(): void {
    this.#retry.cancel()
    this.#drop()
  }

  #open(): void {
    const after = this.#lastEventId === '' ? '' : `?after=${encodeURIComponent(this.#lastEventId)}`
    const source = new EventSource(`/api/v1/analysis/tasks/stream${after}`)
    this.#source = source
    source.addEventListener('connected', () => {
      this.#heard()
      this.#retry.succeeded()
      this.#on.connected()
    })
    source.addEventListener('heartbeat', () => this.#heard())
    for (const type of TASK_EVENTS) source.addEventListener(type, (event) => this.#receive(event))
    source.addEventListener('error', () => {
      this.#on.disconnected()
      if (source.readyState !== EventSource.CLOSED) return
      this.#reopen()
      this.#on.refused()
    })
  }

  #receive(event: MessageEvent<string>): void {
    this.#heard()
    if (event.lastEventId !== '') this.#lastEventId = event.lastEventId
    this.#on.task(JSON.parse(event.data) as TaskInfo)
  }

  #heard(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      this.#on.disconnected()
      this.#reopen()
    }, SILENCE_MS)
  }

  #reopen(): void {
    this.#drop()
    this.#retry.schedule()
  }

  #drop(): void {
    clearTimeout(this.#silence)
    this.#source?.close()
    this.#source = null
  }
}
