import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { type Client, client } from '../helpers/app.ts'
import { type Frame, isEnd, openStream } from './task-events.ts'

const CODES = [
  '600519',
  'AAPL',
  'HK00700',
  'MSFT',
  'NVDA',
  '300750',
  '600000',
  '000001',
  'HK09988',
  'SPX',
  'HK00005',
  '000151',
]

async function submitAll(who: Client): Promise<string[]> {
  const response = await who.ask('/api/v1/analysis/analyze', {
    method: 'POST',
    body: { stock_codes: CODES, async_mode: true },
  })
  return (await response.json<{ accepted: { task_id: string }[] }>()).accepted.map(({ task_id }) => task_id)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Everything the owner's stream ever carried, once all tasks have ended. */
async function wholeStory(who: Client, tasks: number): Promise<Frame[]> {
  const stream = await openStream(who.key, { query: '?after=0' })
  await stream.until((_, all) => all.filter(isEnd).length >= tasks)
  await pause(100)
  stream.close()
  return stream.frames.slice(1)
}

/** Every accepted task ended completed, exactly once, with one stored report, and the story has no hole. */
async function expectWhole(who: Client, ids: string[]): Promise<void> {
  const story = await wholeStory(who, ids.length)
  expect(story.map(({ id }) => id)).toEqual(story.map((_, i) => i + 1))
  const ended = story.filter(isEnd).map(({ event, data }) => `${event} ${data.task_id}`)
  expect(ended.toSorted()).toEqual(ids.map((id) => `task_completed ${id}`).toSorted())
  for (const id of ids) {
    const mine = story.filter(({ data }) => data.task_id === id)
    const progress = mine.map(({ data }) => Number(data.progress))
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(mine.filter(({ event }) => event === 'task_started').length).toBe(1)
  }
  const { total, items } = await who.json<{ total: number; items: { query_id: string }[] }>('/api/v1/history?limit=100')
  expect(total).toBe(ids.length)
  expect(items.map(({ query_id }) => query_id).toSorted()).toEqual(ids.toSorted())
}

test('evictions in the middle of a batch lose nothing and finish nothing twice', async () => {
  const ann = await client()
  const ids = await submitAll(ann)
  for (let i = 0; i < 4; i++) {
    // Only what runs can be evicted: a touch first, in case it has not come back since the last time.
    await runInDurableObject(taskQueue(env), () => undefined)
    await evictDurableObject(taskQueue(env))
    await pause(20)
  }
  await expectWhole(ann, ids)
})

test('runs whose lease lapsed go out again, whatever their old runners do meanwhile', async () => {
  const ann = await client()
  const stub = taskQueue(env)
  const ids = await submitAll(ann)
  // Twice, which is one less than a task may be lost without getting further.
  for (let i = 0; i < 2; i++) {
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec('UPDATE leases SET until = 0')
      storage.sql.exec("UPDATE alarms SET at = 0 WHERE name = 'sweep'")
      void storage.setAlarm(Date.now() + 60_000)
    })
    await runDurableObjectAlarm(stub)
    await pause(50)
  }
  await expectWhole(ann, ids)
})

test('what waits when the object comes back to life is handed out by its alarm, without a request', async () => {
  const ann = await client()
  const stub = taskQueue(env)
  const id = crypto.randomUUID().replaceAll('-', '')
  // The row as a crash right after the commit leaves it: accepted, handed to a runner that never got to hear of it.
  await runInDurableObject(stub, (_, { storage }) => {
    const request = {
      kind: 'analysis',
      key: 'AAPL',
      stockCode: 'AAPL',
      stockName: null,
      reportType: 'brief',
      analysisPhase: 'auto',
      language: 'en',
      reportLanguage: 'en',
      skills: null,
      originalQuery: null,
      reading: null,
      selectionSource: null,
      forceRefresh: false,
      notify: true,
      region: null,
    }
    const now = Date.now()
    storage.sql.exec(
      `INSERT INTO tasks (id, owner, key, request, status, message, created_at, started_at, attempts, idle_attempts)
       VALUES (?, ?, 'AAPL', ?, 'processing', 'm', ?, ?, 1, 1)`,
      id,
      ann.owner,
      JSON.stringify(request),
      now,
      now,
    )
    storage.sql.exec(
      'INSERT INTO leases (task_id, token, stage, until, deadline) VALUES (?, ?, ?, ?, ?)',
      id,
      'lost',
      'start',
      now + 200,
      now + 60_000,
    )
  })
  await evictDurableObject(stub)
  // One touch makes the constructor run; from there on the alarm does it all.
  await runInDurableObject(stub, () => undefined)
  const status = () =>
    runInDurableObject(
      stub,
      (_, { storage }) => storage.sql.exec('SELECT status FROM tasks WHERE id = ?', id).one().status,
    )
  await expect.poll(status).toBe('completed')
  const answer = await ann.json<{ result: { report: { meta: Record<string, unknown> } } }>(
    `/api/v1/analysis/status/${id}`,
  )
  expect(answer.result.report.meta).toMatchObject({ report_type: 'brief', stock_code: 'AAPL' })
})

test('a run that was saved but whose finish was never heard is completed by the next run without a second report', async () => {
  const ann = await client()
  const stub = taskQueue(env)
  const response = await ann.ask('/api/v1/analysis/analyze', {
    method: 'POST',
    body: { stock_code: 'NVDA', async_mode: true },
  })
  const { task_id: id } = await response.json<{ task_id: string }>()
  await wholeStory(ann, 1)
  const before = await ann.json<{ items: { id: number; created_at: string }[] }>('/api/v1/history')
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec(
      "UPDATE tasks SET status = 'processing', progress = 97, completed_at = NULL, runnable_at = 1, attempts = 1 WHERE id = ?",
      id,
    )
  })
  await evictDurableObject(stub)
  const story = await wholeStory(ann, 2)
  expect(story.at(-1)).toMatchObject({ event: 'task_completed', data: { task_id: id, progress: 100 } })
  expect(await ann.json('/api/v1/history')).toEqual(before)
})
