import { expect, test } from 'vitest'
import { LEASE_MS } from '../../../durable-objects/task-queue/leases.ts'
import type { RunOrder } from '../../../src/analysis/task.ts'
import { must } from '../../../src/lib/assert.ts'
import { type Bench, taskRequest, withQueue } from './queue.ts'

const T0 = 1_000_000

function submit({ tasks, dispatch }: Bench, ...codes: string[]): string[] {
  const requests = codes.map((stockCode) => taskRequest({ stockCode }))
  const answer = tasks.submit('ann', requests, T0)
  if (!answer.ok) throw new Error(answer.reason)
  dispatch.fill(T0)
  return answer.results.map((result) => (result.accepted ? result.task.id : result.taskId))
}

const progressOf = ({ taskId, token }: RunOrder) => ({
  taskId,
  token,
  progress: 46,
  message: 'm',
  stage: 'news',
  stockName: null,
  flowEvents: [],
})

const finishOf = ({ taskId, token }: RunOrder, outcome: object) =>
  ({ taskId, token, outcome }) as Parameters<Bench['dispatch']['finish']>[0]

test('a waiting task is cancelled at once, a running one when its runner hears of it; neither twice, and none of a stranger’s', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, published } = bench
    const [running = '', , waiting = ''] = submit(bench, 'A', 'B', 'C')
    expect(dispatch.cancel('bob', running, T0)).toEqual({ ok: false, reason: 'unknown_task' })
    expect(dispatch.cancel('ann', 'never', T0)).toEqual({ ok: false, reason: 'unknown_task' })
    expect(dispatch.cancel('ann', waiting, T0)).toMatchObject({ ok: true, task: { status: 'cancelled', progress: 0 } })
    expect(published.at(-1)).toMatchObject({ event: 'task_failed', task: { id: waiting, status: 'cancelled' } })
    expect(dispatch.cancel('ann', waiting, T0)).toEqual({ ok: false, reason: 'finished', status: 'cancelled' })

    expect(dispatch.cancel('ann', running, T0)).toMatchObject({ ok: true, task: { status: 'cancel_requested' } })
    expect(published.at(-1)).toMatchObject({ event: 'task_progress', task: { id: running } })
    const told = published.length
    expect(dispatch.cancel('ann', running, T0)).toMatchObject({ ok: true, task: { status: 'cancel_requested' } })
    expect(published.length).toBe(told)
    // A cancelled stock may be asked for again once it is over, not before.
    expect(tasks.submit('ann', [taskRequest({ stockCode: 'A' })], T0)).toMatchObject({ results: [{ accepted: false }] })
    expect(tasks.submit('ann', [taskRequest({ stockCode: 'C' })], T0)).toMatchObject({ results: [{ accepted: true }] })

    const order = must(orders[0], 'order')
    expect(dispatch.report(progressOf(order), T0 + 1)).toEqual({ ok: false, reason: 'cancel_requested' })
    expect(dispatch.finish(finishOf(order, { ok: false, cancelled: true }), T0 + 2)).toEqual({
      ok: true,
      status: 'cancelled',
    })
    expect(published.filter(({ task }) => task.status === 'cancelled').map(({ event }) => event)).toEqual([
      'task_failed',
      'task_failed',
    ])
    expect(orders.at(-1)?.request.stockCode).toBe('C')
    expect(tasks.list('ann', { statuses: ['cancelled'], limit: 9, filterFirst: true }).tasks.length).toBe(2)
  })
})

test('a result that comes after the cancel is not taken: its runner takes the report back and then ends the task as cancelled', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, published } = bench
    const [id = ''] = submit(bench, 'A')
    const order = must(orders[0], 'order')
    dispatch.cancel('ann', id, T0)
    expect(dispatch.finish(finishOf(order, { ok: true, stockName: null }), T0)).toEqual({
      ok: true,
      status: 'cancel_requested',
    })
    expect(tasks.find(id)?.status).toBe('cancel_requested')
    dispatch.finish(finishOf(order, { ok: false, cancelled: true }), T0)
    expect(tasks.find(id)).toMatchObject({ status: 'cancelled', completedAt: T0 })
    expect(published.some(({ event }) => event === 'task_completed')).toBe(false)
  })
})

test('a runner that dies, fails or hangs while its task is being cancelled ends it as cancelled all the same', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, leases } = bench
    const ids = submit(bench, 'A', 'B')
    for (const id of ids) dispatch.cancel('ann', id, T0)
    const [first, second] = orders
    dispatch.finish(finishOf(must(first, 'first'), { ok: false, error: 'no data' }), T0)
    dispatch.sweep(T0 + LEASE_MS)
    for (const id of ids) expect(tasks.find(id)?.status).toBe('cancelled')
    expect(leases.count).toBe(0)
    expect(orders.length).toBe(2)
    expect(dispatch.finish(finishOf(must(second, 'second'), { ok: true, stockName: null }), T0)).toEqual({
      ok: true,
      status: 'cancelled',
    })
  })
})

test('a lost task that waits to go out again, and one whose report waits for the database, are cancelled at once', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, keptReports } = bench
    const [lost = '', kept = ''] = submit(bench, 'A', 'B')
    dispatch.runEnded(must(orders[0], 'order'), T0)
    expect(dispatch.cancel('ann', lost, T0)).toMatchObject({ task: { status: 'cancelled' } })
    const order = must(
      orders.find(({ taskId }) => taskId === kept),
      'order',
    )
    dispatch.finish(finishOf(order, { ok: true, stockName: 'Bee', unsaved: '{}' }), T0)
    expect(keptReports.has(kept)).toBe(true)
    expect(tasks.find(kept)).toMatchObject({ status: 'processing', progress: 97, stockName: 'Bee' })
    expect(dispatch.cancel('ann', kept, T0)).toMatchObject({ task: { status: 'cancelled' } })
    expect(keptReports.has(kept)).toBe(false)
    expect(dispatch.reportSaved(kept, T0)).toEqual({ isWanted: false })
    dispatch.sweep(T0 + 60_000)
    expect(orders.length).toBe(2)
  })
})

test('a report that had to wait is followed by one more run, which finds it saved and completes the task', async () => {
  await withQueue((bench) => {
    const { dispatch, orders, tasks, published } = bench
    const [id = ''] = submit(bench, 'A')
    dispatch.finish(finishOf(must(orders[0], 'order'), { ok: true, stockName: null, unsaved: '{}' }), T0)
    expect(dispatch.nextWakeAt()).toBeNull()
    expect(dispatch.reportSaved(id, T0 + 5)).toEqual({ isWanted: true })
    expect(orders.map(({ attempt }) => attempt)).toEqual([1, 2])
    dispatch.finish(finishOf(must(orders[1], 'order'), { ok: true, stockName: null }), T0 + 6)
    expect(tasks.find(id)?.status).toBe('completed')
    expect(published.filter(({ event }) => event === 'task_completed').length).toBe(1)
    const [large = ''] = submit(bench, 'B')
    const unsaved = 'x'.repeat(700_000)
    dispatch.finish(finishOf(must(orders[2], 'order'), { ok: true, stockName: null, unsaved }), T0)
    expect(tasks.find(large)).toMatchObject({ status: 'failed', error: expect.stringContaining('could not be saved') })
  })
})

test('a stage that gets no further is stopped by name; one that does has its whole time again', async () => {
  await withQueue(
    (bench) => {
      const { dispatch, orders, tasks } = bench
      const [id = ''] = submit(bench, 'A')
      const order = must(orders[0], 'order')
      const report = (progress: number, now: number) =>
        dispatch.report({ ...progressOf(order), progress, stage: `stage ${progress}` }, now)
      for (let now = T0; now <= T0 + 20_000; now += 5_000) {
        report(20 + (now - T0) / 1000, now)
        dispatch.sweep(now)
      }
      expect(tasks.find(id)?.status).toBe('processing')
      for (let now = T0 + 25_000; now <= T0 + 40_000; now += 5_000) {
        report(40, now)
        dispatch.sweep(now)
      }
      expect(tasks.find(id)).toMatchObject({ status: 'failed', progress: 40 })
      expect(tasks.find(id)?.error).toMatch(/"stage 40" got no further for 8 s/)
    },
    { stageTimeoutMs: 8_000 },
  )
})
