import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { type Client, client, ROOT_KEY, request } from '../helpers/app.ts'
import { type Frame, isEnd, openStream } from './task-events.ts'

const CODES = ['600519', 'AAPL', 'HK00700', 'MSFT', 'NVDA', '300750']

async function submit(who: Client, codes: string[] = CODES): Promise<string[]> {
  const body = { stock_codes: codes, async_mode: true }
  const response = await who.ask('/api/v1/analysis/analyze', { method: 'POST', body })
  const answer = await response.json<{ task_id?: string; accepted?: { task_id: string }[] }>()
  return answer.accepted?.map(({ task_id }) => task_id) ?? [String(answer.task_id)]
}

const allEnded = (n: number) => (_: Frame, all: Frame[]) => all.filter(isEnd).length >= n

test('the stream wears its headers, greets, and needs a key of its family', async () => {
  const ann = await client()
  const stream = await openStream(ann.key)
  const { headers } = stream.response
  expect(headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(headers.get('connection')).toBe('keep-alive')
  expect(headers.get('x-accel-buffering')).toBe('no')
  const { data } = await stream.until(({ event }) => event === 'connected')
  expect(data).toEqual({ message: expect.any(String) })
  stream.close()

  expect((await request('/api/v1/analysis/tasks/stream')).status).toBe(401)
  expect((await request('/api/v1/analysis/tasks/stream?session_api_key=bw_nonsense')).status).toBe(401)
  const agent = await client({ scopes: ['conversations'] })
  expect((await agent.ask('/api/v1/analysis/tasks/stream')).status).toBe(403)
  // A browser's EventSource cannot send headers.
  const byQuery = await request(`/api/v1/analysis/tasks/stream?session_api_key=${ann.key}`)
  expect(byQuery.status).toBe(200)
  await byQuery.body?.cancel()
})

test('a client that was cut off gets exactly what it missed, by header or by query, and nobody else gets any of it', async () => {
  const ann = await client()
  const bob = await openStream((await client()).key)
  const first = await openStream(ann.key)
  await submit(ann)
  const cut = await first.until((_, all) => all.length === 9)
  first.close()
  const resumed = await openStream(ann.key, { headers: { 'last-event-id': String(cut.id) } })
  await resumed.until(
    (_, all) => all.filter(isEnd).length + first.frames.slice(0, 9).filter(isEnd).length >= CODES.length,
  )
  resumed.close()
  const seen = [...first.frames.slice(1, 9), ...resumed.frames.slice(1)]
  expect(resumed.frames[0]?.event).toBe('connected')
  expect(seen.map(({ id }) => id)).toEqual(seen.map((_, i) => i + 1))

  const again = await openStream(ann.key, { query: '?after=0' })
  await again.until((_, all) => all.length > seen.length)
  again.close()
  expect(again.frames.slice(1, seen.length + 1)).toEqual(seen)
  // The header is the newer of the two: a browser sends it with the address it once began with.
  const last = seen.at(-1)?.id ?? 0
  const both = await openStream(ann.key, { query: '?after=0', headers: { 'last-event-id': String(last) } })
  await submit(ann, ['AAPL'])
  await both.until(isEnd)
  both.close()
  expect(both.frames[1]).toMatchObject({ id: last + 1, event: 'task_created' })
  expect(bob.frames.map(({ event }) => event)).toEqual(['connected'])
  bob.close()
})

test('a fresh stream begins with the open tasks at the place from which it goes on', async () => {
  const ann = await client()
  const ids = await submit(ann)
  // Opened while some of them run: whatever is not in the snapshot has ended, and is in the log before it.
  const stream = await openStream(ann.key)
  await stream.until(({ event }) => event === 'connected')
  const place = stream.frames[0]?.id ?? 0
  const snapshot = stream.frames.filter(({ id, event }) => id === place && event === 'task_created')
  const open = snapshot.map(({ data }) => data.task_id)
  if (open.length > 0) await stream.until(allEnded(open.length))
  stream.close()
  const live = stream.frames.slice(1 + snapshot.length)
  expect(live.map(({ id }) => id)).toEqual(live.map((_, i) => place + 1 + i))
  expect(new Set(live.filter(isEnd).map(({ data }) => data.task_id))).toEqual(new Set(open))

  const log = await openStream(ann.key, { query: '?after=0' })
  await log.until(allEnded(ids.length))
  log.close()
  const endedBefore = log.frames.filter((frame) => isEnd(frame) && (frame.id ?? 0) <= place)
  expect(new Set([...open, ...endedBefore.map(({ data }) => data.task_id)])).toEqual(new Set(ids))

  for (const query of ['?after=999999', '?after=nonsense', '?after=-1', '?after=']) {
    const fresh = await openStream(ann.key, { query })
    await fresh.until(({ event }) => event === 'connected')
    fresh.close()
    expect(fresh.frames[0]?.id).toBe(log.frames.at(-1)?.id)
  }
})

test('streams outlive the object: after an eviction the next event arrives on the same connection', async () => {
  const ann = await client()
  const stream = await openStream(ann.key)
  await submit(ann, ['AAPL'])
  await stream.until(isEnd)
  await evictDurableObject(taskQueue(env))
  await submit(ann, ['MSFT'])
  await stream.until((_, all) => all.filter(isEnd).length === 2)
  stream.close()
  const live = stream.frames.slice(1)
  expect(live.map(({ id }) => id)).toEqual(live.map((_, i) => i + 1))
})

test('a stream that was left lets go of its socket', async () => {
  const ann = await client()
  const owner = ann.owner
  const stub = taskQueue(env)
  const { runInDurableObject } = await import('cloudflare:test')
  const sockets = () => runInDurableObject(stub, (_, state) => state.getWebSockets(owner).length)
  const stream = await openStream(ann.key)
  await stream.until(({ event }) => event === 'connected')
  expect(await sockets()).toBe(1)
  stream.close()
  await expect.poll(sockets).toBe(0)
})

test('the root key is nobody here', async () => {
  const response = await request('/api/v1/analysis/tasks/stream', { headers: { 'x-session-api-key': ROOT_KEY } })
  expect(response.status).toBe(403)
})
