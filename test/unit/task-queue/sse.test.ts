import { expect, onTestFinished, test, vi } from 'vitest'
import { streamOf } from '../../../src/http/sse.ts'

type Rig = { server: WebSocket; response: Response; abort: AbortController; closed: Promise<string> }

function open(options: { heartbeatMs?: number; maxLagBytes?: number; mayStay?: () => Promise<boolean> } = {}): Rig {
  const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
  server.accept()
  const abort = new AbortController()
  const closed = new Promise<string>((resolve) => server.addEventListener('close', ({ reason }) => resolve(reason)))
  const response = streamOf(client, { signal: abort.signal, mayStay: async () => true, ...options })
  return { server, response, abort, closed }
}

async function readAll(response: Response): Promise<string> {
  let text = ''
  for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk)
  return text
}

test('the response wears the headers of an event stream and passes the text on until the socket closes', async () => {
  const { server, response } = open()
  const headers = ['content-type', 'cache-control', 'connection', 'x-accel-buffering'].map((name) =>
    response.headers.get(name),
  )
  expect(headers).toEqual(['text/event-stream', 'no-cache', 'keep-alive', 'no'])
  server.send('event: a\ndata: 1\n\n')
  // As the queue sends them.
  server.send(new TextEncoder().encode('event: b\ndata: 贵\n\n'))
  server.close(1000, 'done')
  expect(await readAll(response)).toBe('event: a\ndata: 1\n\nevent: b\ndata: 贵\n\n')
})

test('a heartbeat comes only after a whole interval without another event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { server, response } = open({ heartbeatMs: 500 })
  const reader = response.body?.getReader()
  const next = async () => new TextDecoder().decode((await reader?.read())?.value)
  let text = ''
  for (let i = 0; i < 6; i++) {
    server.send(`event: e\ndata: ${i}\n\n`)
    text += await next()
    await vi.advanceTimersByTimeAsync(499)
  }
  for (let i = 0; i < 2; i++) {
    await vi.advanceTimersByTimeAsync(500)
    text += await next()
  }
  const kinds = [...text.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind)
  expect(kinds).toEqual(['e', 'e', 'e', 'e', 'e', 'e', 'heartbeat', 'heartbeat'])
  expect(text).toMatch(/event: heartbeat\ndata: \{"timestamp":"\d{4}-\d\d-\d\dT[\d:]+\.\d{6}Z"\}\n\n$/)
  server.close(1000, 'done')
  expect(await next()).toBe('')
  expect(text).not.toContain('id:')
})

test('a client that leaves takes the socket with it', async () => {
  const { abort, closed } = open()
  abort.abort()
  expect(await closed).toBe('client left')
})

test('a client that does not read is cut off once too much waits for it, after whole frames', async () => {
  const { server, response, closed } = open({ maxLagBytes: 100_000 })
  const frame = `event: e\ndata: ${'x'.repeat(1_000)}\n\n`
  for (let i = 0; i < 400; i++) server.send(frame)
  expect(await closed).toBe('lagging')
  const text = await readAll(response)
  expect(text.length % frame.length).toBe(0)
  expect(text.length).toBeGreaterThan(100_000)
  expect(text.length).toBeLessThan(180_000)
})

test('a stream ends when its reader may no longer read it, and goes on when that cannot be told', async () => {
  let asked = 0
  let answer: () => Promise<boolean> = async () => {
    asked += 1
    throw new Error('down')
  }
  const { closed, response } = open({ heartbeatMs: 30, mayStay: () => answer() })
  await expect.poll(() => asked).toBeGreaterThan(1)
  answer = async () => false
  expect(await closed).toBe('no longer allowed')
  expect(await readAll(response)).toContain('heartbeat')
})
