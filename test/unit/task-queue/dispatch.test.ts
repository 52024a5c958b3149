import { expect, test } from 'vitest'
import { DAY_MS } from '../../../durable-objects/task-queue/allowance.ts'
import { LEASE_MS } from '../../../durable-objects/task-queue/leases.ts'
import { pruneTasks } from '../../../durable-objects/task-queue/retention.ts'
import type { RunOrder } from '../../../src/analysis/task.ts'
import { must } from '../../../src/lib/assert.ts'
import { type Bench, taskRequest, withQueue } from './queue.ts'

const T0 = 1_000_000

function submit({ tasks, dispatch }: Bench, ...codes: string[]): string[] {
  const answer = tasks.submit(
    'ann',
    codes.map((stockCode) => taskRequest({ stockCode })),
    T0,
  )
  if (!answer.ok) throw new Error(answer.reason)
  dispatch.fill(T0)
  return answer.results.map((result) => (result.accepted ? result.task.id : result.taskId))
}

const reportOf = ({ taskId, token }: RunOrder, progress: number, message = `at ${progress}`) => ({
  taskId,
  token,
  progress,
  message,
  stage: `stage ${progress}`,
  stockName: null,
  flowEvents: [] as string[],
})

test('tasks go out oldest first up to the limit, and the next as soon as a place is free', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, published } = bench
    const [first, second, third] = submit(bench, 'A', 'B', 'C')
    expect(orders.map(({ taskId, attempt }) => [taskId, attempt])).toEqual([
      [first, 1],
      [second, 1],
    ])
    expect(tasks.find(must(third, 'third'))).toMatchObject({ status: 'pending', progress: 0, startedAt: null })
    const order = must(orders[1], 'order')
    expect(dispatch.report(reportOf(order, 46), T0 + 1)).toEqual({ ok: true })
    const done = { taskId: order.taskId, token: order.token, outcome: { ok: true, stockName: 'Bee' } as const }
    expect(dispatch.finish(done, T0 + 2)).toEqual({ ok: true, status: 'completed' })
    expect(tasks.find(order.taskId)).toMatchObject({ status: 'completed', progress: 100, stockName: 'Bee' })
    expect(orders.at(-1)?.taskId).toBe(third)
    expect(dispatch.finish(done, T0 + 3)).toEqual({ ok: true, status: 'completed' })
    expect(published.map(({ event, task }) => `${event} ${task.request.stockCode}`)).toEqual([
      'task_started A',
      'task_started B',
      'task_progress B',
      'task_completed B',
      'task_started C',
    ])
  })
})

test('progress never falls, stays below 100 while the task is open, and is told only when something changed', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, published, tasks, flowEvents } = bench
    submit(bench, 'A')
    const order = must(orders[0], 'order')
    const seen = published.length
    dispatch.report(reportOf(order, 40, 'm'), T0)
    dispatch.report(reportOf(order, 40, 'm'), T0)
    dispatch.report(reportOf(order, 12, 'm'), T0)
    expect(published.length).toBe(seen + 1)
    dispatch.report({ ...reportOf(order, 40, 'm'), flowEvents: ['{"id":"1"}', '{"id":"2"}'] }, T0)
    expect(published.slice(seen + 1).map(({ flowEvent }) => flowEvent)).toEqual(['{"id":"1"}', '{"id":"2"}'])
    expect(flowEvents.of(order.taskId)).toEqual(['{"id":"1"}', '{"id":"2"}'])
    dispatch.report(reportOf(order, 1000, 'm'), T0)
    expect(tasks.find(order.taskId)?.progress).toBe(99)
  })
})

test('a lost run goes out again with its progress kept, and its old runner has lost the right to report', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, published, tasks } = bench
    submit(bench, 'A')
    const first = must(orders[0], 'first')
    dispatch.report(reportOf(first, 46), T0)
    expect(dispatch.nextWakeAt()).toBe(T0 + LEASE_MS)
    const lapsed = T0 + LEASE_MS
    dispatch.sweep(lapsed - 1)
    expect(orders.length).toBe(1)
    dispatch.sweep(lapsed)
    const again = must(dispatch.nextWakeAt(), 'wake')
    expect(again).toBeGreaterThan(lapsed)
    dispatch.sweep(again)
    const second = must(orders[1], 'second')
    expect(second).toMatchObject({ taskId: first.taskId, attempt: 2 })
    expect(second.token).not.toBe(first.token)
    expect(tasks.find(first.taskId)).toMatchObject({ status: 'processing', progress: 46, startedAt: T0 })
    expect(tasks.find(first.taskId)?.message).toContain('attempt 2')
    expect(published.filter(({ event }) => event === 'task_started').length).toBe(1)

    expect(dispatch.report(reportOf(first, 58), again)).toEqual({ ok: false, reason: 'lease_lost' })
    const failure = { taskId: first.taskId, token: first.token, outcome: { ok: false, error: 'x' } as const }
    expect(dispatch.finish(failure, again)).toEqual({ ok: false, reason: 'lease_lost' })
    // Its result is as good as any other, though: the report is stored already.
    const result = { taskId: first.taskId, token: first.token, outcome: { ok: true, stockName: null } as const }
    expect(dispatch.finish(result, again)).toEqual({ ok: true, status: 'completed' })
    expect(dispatch.finish({ ...result, token: second.token }, again)).toEqual({ ok: true, status: 'completed' })
    expect(published.filter(({ event }) => event === 'task_completed').length).toBe(1)
  })
})

test('runs that get no further than those before them are given up; one that gets further is not', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, published } = bench
    submit(bench, 'A')
    let now = T0
    const loseRun = () => {
      now = must(dispatch.nextWakeAt(), 'lease')
      dispatch.sweep(now)
      const next = dispatch.nextWakeAt()
      if (next !== null) {
        now = next
        dispatch.sweep(now)
      }
    }
    for (const progress of [12, 16, 32, 46, 58]) {
      dispatch.report(reportOf(must(orders.at(-1), 'order'), progress), now)
      loseRun()
    }
    expect(orders.length).toBe(6)
    dispatch.report(reportOf(must(orders.at(-1), 'order'), 58), now)
    loseRun()
    loseRun()
    expect(orders.length).toBe(8)
    expect(tasks.find(must(orders[0], 'order').taskId)?.status).toBe('processing')
    loseRun()
    expect(orders.length).toBe(8)
    const task = must(tasks.find(must(orders[0], 'order').taskId), 'task')
    expect(task).toMatchObject({ status: 'failed', progress: 58 })
    expect(task.error).toMatch(/interrupted 3 times/)
    expect(published.at(-1)?.event).toBe('task_failed')
    expect(dispatch.nextWakeAt()).toBeNull()
  })
})

test('a run that reports for ever is stopped at its deadline, naming the stage', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks } = bench
    submit(bench, 'A', 'B', 'C')
    let now = T0
    for (; now < T0 + 70_000; now += 5_000) {
      for (const order of orders.slice(0, 2)) dispatch.report(reportOf(order, 58), now)
      dispatch.sweep(now)
    }
    const stuck = must(tasks.find(must(orders[0], 'order').taskId), 'task')
    expect(stuck.status).toBe('failed')
    expect(stuck.error).toMatch(/60 s .* "stage 58"/)
    expect(orders.map(({ request }) => request.stockCode)).toEqual(['A', 'B', 'C'])
  })
})

test('a call to a runner that ends without a word counts as a lost run at once', async () => {
  await withQueue((bench) => {
    const { dispatch, orders } = bench
    submit(bench, 'A')
    const first = must(orders[0], 'order')
    dispatch.runEnded(first, T0 + 5)
    const again = must(dispatch.nextWakeAt(), 'wake')
    expect(again - T0).toBeLessThan(5_000)
    dispatch.sweep(again)
    expect(orders.length).toBe(2)
    // The first call's end, told twice, takes nothing from the second.
    dispatch.runEnded(first, again)
    expect(dispatch.report(reportOf(must(orders[1], 'order'), 12), again)).toEqual({ ok: true })
  })
})

test('an owner with too much open gets none of a batch, and others are not touched by it', async () => {
  await withQueue(({ tasks }) => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => taskRequest({ key: null, stockCode: `X${i}` }))
    expect(tasks.submit('ann', many(990), T0).ok).toBe(true)
    expect(tasks.submit('ann', many(50), T0)).toEqual({
      ok: false,
      reason: 'full',
      limit: 'open_analyses',
      used: 990,
      allowed: 1_000,
      retryAfterMs: 30_000,
    })
    expect(tasks.list('ann', { statuses: null, limit: 1, filterFirst: false }).total).toBe(990)
    expect(tasks.submit('ann', many(10), T0).ok).toBe(true)
    expect(tasks.submit('bob', many(1), T0).ok).toBe(true)
  })
})

test('finished tasks are kept for seven days and up to a thousand an owner; open ones stay whatever their age', async () => {
  await withQueue((bench) => {
    const { tasks, dispatch, orders, storage, flowEvents } = bench
    const day = 24 * 3600 * 1000
    const finishAll = (now: number) => {
      for (let order = orders.shift(); order; order = orders.shift()) {
        dispatch.report({ ...reportOf(order, 20), flowEvents: ['{}'] }, now)
        dispatch.finish({ taskId: order.taskId, token: order.token, outcome: { ok: true, stockName: null } }, now)
      }
    }
    const [old] = submit(bench, 'OLD')
    finishAll(T0)
    const requests = Array.from({ length: 1000 }, (_, i) => taskRequest({ stockCode: `X${i}` }))
    tasks.submit('ann', requests, T0 + day)
    dispatch.fill(T0 + day)
    finishAll(T0 + day)
    const [open] = submit(bench, 'OPEN')
    expect(pruneTasks(storage, T0 + 2 * day)).toBe(1)
    expect(tasks.find(must(old, 'old'))).toBeNull()
    expect(flowEvents.of(must(old, 'old'))).toEqual([])
    expect(tasks.list('ann', { statuses: null, limit: 1, filterFirst: false }).total).toBe(1001)
    expect(pruneTasks(storage, T0 + 8 * day)).toBe(1000)
    expect(tasks.find(must(open, 'open'))?.status).toBe('processing')
  })
})

test('a day has so many analyses, whoever waits for them, and each is counted once; the next day begins anew', async () => {
  await withQueue(
    ({ tasks, allowance }) => {
      const many = (n: number) => Array.from({ length: n }, (_, i) => taskRequest({ key: null, stockCode: `X${i}` }))
      const day = Math.floor(T0 / DAY_MS) * DAY_MS
      const direct = (id: string, now: number) => allowance.beginDirect('ann', { id, until: now + 60_000 }, now)
      expect(tasks.submit('ann', many(3), day).ok).toBe(true)
      expect([direct('a', day), direct('a', day)]).toEqual([null, null])
      expect([allowance.todayOf('ann', day), allowance.openOf('ann', day)]).toEqual([4, 4])
      const full = { limit: 'analyses_per_day', used: 4, allowed: 5, retryAfterMs: DAY_MS - 1_000 }
      expect(tasks.submit('ann', many(2), day + 1_000)).toMatchObject(full)
      expect(tasks.list('ann', { statuses: null, limit: 1, filterFirst: false }).total).toBe(3)
      allowance.endDirect('a')
      expect(allowance.openOf('ann', day)).toBe(3)
      expect([direct('b', day), direct('c', day)]).toMatchObject([null, { ...full, used: 5, retryAfterMs: DAY_MS }])
      // Nobody said that it was over.
      expect([allowance.openOf('ann', day), allowance.openOf('ann', day + 60_000)]).toEqual([4, 3])
      expect(tasks.submit('bob', many(5), day).ok).toBe(true)
      expect(tasks.submit('ann', many(5), day + DAY_MS).ok).toBe(true)
    },
    { perDay: 5 },
  )
})
