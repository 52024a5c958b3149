import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { queueTrouble } from '../../src/routes/queue-health.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function submit(who: Client, ...codes: string[]): Promise<string[]> {
  const response = await who.ask('/api/v1/analysis/analyze', {
    method: 'POST',
    body: { stock_codes: codes, async_mode: true },
  })
  const body = await response.json<{ task_id?: string; accepted?: { task_id: string }[] }>()
  return body.accepted?.map(({ task_id }) => task_id) ?? [body.task_id ?? '']
}

const cancel = (who: Client, id: string) => who.ask(`/api/v1/analysis/tasks/${id}/cancel`, { method: 'POST' })

test('a batch that is cancelled ends as cancelled, tells its stream so, and leaves no report of what was stopped', async () => {
  const ann = await client()
  const ids = await submit(ann, '600519', 'AAPL', 'HK00700', 'MSFT', 'NVDA', '300750', '600000', '000001')
  const answers = await Promise.all(ids.map((id) => cancel(ann, id)))
  // Of the first three one may be finished already; the others wait behind them.
  const stopped = ids.filter((_, i) => answers[i]?.status === 200)
  expect(stopped).toEqual(expect.arrayContaining(ids.slice(3)))
  for (const answer of answers.filter(({ status }) => status === 200)) {
    expect(['cancelled', 'cancel_requested']).toContain((await answer.json<{ status: string }>()).status)
  }
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until((_, all) => all.filter(isEnd).length === ids.length)
  stream.close()
  const ends = stream.frames.filter((frame) => isEnd(frame) && stopped.includes(String(frame.data.task_id)))
  expect(ends.map(({ event, data }) => [event, data.status])).toEqual(stopped.map(() => ['task_failed', 'cancelled']))
  const { tasks } = await ann.json<{ tasks: { status: string; completed_at: string | null }[] }>(
    '/api/v1/analysis/tasks?status=cancelled',
  )
  expect(tasks.length).toBe(stopped.length)
  expect(tasks.every(({ completed_at }) => completed_at !== null)).toBe(true)
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(ids.length - stopped.length)
  for (const id of stopped) {
    const again = await cancel(ann, id)
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({ error: 'task_finished', status: 'cancelled' })
    const flow = await ann.json<{ status: string }>(`/api/v1/analysis/tasks/${id}/flow`)
    expect(flow.status).toBe('cancelled')
  }
})

test('cancelling what is finished, unknown or another owner’s is refused, the last two alike', async () => {
  const [ann, bob] = [await client(), await client()]
  const [id = ''] = await submit(ann, 'AAPL')
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until(isEnd)
  stream.close()
  const finished = await cancel(ann, id)
  expect([finished.status, await finished.json()]).toMatchObject([409, { error: 'task_finished', status: 'completed' }])
  // Long after the queue has forgotten it, the history still knows that it is over.
  await runInDurableObject(taskQueue(env), (_, { storage }) => {
    storage.sql.exec('DELETE FROM tasks WHERE id = ?', id)
  })
  expect((await cancel(ann, id)).status).toBe(409)
  const [strange, never] = [await cancel(bob, id), await cancel(bob, '0'.repeat(32))]
  expect([strange.status, await strange.text()]).toEqual([404, await never.text()])
  expect(never.status).toBe(404)
  for (const odd of ['..%2f..', '%00', 'a'.repeat(3000), '💥']) expect((await cancel(bob, odd)).status).toBe(404)
})

test('a report that the database does not take waits in the queue, survives it, and completes its task when the database is back', async () => {
  const ann = await client()
  await env.DB.prepare('ALTER TABLE analyses RENAME TO analyses_away').run()
  const [id = ''] = await submit(ann, 'AAPL')
  const stub = taskQueue(env)
  const kept = () =>
    runInDurableObject(stub, (_, { storage }) => Number(storage.sql.exec('SELECT COUNT(*) AS n FROM outbox').one().n))
  for (let i = 0; i < 200 && (await kept()) === 0; i++) await pause(50)
  expect(await kept()).toBe(1)
  const waiting = await ann.json<{ status: string; progress: number }>(`/api/v1/analysis/status/${id}`)
  expect(waiting).toMatchObject({ status: 'processing', progress: 97, result: null })
  await evictDurableObject(stub)
  await env.DB.prepare('ALTER TABLE analyses_away RENAME TO analyses').run()
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until(isEnd)
  stream.close()
  expect(stream.frames.filter(isEnd).map(({ event }) => event)).toEqual(['task_completed'])
  expect(await ann.json(`/api/v1/analysis/status/${id}`)).toMatchObject({
    status: 'completed',
    result: { stock_code: 'AAPL' },
  })
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(1)
  expect(await kept()).toBe(0)
})

test('a cancel takes back the report that a run had saved before it died without a word', async () => {
  const ann = await client()
  const [id = ''] = await submit(ann, 'AAPL')
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until(isEnd)
  stream.close()
  const stub = taskQueue(env)
  // As the crash leaves it: saved, but the queue has not heard; the task waits to go out again.
  await runInDurableObject(stub, (_, { storage }) => {
    const later = Date.now() + 60_000
    storage.sql.exec(
      "UPDATE tasks SET status = 'processing', completed_at = NULL, runnable_at = ? WHERE id = ?",
      later,
      id,
    )
  })
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(1)
  expect(await (await cancel(ann, id)).json()).toMatchObject({ status: 'cancelled' })
  for (let i = 0; i < 100 && (await ann.json<{ total: number }>('/api/v1/history')).total > 0; i++) await pause(20)
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(0)
})

test('the queue tells its length, age and pace, and health says so when it stands still', async () => {
  const ann = await client()
  const now = Date.now()
  const stub = taskQueue(env)
  expect(await queueTrouble(env, now)).toBeNull()
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec(
      `INSERT INTO tasks (id, owner, request, status, message, created_at) VALUES ('stuck', ?, '{}', 'pending', 'm', ?)`,
      ann.owner,
      now - 3_600_000,
    )
  })
  expect(await ann.json('/api/v1/analysis/queue')).toMatchObject({
    pending: 1,
    max_running: 3,
    max_running_per_owner: 3,
    oldest_pending_seconds: expect.closeTo(3600, -2),
    finished_per_minute: expect.any(Number),
    own: { pending: 1, running: 0, oldest_pending_seconds: expect.closeTo(3600, -2) },
  })
  const bob = await client()
  expect(await bob.json('/api/v1/analysis/queue')).toMatchObject({
    pending: 1,
    own: { pending: 0, running: 0, oldest_pending_seconds: null },
  })
  // Within five seconds nobody looks again, so that an open call cannot be used to keep the queue busy.
  expect(await queueTrouble(env, now + 4_999)).toBeNull()
  expect(await queueTrouble(env, now + 5_000)).toMatch(/^the oldest pending task has waited 36\d\d s$/)
  const health = await request('/health')
  expect([health.status, await health.json()]).toEqual([200, expect.stringMatching(/^DEGRADED: the oldest/)])
  expect(await (await request('/api/health')).json()).toMatchObject({ status: 'degraded' })
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("DELETE FROM tasks WHERE id = 'stuck'")
  })
  expect(await queueTrouble(env, now + 20_000)).toBeNull()
})
