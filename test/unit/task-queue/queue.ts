import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Allowance } from '../../../durable-objects/task-queue/allowance.ts'
import { Dispatch, type Limits } from '../../../durable-objects/task-queue/dispatch.ts'
import { FlowEvents } from '../../../durable-objects/task-queue/flow-events.ts'
import { Intake } from '../../../durable-objects/task-queue/intake.ts'
import { KeyedRequests } from '../../../durable-objects/task-queue/keyed-requests.ts'
import { Leases } from '../../../durable-objects/task-queue/leases.ts'
import { Locks } from '../../../durable-objects/task-queue/locks.ts'
import { Notices } from '../../../durable-objects/task-queue/notices.ts'
import { Submissions } from '../../../durable-objects/task-queue/submissions.ts'
import type { TaskEvent } from '../../../durable-objects/task-queue/subscribers.ts'
import { Tasks } from '../../../durable-objects/task-queue/tasks.ts'
import { UnsavedReports } from '../../../durable-objects/task-queue/unsaved-reports.ts'
import { Waiting } from '../../../durable-objects/task-queue/waiting.ts'
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
    reading: null,
    selectionSource: null,
    forceRefresh: false,
    notify: true,
    region: null,
    priority: 'interactive',
    batch: null,
    channels: null,
    ...change,
  }
}

export type Published = { event: TaskEvent; task: Task; flowEvent: string | undefined }

export type Bench = {
  allowance: Allowance
  tasks: Tasks
  waiting: Waiting
  intake: Intake
  leases: Leases
  locks: Locks
  keptReports: UnsavedReports
  flowEvents: FlowEvents
  dispatch: Dispatch
  /** Every order that was handed out, oldest first. */
  orders: RunOrder[]
  published: Published[]
  storage: DurableObjectStorage
}

const LIMITS = {
  maxRunning: 2,
  maxAttempts: 3,
  taskTimeoutMs: 60_000,
  stageTimeoutMs: 600_000,
  maxPerOwner: 2,
  perDay: 10_000,
}

/** The queue's stores over the SQLite of a fresh object, with runners that do nothing until the test says what they did. */
export async function withQueue(
  body: (bench: Bench) => void | Promise<void>,
  change: Partial<Limits & { maxPerOwner: number; perDay: number }> = {},
): Promise<void> {
  const limits = { ...LIMITS, ...change }
  const stub = env.TASK_QUEUE.get(env.TASK_QUEUE.newUniqueId())
  await runInDurableObject(stub, async (_, { storage }) => {
    const orders: RunOrder[] = []
    const published: Published[] = []
    const allowance = new Allowance(storage.sql, { open: 1_000, perDay: limits.perDay })
    const tasks = new Tasks(storage, allowance)
    const waiting = new Waiting(storage.sql, limits.maxPerOwner)
    const leases = new Leases(storage.sql)
    const locks = new Locks(storage.sql)
    const keptReports = new UnsavedReports(storage.sql)
    const keyedRequests = new KeyedRequests(storage.sql)
    const intake = new Intake({
      ...{ storage, tasks, locks, allowance, keyedRequests },
      submissions: new Submissions(storage.sql),
    })
    const flowEvents = new FlowEvents(storage.sql)
    const dispatch = new Dispatch({
      tasks,
      waiting,
      leases,
      locks,
      keptReports,
      notices: new Notices(storage.sql),
      flowEvents,
      limits,
      queueId: 'q',
      publish: (event, task, flowEvent) => published.push({ event, task, flowEvent }),
      ended: () => {},
      handOut: (order) => orders.push(order),
    })
    await body({
      allowance,
      tasks,
      waiting,
      intake,
      leases,
      locks,
      keptReports,
      flowEvents,
      dispatch,
      orders,
      published,
      storage,
    })
  })
}
