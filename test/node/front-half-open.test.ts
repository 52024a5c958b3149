// Clients that end their half of a connection with the request, and those that have left, before the front of `npm start`.

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Front } from '../../scripts/start/front.ts'
import { freePort } from '../../scripts/start/port.ts'
import { listening } from '../support/listening.ts'

async function frontBefore(backend: RequestListener): Promise<number> {
  const own = await freePort()
  const front = await Front.listen(own, 'the word of this test')
  onTestFinished(() => front.close())
  front.serveFrom((await listening(backend)).port)
  return own
}

type Client = { socket: Socket; answer: () => string; closed: Promise<unknown> }

/** Sends the bytes and, as `nc -N` does, the end of its half. */
function halfClosed(port: number, bytes: string): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text
  })
  socket.end(bytes)
  return { socket, answer: () => answer, closed: once(socket, 'end') }
}

const head = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n`

/** Answers when it is told to; knows who is waiting and who is gone. */
function held() {
  const waiting = new Map<string, (body: string) => void>()
  const gone: string[] = []
  const listener: RequestListener = (request, response) => {
    const { url = '' } = request
    request.resume()
    waiting.set(url, (body) => response.end(body))
    response.once('close', () => {
      if (!response.writableFinished) gone.push(url)
    })
  }
  return { listener, waiting, gone }
}

test('a client that ends its half with the request is answered, and the connection is closed after that', async () => {
  const { listener, waiting, gone } = held()
  const port = await frontBefore(listener)
  const asked = [
    halfClosed(port, `${head('/read')}\r\n`),
    halfClosed(port, `${head('/write', 'POST')}Content-Length: 2\r\n\r\n{}`),
    halfClosed(port, `${head('/first')}\r\n${head('/second')}\r\n`),
    halfClosed(port, 'GET /older HTTP/1.0\r\nHost: x\r\n\r\n'),
  ]
  const long = 'x'.repeat(3_000_000)
  for (const path of ['/read', '/write', '/first', '/second', '/older']) {
    await expect.poll(() => waiting.has(path), { timeout: 10_000 }).toBe(true)
    // The end of its half has come by now: the front has said that it goes on.
    await expect
      .poll(() => asked.some((one) => one.answer().includes('102 Processing')), { timeout: 10_000 })
      .toBe(true)
    waiting.get(path)?.(path === '/read' ? long : `for ${path}`)
  }
  await Promise.all(asked.map(({ closed }) => closed))
  const bodies = asked.map(({ answer }) =>
    answer()
      .split('\r\n\r\n')
      .filter((part) => !/^HTTP\/1.1 1/.test(part)),
  )
  expect(bodies[0]?.[0]).toMatch(/^HTTP\/1.1 200 OK/)
  expect(bodies[0]?.[1]).toContain(long.slice(0, 1_000))
  expect(asked[0]?.answer().length).toBeGreaterThan(long.length)
  expect(asked[1]?.answer()).toContain('for /write')
  // Which knows no word before the answer.
  expect(asked[3]?.answer()).toMatch(/^HTTP\/1.1 200 OK[\s\S]*for \/older$/)
  expect(asked[2]?.answer()).toMatch(/for \/first[\s\S]*for \/second/)
  expect(gone).toEqual([])
})

test('a client that has left takes its request along, though it looks as if it had only ended its half', async () => {
  const { listener, waiting, gone } = held()
  const port = await frontBefore(listener)
  const { socket } = halfClosed(port, `${head('/left')}\r\n`)
  await expect.poll(() => waiting.has('/left'), { timeout: 10_000 }).toBe(true)
  expect(gone).toEqual([])
  const late = connect(port, '127.0.0.1')
  late.write(`${head('/later')}\r\n`)
  await expect.poll(() => waiting.has('/later'), { timeout: 10_000 }).toBe(true)
  late.destroy()
  await expect.poll(() => gone, { timeout: 10_000 }).toContain('/later')
  // One that has waited for a while, too.
  socket.destroy()
  await expect.poll(() => gone, { timeout: 60_000 }).toContain('/left')
})

test('a stream is not kept for a client that ended its half', async () => {
  let left = 0
  const port = await frontBefore((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': here\n\n')
    response.once('close', () => {
      left += 1
    })
  })
  await halfClosed(port, `${head('/stream')}\r\n`).closed
  await expect.poll(() => left, { timeout: 10_000 }).toBe(1)
})

test('a body that is cut off, headers that are too large and what is no HTTP are told in the shape of errors', async () => {
  const { listener } = held()
  const port = await frontBefore(listener)
  const told = async (bytes: string) => {
    const { answer, closed } = halfClosed(port, bytes)
    await closed
    const [lines = '', body = ''] = answer().split('\r\n\r\n').slice(-2)
    expect(lines).toContain('content-type: application/json')
    expect(lines).toContain(`content-length: ${body.length}`)
    return [lines.split('\r\n')[0], JSON.parse(body)]
  }
  const large = `X-Large: ${'x'.repeat(17_000)}\r\n\r\n`
  const detail = 'The headers are larger than 16384 bytes'
  const status = 'HTTP/1.1 431 Request Header Fields Too Large'
  expect(await told(head('/api/settings') + large)).toEqual([status, { detail }])
  expect(await told(head('/api/v1/history') + large)).toEqual([
    status,
    { error: 'http_error', message: detail, detail: null },
  ])
  const none = { detail: 'The request is no HTTP, or is cut off' }
  for (const bytes of ['nonsense\r\n\r\n', `${head('/', 'POST')}Content-Length: 9\r\n\r\n{`]) {
    expect(await told(bytes)).toEqual(['HTTP/1.1 400 Bad Request', none])
  }
})
