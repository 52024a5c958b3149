import { expect, onTestFinished, test, vi } from 'vitest'
import { Notices } from '../../../durable-objects/task-queue/notices.ts'
import type { Outcome, TaskRequest } from '../../../src/analysis/task.ts'
import { must } from '../../../src/lib/assert.ts'
import type { Notice } from '../../../src/notify/delivery.ts'
import { type Bench, taskRequest, withQueue } from './queue.ts'

const T0 = 1_000_000

function submit({ tasks, dispatch }: Bench, requests: TaskRequest[]): string[] {
  const answer = tasks.submit('ann', requests, T0)
  if (!answer.ok) throw new Error(answer.reason)
  dispatch.fill(T0)
  return answer.results.map((result) => (result.accepted ? result.task.id : result.taskId))
}

function end({ dispatch, orders }: Bench, taskId: string, outcome: Outcome): void {
  const { token } = must(
    orders.find((order) => order.taskId === taskId),
    taskId,
  )
  dispatch.finish({ taskId, token, outcome }, T0 + 1)
  // A second word of the same end tells nothing new.
  dispatch.finish({ taskId, token, outcome }, T0 + 2)
}

const noted = ({ storage }: Bench): Notice[] =>
  storage.sql
    .exec<{ body: string }>('SELECT body FROM notices ORDER BY seq')
    .toArray()
    .map(({ body }) => JSON.parse(body) as Notice)

const down = async (): Promise<never> => {
  throw new Error('down')
}

/** Planned times are compared with the moment of planning. */
function stopDate(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

function planner() {
  const plans: (number | null)[] = []
  return { plans, planAt: (at: number | null) => void plans.push(at) }
}

test('a report that is complete is noted once with the end of its task; one that nobody wants told, or that failed, is not', async () => {
  await withQueue(
    (bench) => {
      const quiet = taskRequest({ stockCode: 'QUIET', notify: false })
      const chosen = taskRequest({ stockCode: 'B', channels: ['phone'] })
      const [a, b, c, d] = submit(bench, [
        taskRequest({ stockCode: 'A' }),
        chosen,
        quiet,
        taskRequest({ stockCode: 'D' }),
      ])
      end(bench, must(a, 'a'), { ok: true, stockName: null })
      end(bench, must(b, 'b'), { ok: true, stockName: null })
      end(bench, must(c, 'c'), { ok: true, stockName: null })
      end(bench, must(d, 'd'), { ok: false, error: 'no data' })
      expect(noted(bench)).toEqual([
        { kind: 'report', key: `report:${a}`, owner: 'ann', channels: null, taskId: a, isInBatch: false },
        { kind: 'report', key: `report:${b}`, owner: 'ann', channels: ['phone'], taskId: b, isInBatch: false },
      ])
    },
    { maxRunning: 4, maxPerOwner: 4 },
  )
})

test('the digest of a batch is noted with its last task, however that ends, and names every one', async () => {
  await withQueue(
    (bench) => {
      const batch = (stockCode: string) => taskRequest({ stockCode, batch: 'batch-1' })
      const ids = submit(bench, ['A', 'B', 'C'].map(batch))
      const [a = '', b = '', c = ''] = ids
      end(bench, a, { ok: true, stockName: 'Ay' })
      end(bench, b, { ok: false, error: 'no data' })
      expect(noted(bench).map(({ key }) => key)).toEqual([`report:${a}`])
      bench.dispatch.cancel('ann', c, T0 + 3)
      end(bench, c, { ok: false, cancelled: true })
      expect(noted(bench).map(({ key }) => key)).toEqual([`report:${a}`, 'digest:batch-1'])
      expect(noted(bench)[1]).toMatchObject({
        items: [
          { taskId: a, isCompleted: true, error: null },
          { taskId: b, isCompleted: false, error: 'no data' },
          { taskId: c, isCompleted: false },
        ],
      })
    },
    { maxRunning: 3, maxPerOwner: 3 },
  )
})

test('a notice stays until it was taken over: a call that fails or is lost is made again, later each time', async () => {
  stopDate()
  await withQueue(async ({ storage }) => {
    const notices = new Notices(storage.sql)
    const notice: Notice = { kind: 'report', key: 'k', owner: 'ann', channels: null, taskId: 't', isInBatch: false }
    notices.put(notice)
    notices.put({ ...notice, owner: 'somebody else' })
    const { plans, planAt } = planner()
    await expect(notices.pass(down, planAt)).rejects.toThrow('down')
    await expect(notices.pass(down, planAt)).rejects.toThrow('down')
    const [watchdog, first, , second] = plans.map((at) => Math.round(((at ?? 0) - Date.now()) / 1000))
    expect([watchdog, first, second]).toEqual([20, 2, 4])
    // Another object over the same rows: the one before was cut off.
    const again = new Notices(storage.sql)
    expect(again.dueAt).toBe(Date.now())
    const told: Notice[][] = []
    const tell = async (given: Notice[]) => {
      told.push(given)
      again.poke()
      return { keys: given.map(({ key }) => key), nextAt: null }
    }
    await again.pass(tell, planAt)
    expect(told).toEqual([[notice]])
    // What was asked for in the meantime is seen to at once.
    expect(must(plans.at(-1), 'a plan')).toBeLessThanOrEqual(Date.now())
    await again.pass(async () => ({ keys: [], nextAt: 77 }), planAt)
    expect(plans.at(-1)).toBe(77)
  })
})

test('a call without any notice that fails is made again soon, and one that never comes back holds nothing for ever', async () => {
  stopDate()
  await withQueue(async ({ storage }) => {
    const notices = new Notices(storage.sql)
    const { plans, planAt } = planner()
    await expect(notices.pass(down, planAt)).rejects.toThrow('down')
    await expect(notices.pass(down, planAt)).rejects.toThrow('down')
    const waits = plans.map((at) => Math.round(((at ?? 0) - Date.now()) / 1000))
    expect(waits).toEqual([20, 2, 20, 4])
    let comeBack = (_told: { keys: string[]; nextAt: number | null }): void => {}
    const lost = notices.pass(() => new Promise((resolve) => (comeBack = resolve)), planAt)
    const calls: string[] = []
    const next = async () => {
      calls.push('next')
      return { keys: [], nextAt: 77 }
    }
    await notices.pass(next, planAt)
    expect(calls).toEqual([])
    vi.setSystemTime(Date.now() + 200_000)
    await notices.pass(next, planAt)
    expect([calls, plans.at(-1)]).toEqual([['next'], 77])
    comeBack({ keys: [], nextAt: 1 })
    await lost
    expect(plans.at(-1)).toBe(77)
  })
})

test('what is new does not wait for a call that hangs: another one begins, at most four at a time', async () => {
  stopDate()
  await withQueue(async ({ storage }) => {
    const notices = new Notices(storage.sql)
    const { plans, planAt } = planner()
    const notice = (key: string): Notice => ({
      kind: 'text',
      key,
      owner: 'ann',
      channels: null,
      title: '',
      markdown: '',
    })
    const given: string[][] = []
    const hanging: (() => void)[] = []
    const hang = (told: Notice[]) => {
      given.push(told.map(({ key }) => key))
      return new Promise<{ keys: string[]; nextAt: null }>((resolve) =>
        hanging.push(() => resolve({ keys: told.map(({ key }) => key), nextAt: null })),
      )
    }
    const calls: Promise<void>[] = []
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      notices.put(notice(key))
      calls.push(notices.pass(hang, planAt))
      // A moment after it began, the next one is too early, and is planned for when the first has had its time.
      vi.setSystemTime(Date.now() + 1_000)
      notices.poke()
      await notices.pass(hang, planAt)
      if (calls.length < 4) expect(plans.at(-1)).toBe(Date.now() + 4_000)
      vi.setSystemTime(Date.now() + 4_000)
    }
    expect(given).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']])
    expect(notices.dueAt).toBeNull()
    hanging[0]?.()
    await calls[0]
    // There is room for what is new, at once.
    expect([notices.dueAt, plans.at(-1)]).toEqual([Date.now(), Date.now()])
    for (const release of hanging) release()
    await Promise.all(calls)
    await notices.pass(async (told) => ({ keys: told.map(({ key }) => key), nextAt: 99 }), planAt)
    expect(plans.at(-1)).toBe(99)
  })
})

test('a clock that is set back keeps nothing waiting', async () => {
  stopDate()
  await withQueue(async (bench) => {
    const notices = new Notices(bench.storage.sql)
    const { planAt } = planner()
    vi.setSystemTime(Date.now() + 3_600_000)
    void notices.pass(() => new Promise(() => {}), planAt)
    vi.setSystemTime(Date.now() - 3_600_000)
    notices.put({ kind: 'text', key: 'k', owner: 'ann', channels: null, title: '', markdown: '' })
    expect(notices.dueAt).toBe(Date.now())
    await notices.pass(async () => ({ keys: ['k'], nextAt: null }), planAt)
    expect(noted(bench)).toEqual([])
  })
})

test('what cannot be passed on holds nothing up: all others go before it is tried again', async () => {
  stopDate()
  await withQueue(async ({ storage }) => {
    const notices = new Notices(storage.sql)
    const { planAt } = planner()
    const put = (key: string) =>
      notices.put({ kind: 'text', key, owner: 'ann', channels: null, title: '', markdown: '' })
    for (let n = 0; n < 25; n++) put(`bad ${n}`)
    put('good')
    const told: string[] = []
    const tell = async (given: Notice[]) => {
      told.push(...given.map(({ key }) => key))
      return { keys: given.map(({ key }) => key).filter((key) => key === 'good'), nextAt: null }
    }
    await notices.pass(tell, planAt)
    await notices.pass(tell, planAt)
    expect(told.slice(20)).toEqual(['bad 20', 'bad 21', 'bad 22', 'bad 23', 'bad 24', 'good'])
    await notices.pass(tell, planAt)
    expect(told.slice(26)).toEqual(told.slice(0, 20))
  })
})
