import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LOCK_MS } from '../../../durable-objects/task-queue/locks.ts'
import type { RunOrder, TaskPriority } from '../../../src/analysis/task.ts'
import { must } from '../../../src/lib/assert.ts'
import { type Bench, taskRequest, withQueue } from './queue.ts'

const T0 = 1_000_000

let count = 0
function add({ tasks }: Bench, owner: string, priority: TaskPriority, n = 1, now = T0): void {
  const requests = Array.from({ length: n }, () => {
    count += 1
    return taskRequest({ key: null, stockCode: `${owner}-${priority}-${count}`, priority })
  })
  if (!tasks.submit(owner, requests, now).ok) throw new Error('full')
}

const done = ({ taskId, token }: RunOrder) => ({ taskId, token, outcome: { ok: true, stockName: null } as const })
const kindOf = ({ owner, request }: RunOrder) => `${owner} ${request.priority}`

/** Ends every run as soon as it begins, until nothing waits; the order of the hand-outs is the answer. */
function drained({ dispatch, orders }: Bench): string[] {
  dispatch.fill(T0)
  for (let i = 0; i < orders.length; i++) dispatch.finish(done(must(orders[i], 'order')), T0)
  return orders.map(kindOf)
}

test('interactive work goes before batches and these before what is scheduled, but every eighth place goes to the longest wait', async () => {
  await withQueue(
    (bench) => {
      add(bench, 'ann', 'scheduled', 2, T0 - 30)
      add(bench, 'ann', 'batch', 3, T0 - 20)
      add(bench, 'ann', 'interactive', 12, T0 - 10)
      const order = drained(bench).map((kind) => kind.slice(4))
      expect(order.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => 'interactive'))
      expect(order[7]).toBe('scheduled')
      expect(order.slice(8, 13)).toEqual(Array.from({ length: 5 }, () => 'interactive'))
      expect(order.slice(13)).toEqual(['batch', 'batch', 'scheduled', 'batch'])
    },
    { maxRunning: 1 },
  )
})

test('an owner with many tasks does not keep the others waiting: places go round', async () => {
  await withQueue(
    (bench) => {
      add(bench, 'ann', 'batch', 50)
      add(bench, 'bob', 'batch', 2)
      add(bench, 'eve', 'batch', 2)
      const order = drained(bench).map((kind) => kind.slice(0, 3))
      expect(order.slice(0, 6).toSorted()).toEqual(['ann', 'ann', 'bob', 'bob', 'eve', 'eve'])
      expect(order.length).toBe(54)
    },
    { maxRunning: 2 },
  )
})

test('no owner holds more places than an owner may, and what waits for that wakes nobody', async () => {
  await withQueue(
    (bench) => {
      const { dispatch, orders, leases } = bench
      add(bench, 'ann', 'interactive', 5)
      dispatch.fill(T0)
      expect(orders.map(kindOf)).toEqual(['ann interactive', 'ann interactive'])
      // The next moment at which time changes something is the end of a lease, not the tasks that wait already.
      expect(dispatch.nextWakeAt()).toBeGreaterThan(T0)
      add(bench, 'bob', 'scheduled', 5)
      expect(dispatch.nextWakeAt()).toBe(T0)
      dispatch.fill(T0)
      expect(orders.slice(2).map(kindOf)).toEqual(['bob scheduled', 'bob scheduled'])
      expect(leases.count).toBe(4)
      dispatch.finish(done(must(orders[0], 'order')), T0)
      expect(kindOf(must(orders[4], 'order'))).toBe('ann interactive')
    },
    { maxRunning: 8, maxPerOwner: 2 },
  )
})

test('whoever submits what, everything is handed out in the end, nobody beyond their share, and one owner’s equal tasks in order', async () => {
  const arrival = fc.record({
    owner: fc.constantFrom('ann', 'bob', 'eve', '甲'),
    priority: fc.constantFrom('interactive' as const, 'batch' as const, 'scheduled' as const),
    n: fc.integer({ min: 1, max: 5 }),
    finishes: fc.nat(4),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(arrival, { maxLength: 12 }), async (arrivals) => {
      await withQueue(
        (bench) => {
          const { dispatch, orders, leases } = bench
          const running: RunOrder[] = []
          let seen = 0
          const take = () => {
            running.push(...orders.slice(seen))
            seen = orders.length
            for (const owner of new Set(running.map((order) => order.owner))) {
              expect(running.filter((order) => order.owner === owner).length).toBeLessThanOrEqual(2)
            }
            expect(leases.count).toBe(running.length)
          }
          const finishOne = () => {
            dispatch.finish(done(must(running.shift(), 'a run')), T0)
            take()
          }
          for (const { owner, priority, n, finishes } of arrivals) {
            add(bench, owner, priority, n)
            dispatch.fill(T0)
            take()
            for (let i = 0; i < finishes && running.length > 0; i++) finishOne()
          }
          while (running.length > 0) finishOne()
          expect(orders.length).toBe(arrivals.reduce((sum, { n }) => sum + n, 0))
          for (const kind of new Set(orders.map(kindOf))) {
            const codes = orders.filter((order) => kindOf(order) === kind).map(({ request }) => request.stockCode)
            const numbers = codes.map((code) => Number(code.split('-').at(-1)))
            expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
          }
        },
        { maxRunning: 3, maxPerOwner: 2 },
      )
    }),
    { numRuns: 40 },
  )
})

test('a submission under a key is one submission: the second time it gets the first one’s tasks, whatever became of them', async () => {
  await withQueue(({ intake, dispatch, orders, tasks }) => {
    const requests = ['A', 'B'].map((stockCode) => taskRequest({ stockCode }))
    tasks.submit('ann', [taskRequest({ stockCode: 'B' })], T0)
    const first = intake.submit({ owner: 'ann', requests, key: 'slot' }, T0)
    expect(first.created.length).toBe(1)
    dispatch.fill(T0)
    for (const order of [...orders]) dispatch.finish(done(order), T0)
    const again = intake.submit({ owner: 'ann', requests, key: 'slot' }, T0 + 5)
    expect(again.created).toEqual([])
    const ids = ({ answer }: typeof first) => answer.ok && answer.results.map(({ taskId }) => taskId)
    expect(ids(again)).toEqual(ids(first))
    expect(intake.submit({ owner: 'bob', requests, key: 'slot' }, T0).created.length).toBe(2)
    expect(intake.submit({ owner: 'ann', requests, key: 'next' }, T0).created.length).toBe(2)
  })
})

test('the lock of a review goes with its task’s end however it ends, is kept while it waits or runs, and runs out when nobody renews it', async () => {
  await withQueue(
    ({ intake, dispatch, orders, locks, tasks }) => {
      const request = taskRequest({ kind: 'market_review', key: null, stockCode: 'market_review', region: 'cn' })
      const review = (owner: string, now: number) => intake.submitReview({ owner, request, key: null }, now).answer
      tasks.submit('eve', [taskRequest({ stockCode: 'A' })], T0)
      dispatch.fill(T0)
      const first = review('ann', T0)
      if (!first.ok) throw new Error(first.reason)
      const id = first.taskId
      expect(review('bob', T0 + 10 * LOCK_MS)).toEqual({
        ok: false,
        reason: 'locked',
        taskId: null,
        retryAfterMs: 30_000,
      })
      expect(review('ann', T0 + 10 * LOCK_MS)).toEqual({
        ok: false,
        reason: 'locked',
        taskId: id,
        retryAfterMs: 30_000,
      })
      dispatch.finish(done(must(orders[0], 'order')), T0)
      const order = must(orders[1], 'order')
      const half = T0 + LOCK_MS / 2
      const report = { ...order, progress: 20, message: 'm', stage: 's', stockName: null, flowEvents: [] }
      dispatch.report(report, half)
      expect(locks.holder('market_review', half + LOCK_MS - 1)).toBe(id)
      expect(locks.holder('market_review', half + LOCK_MS)).toBeNull()
      dispatch.cancel('ann', id, half)
      dispatch.finish({ taskId: id, token: order.token, outcome: { ok: false, cancelled: true } }, half)
      expect(locks.holder('market_review', half)).toBeNull()

      const second = review('bob', half)
      if (!second.ok) throw new Error(second.reason)
      dispatch.fill(half)
      const failed = must(orders[2], 'order')
      dispatch.finish({ taskId: failed.taskId, token: failed.token, outcome: { ok: false, error: 'x' } }, half)
      expect(review('ann', half).ok).toBe(true)
    },
    { maxRunning: 1 },
  )
})

test('owners take turns with the review: who had it lately leaves it to who waits, and nobody waits for those who left', async () => {
  await withQueue(
    ({ intake, dispatch, orders, locks }) => {
      const request = taskRequest({ kind: 'market_review', key: null, stockCode: 'market_review', region: 'cn' })
      const ask = (owner: string, now: number, key: string | null = null) =>
        intake.submitReview({ owner, request, key }, now).answer
      const end = (now: number) => {
        dispatch.fill(now)
        dispatch.finish(done(must(orders.at(-1), 'order')), now)
        expect(locks.holder('market_review', now)).toBeNull()
      }
      const refused = { ok: false, reason: 'locked', taskId: null, retryAfterMs: 30_000 }
      expect(ask('ann', T0).ok).toBe(true)
      expect(ask('bob', T0 + 1_000)).toEqual(refused)
      expect(ask('cid', T0 + 2_000)).toEqual(refused)
      end(T0 + 3_000)
      // Free, but not for her again.
      expect(ask('ann', T0 + 3_001)).toEqual(refused)
      expect(ask('bob', T0 + 31_000).ok).toBe(true)
      expect(ask('bob', T0 + 31_001)).toMatchObject({ taskId: expect.any(String) })
      end(T0 + 32_000)
      // Two who relieve each other do not leave out the third, who came back when told.
      expect(ask('ann', T0 + 32_500)).toEqual(refused)
      expect(ask('bob', T0 + 32_501)).toEqual(refused)
      expect(ask('cid', T0 + 33_001).ok).toBe(true)
      end(T0 + 34_000)
      // Of those who had it, the one whose turn is longest ago; somebody new goes before all of them.
      expect(ask('bob', T0 + 35_000)).toEqual(refused)
      expect(ask('dan', T0 + 35_001).ok).toBe(true)
      end(T0 + 36_000)
      expect(ask('ann', T0 + 37_000).ok).toBe(true)
      end(T0 + 38_000)
      // Bob waits until 80 s after the beginning, and has gone then.
      expect(ask('ann', T0 + 79_999)).toEqual(refused)
      expect(ask('ann', T0 + 80_000).ok).toBe(true)
      // A schedule comes back every five minutes.
      expect(ask('eve', T0 + 81_000, 'slot')).toEqual(refused)
      end(T0 + 82_000)
      expect(ask('ann', T0 + 400_000)).toEqual(refused)
      expect(ask('eve', T0 + 424_000, 'slot').ok).toBe(true)
    },
    { maxRunning: 1 },
  )
})

test('a submission that fails takes no lock', async () => {
  await withQueue(({ intake, tasks, locks }) => {
    const many = Array.from({ length: 1_000 }, (_, i) => taskRequest({ key: null, stockCode: `X${i}` }))
    tasks.submit('ann', many, T0)
    const request = taskRequest({ kind: 'market_review', key: null, stockCode: 'market_review', region: 'cn' })
    const review = { owner: 'ann', request, key: 'slot' }
    expect(intake.submitReview(review, T0).answer).toMatchObject({ reason: 'full', used: 1_000 })
    expect(locks.holder('market_review', T0)).toBeNull()
    expect(intake.submitReview({ ...review, owner: 'bob' }, T0).answer.ok).toBe(true)
  })
})
