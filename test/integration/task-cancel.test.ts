import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { queueTrouble } from '../../src/routes/health.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

async function submit(who: Client, ...codes: string[]): Promise<string[]> {
  const response = await who.ask('/api/v1/analysis/analyze', {
    method: 'POST',
    body: { stock_codes: codes, async_mode: true },
  })
  const body = await response.json<{ task_id?: string; accepted?: { task_id: string }[] }>()
  return body.accepted?.map(({ task_id }) => task_id) ?? [body.task_id ?? '']
}

const cancel = (who: Client, id: string) => who.ask(`/api/v1/analysis/tasks/${id}/cancel`, { method: 'POST' })

/** Has the database hold each run where it looks for the report before, until the test lets them go or is over. */
function heldRuns() {
  const { DB } = env
  const runs = { held: 0, letGo: () => void Object.assign(env, { DB }) }
  const hold = (real: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(real, {
      get: (_, name) => {
        if (name === 'bind') return (...values: unknown[]) => hold(real.bind(...values))
        const method = Reflect.get(real, name) as (...args: unknown[]) => Promise<unknown>
        return async (...args: unknown[]) => {
          runs.held += 1
          while (env.DB !== DB) await scheduler.wait(5)
          return method.apply(real, args)
        }
      },
    })
  const prepare = (query: string) => {
    const real = DB.prepare(query)
    return query.includes("a.key = ? AND a.report_type <> 'market_review'") ? hold(real) : real
  }
  Object.assign(env, { DB: { prepare, batch: DB.batch.bind(DB) } })
  onTestFinished(runs.letGo)
  return runs
}

test('a batch that is cancelled ends as cancelled, tells its stream so, and leaves no report of what was stopped', async () => {
  const ann = await client()
  const runs = heldRuns()
  const ids = await submit(ann, '600519', 'AAPL', 'HK00700', 'MSFT', 'NVDA', '300750', '600000', '000001')
  await expect.poll(() => runs.held).toBe(3)
  const answers = await Promise.all(ids.map((id) => cancel(ann, id)))
  const states = await Promise.all(answers.map(async (answer) => (await answer.json<{ status: string }>()).status))
  // The others wait behind the three that run.
  expect(states.filter((status) => status === 'cancel_requested')).toHaveLength(3)
  expect(states.filter((status) => status === 'cancelled')).toHaveLength(ids.length - 3)
  runs.letGo()
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until((_, all) => all.filter(isEnd).length === ids.length)
  stream.close()
  const ends = stream.frames.filter(isEnd)
  expect(ends.map(({ event, data }) => [event, data.status])).toEqual(ids.map(() => ['task_failed', 'cancelled']))
  const { tasks } = await ann.json<{ tasks: { status: string; completed_at: string | null }[] }>(
    '/api/v1/analysis/tasks?status=cancelled',
  )
  expect(tasks.length).toBe(ids.length)
  expect(tasks.every(({ completed_at }) => completed_at !== null)).toBe(true)
  expect((await ann.json<{ total: number }>('/api/v1/history')).total).toBe(0)
  for (const id of ids) {
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
  const stub = taskQueue(env)
  let id = ''
  // What others have there is theirs.
  const kept = () =>
    runInDurableObject(stub, (_, { storage }) =>
      Number(storage.sql.exec('SELECT COUNT(*) AS n FROM outbox WHERE key = ?', id).one().n),
    )
  await env.DB.prepare('ALTER TABLE analyses RENAME TO analyses_away').run()
  try {
    ;[id = ''] = await submit(ann, 'AAPL')
    await expect.poll(kept).toBe(1)
    const waiting = await ann.json<{ status: string; progress: number }>(`/api/v1/analysis/status/${id}`)
    expect(waiting).toMatchObject({ status: 'processing', progress: 97, result: null })
    await evictDurableObject(stub)
  } finally {
    await env.DB.prepare('ALTER TABLE analyses_away RENAME TO analyses').run()
  }
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
  await expect.poll(async () => (await ann.json<{ total: number }>('/api/v1/history')).total).toBe(0)
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
