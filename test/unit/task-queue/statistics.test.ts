import { expect, test } from 'vitest'
import { oldestPendingMs, queueStatistics } from '../../../durable-objects/task-queue/statistics.ts'
import { taskRequest, withQueue } from './queue.ts'

const T0 = 1_800_000_000_000
const FIVE_MINUTES_MS = 300_000

test('the queue counts what waits, runs and ended lately, of all and of who asks', async () => {
  await withQueue(
    ({ intake, dispatch, orders, storage: { sql } }) => {
      const nothing = { ownPending: 0, ownRunning: 0, ownOldestPendingMs: null }
      const empty = { pending: 0, running: 0, oldestPendingMs: null, ...nothing, finishedPerMinute: 0 }
      expect([queueStatistics(sql, 'ann', T0), oldestPendingMs(sql, T0)]).toEqual([empty, 0])
      const submit = (owner: string, codes: string[], at: number) => {
        const requests = codes.map((stockCode) => taskRequest({ stockCode }))
        return intake.submit({ owner, requests, key: null, keyed: null }, at)
      }
      submit('ann', ['600519', '000858'], T0)
      submit('bob', ['600519'], T0 + 1_000)
      dispatch.fill(T0 + 2_000)
      const all = { pending: 2, running: 1, oldestPendingMs: 3_000, finishedPerMinute: 0 }
      const at = T0 + 3_000
      expect(queueStatistics(sql, 'ann', at)).toEqual({
        ...{ ...all, ownPending: 1, ownRunning: 1, ownOldestPendingMs: 3_000 },
      })
      expect(queueStatistics(sql, 'bob', at)).toEqual({
        ...{ ...all, ownPending: 1, ownRunning: 0, ownOldestPendingMs: 2_000 },
      })
      expect(queueStatistics(sql, 'eve', at)).toEqual({ ...all, ...nothing })
      // A clock that was set back makes no age that is below nothing.
      expect([oldestPendingMs(sql, at), oldestPendingMs(sql, T0 - 1)]).toEqual([3_000, 0])
      const [first] = orders
      if (first === undefined) throw new Error('no task was handed out')
      const ended = T0 + 4_000
      dispatch.finish({ taskId: first.taskId, token: first.token, outcome: { ok: true, stockName: null } }, ended)
      const perMinute = (now: number) => queueStatistics(sql, 'eve', now).finishedPerMinute
      expect([perMinute(ended), perMinute(ended + FIVE_MINUTES_MS - 1), perMinute(ended + FIVE_MINUTES_MS)]).toEqual([
        ...[0.2, 0.2, 0],
      ])
    },
    { maxRunning: 1 },
  )
})
