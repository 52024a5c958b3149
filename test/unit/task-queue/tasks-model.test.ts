// The real stores against a model that keeps the same books in a plain array, over random histories.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LEASE_MS } from '../../../durable-objects/task-queue/leases.ts'
import { isOpen, type RunOrder, type TaskState } from '../../../src/analysis/task.ts'
import { type Bench, taskRequest, withQueue } from './queue.ts'

type Entry = { id: string; owner: string; key: string; status: TaskState; progress: number }

const OWNERS = ['ann', 'bob']
const step = fc.oneof(
  fc.record({
    do: fc.constant('submit' as const),
    owner: fc.constantFrom(...OWNERS),
    codes: fc.array(fc.constantFrom('A', 'B', 'C', 'D'), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ do: fc.constant('report' as const), run: fc.nat(30), progress: fc.nat(120) }),
  fc.record({ do: fc.constant('finish' as const), run: fc.nat(30), ok: fc.boolean() }),
  fc.record({ do: fc.constant('cancel' as const), task: fc.nat(30), owner: fc.constantFrom(...OWNERS) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(100, 5_000, LEASE_MS + 1) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Takes one step on both sides; the model learns ids and hand-outs from the real side and predicts the rest. */
function take(bench: Bench, model: Entry[], action: Step, clock: { now: number }): void {
  const { tasks, dispatch, orders } = bench
  const openOf = (owner: string, key: string) =>
    model.find((entry) => entry.owner === owner && entry.key === key && isOpen(entry.status))
  if (action.do === 'submit') {
    const answer = tasks.submit(
      action.owner,
      action.codes.map((stockCode) => taskRequest({ stockCode })),
      clock.now,
    )
    if (!answer.ok) throw new Error('the queue was full')
    answer.results.forEach((result, i) => {
      const key = action.codes[i] ?? ''
      const known = openOf(action.owner, key)
      expect(result.accepted).toBe(known === undefined)
      if (!result.accepted) expect(result.taskId).toBe(known?.id)
      else model.push({ id: result.task.id, owner: action.owner, key, status: 'pending', progress: 0 })
    })
  } else if (action.do === 'wait') clock.now += action.ms
  else if (action.do === 'cancel') cancel(bench, model, { ...action, now: clock.now })
  else {
    const order = orders[action.run % Math.max(1, orders.length)]
    if (order) act(bench, model, { action, order, now: clock.now })
  }
  const handedOut = orders.length
  dispatch.sweep(clock.now)
  expect(bench.leases.count).toBeLessThanOrEqual(2)
  expect(orders.length).toBeGreaterThanOrEqual(handedOut)
}

function cancel(
  { dispatch, leases }: Bench,
  model: Entry[],
  { task, owner, now }: { task: number; owner: string; now: number },
): void {
  const entry = model[task % Math.max(1, model.length)]
  if (!entry) return
  const answer = dispatch.cancel(owner, entry.id, now)
  if (entry.owner !== owner) expect(answer).toEqual({ ok: false, reason: 'unknown_task' })
  else if (!isOpen(entry.status)) expect(answer).toEqual({ ok: false, reason: 'finished', status: entry.status })
  else {
    entry.status = leases.isHeld(entry.id) ? 'cancel_requested' : 'cancelled'
    expect(answer).toMatchObject({ ok: true, task: { status: entry.status } })
  }
}

type Act = { action: Extract<Step, { do: 'report' | 'finish' }>; order: RunOrder; now: number }

function act({ dispatch, leases }: Bench, model: Entry[], { action, order, now }: Act): void {
  const { taskId, token } = order
  const entry = model.find(({ id }) => id === taskId)
  if (!entry) throw new Error('a run of no task')
  const holds = leases.holds(taskId, token)
  if (action.do === 'report') {
    const { progress } = action
    const answer = dispatch.report(
      { taskId, token, progress, message: 'm', stage: 's', stockName: null, flowEvents: [] },
      now,
    )
    const isWanted = entry.status !== 'cancel_requested'
    expect(answer.ok).toBe(holds && isWanted)
    if (holds && isWanted) entry.progress = Math.max(entry.progress, Math.min(99, progress))
    return
  }
  const outcome = action.ok ? { ok: true as const, stockName: null } : { ok: false as const, error: 'no data' }
  const answer = dispatch.finish({ taskId, token, outcome }, now)
  if (!isOpen(entry.status)) expect(answer).toEqual({ ok: true, status: entry.status })
  else if (entry.status === 'cancel_requested' && action.ok) {
    expect(answer).toEqual({ ok: true, status: 'cancel_requested' })
  } else if (entry.status === 'cancel_requested' && holds) entry.status = 'cancelled'
  else if (action.ok || holds) {
    entry.status = action.ok ? 'completed' : 'failed'
    if (action.ok) entry.progress = 100
    expect(answer).toEqual({ ok: true, status: entry.status })
  } else expect(answer).toEqual({ ok: false, reason: 'lease_lost' })
}

function compare({ tasks, published }: Bench, model: Entry[]): void {
  for (const entry of model) {
    const task = tasks.find(entry.id)
    if (!task) throw new Error('a task is gone')
    // What the clock did (handed out, given up) the model takes over; what calls did it has predicted.
    if (entry.status === 'pending' && task.status === 'processing') {
      entry.status = 'processing'
      entry.progress = Math.max(entry.progress, 10)
    }
    if (entry.status === 'processing' && task.status === 'failed') entry.status = 'failed'
    if (entry.status === 'cancel_requested' && task.status === 'cancelled') entry.status = 'cancelled'
    expect([task.status, task.progress]).toEqual([
      entry.status,
      Math.max(entry.progress, task.startedAt === null ? 0 : 10),
    ])
    const ends = published.filter(
      ({ event, task: told }) => told.id === entry.id && (event === 'task_completed' || event === 'task_failed'),
    )
    expect(ends.length).toBe(isOpen(task.status) ? 0 : 1)
  }
  for (const owner of OWNERS) {
    const mine = model.filter((entry) => entry.owner === owner)
    const list = tasks.list(owner, { statuses: null, limit: 100, filterFirst: false })
    const newestFirst = mine.map(({ id }) => id).reverse()
    expect(list.tasks.map(({ id }) => id)).toEqual(newestFirst.slice(0, 100))
    const count = (status: TaskState) => mine.filter((entry) => entry.status === status).length
    expect([list.total, list.pending, list.processing]).toEqual([mine.length, count('pending'), count('processing')])
    const failed = { statuses: ['failed'], limit: 2 }
    const before = tasks.list(owner, { ...failed, filterFirst: true }).tasks.map(({ id }) => id)
    const failedIds = mine.filter(({ status }) => status === 'failed').map(({ id }) => id)
    expect(before).toEqual(failedIds.reverse().slice(0, 2))
    const after = tasks.list(owner, { ...failed, filterFirst: false }).tasks
    expect(after.map(({ id }) => id)).toEqual(newestFirst.slice(0, 2).filter((id) => failedIds.includes(id)))
  }
}

test('over any history the books agree with the model and every task ends at most once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await withQueue((bench) => {
        const model: Entry[] = []
        const clock = { now: 1_000_000 }
        for (const action of steps) {
          take(bench, model, action, clock)
          compare(bench, model)
        }
      })
    }),
    { numRuns: 60 },
  )
})

test('whatever happened before, runners that answer empty the queue', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await withQueue((bench) => {
        const model: Entry[] = []
        const clock = { now: 1_000_000 }
        for (const action of steps) {
          take(bench, model, action, clock)
          compare(bench, model)
        }
        for (let i = 0; i < 500 && bench.dispatch.nextWakeAt() !== null; i++) {
          for (const { taskId, token } of bench.orders) {
            if (bench.leases.holds(taskId, token)) {
              const isWanted = bench.tasks.find(taskId)?.status !== 'cancel_requested'
              const outcome = isWanted
                ? { ok: true as const, stockName: null }
                : { ok: false as const, cancelled: true as const }
              bench.dispatch.finish({ taskId, token, outcome }, clock.now)
            }
          }
          clock.now = Math.max(clock.now, bench.dispatch.nextWakeAt() ?? clock.now)
          bench.dispatch.sweep(clock.now)
        }
        for (const owner of OWNERS) expect(bench.tasks.open(owner)).toEqual([])
      })
    }),
    { numRuns: 30 },
  )
})
