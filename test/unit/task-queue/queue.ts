import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Dispatch, type Limits } from '../../../durable-objects/task-queue/dispatch.ts'
import { FlowEvents } from '../../../durable-objects/task-queue/flow-events.ts'
import { Leases } from '../../../durable-objects/task-queue/leases.ts'
import type { TaskEvent } from '../../../durable-objects/task-queue/subscribers.ts'
import { Tasks } from '../../../durable-objects/task-queue/tasks.ts'
import type { RunOrder, Task, TaskRequest } from '../../../src/analysis/task.ts'

export function taskRequest(change: Partial<TaskRequest> = {}): TaskRequest {
  const stockCode = change.stockCode ?? '600519'
  return {
    kind: 'analysis',
    key: stockCode,
    stockCode,
    stockName: null,
    reportType: 'detailed',
    analysisPhase: 'auto',
    language: 'en',
    reportLanguage: null,
    skills: null,
    originalQuery: null,
    selectionSource: null,
    forceRefresh: false,
    notify: true,
    region: null,
    ...change,
  }
}

export type Published = { event: TaskEvent; task: Task; flowEvent: string | undefined }

export type Bench = {
  tasks: Tasks
  leases: Leases
  flowEvents: FlowEvents
  dispatch: Dispatch
  /** Every order that was handed out, oldest first. */
  orders: RunOrder[]
  published: Published[]
  storage: DurableObjectStorage
}

const LIMITS: Limits = { maxRunning: 2, maxAttempts: 3, taskTimeoutMs: 60_000 }

/** The queue's stores over the SQLite of a fresh object, with runners that do nothing until the test says what they did. */
export async function withQueue(body: (bench: Bench) => void | Promise<void>, limits = LIMITS): Promise<void> {
  const stub = env.TASK_QUEUE.get(env.TASK_QUEUE.newUniqueId())
  await runInDurableObject(stub, async (_, { storage }) => {
    const orders: RunOrder[] = []
    const published: Published[] = []
    const tasks = new Tasks(storage)
    const leases = new Leases(storage.sql)
    const flowEvents = new FlowEvents(storage.sql)
    const dispatch = new Dispatch({
      tasks,
      leases,
      flowEvents,
      limits,
      queueId: 'q',
      publish: (event, task, flowEvent) => published.push({ event, task, flowEvent }),
      handOut: (order) => orders.push(order),
    })
    await body({ tasks, leases, flowEvents, dispatch, orders, published, storage })
  })
}
