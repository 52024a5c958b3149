// The front of `npm start` by itself, before small servers that stand for the runtime.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Front } from '../../scripts/start/front.ts'
import { freePort } from '../../scripts/start/port.ts'
import { FrameWatch } from '../../scripts/start/websocket-frames.ts'
import { listening } from '../support/listening.ts'

const WORD = 'the word of this test'

async function frontBefore(port: number | null): Promise<{ front: Front; port: number; url: string }> {
  const own = await freePort()
  const front = await Front.listen(own, WORD)
  onTestFinished(() => front.close())
  front.serveFrom(port)
  return { front, port: own, url: `http://127.0.0.1:${own}` }
}

/** Whatever the bytes are; settles with all that came back when the connection ends. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text
  })
  socket.write(bytes)
  await Promise.race([once(socket, 'close'), sleep(10_000)])
  return answer
}

const echo: RequestListener = async (request, response) => {
  const body: Buffer[] = []
  for await (const chunk of request) body.push(chunk as Buffer)
  const { method, url, rawHeaders } = request
  response.end(JSON.stringify({ method, url, rawHeaders, body: Buffer.concat(body).toString() }))
}

type Echo = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'> & { body: string }

test('what only a platform may say is taken out of a request, and the peer is told as its socket tells it', async () => {
  const { url } = await frontBefore((await listening(echo)).port)
  const headers = {
    'MF-Original-URL': 'http://localhost/api/settings',
    'mf-cf-blob': '{bad',
    'MF-Route-Override': 'other',
    'CF-Connecting-IP': '203.0.113.9',
    'CF-Worker': 'x',
    'X-Bellwether-Front': 'guessed',
    'X-Session-API-Key': 'kept',
  }
  const seen = (await (await fetch(`${url}/a?b=%20c`, { headers })).json()) as Echo
  const names = seen.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  expect(names.filter((name) => /^(mf|cf)-/.test(name))).toEqual(['cf-connecting-ip'])
  expect(seen.rawHeaders[names.indexOf('cf-connecting-ip') * 2 + 1]).toBe('127.0.0.1')
  expect(names.filter((name) => name === 'x-bellwether-front')).toHaveLength(1)
  expect(seen.rawHeaders[names.indexOf('x-bellwether-front') * 2 + 1]).toBe(WORD)
  expect(names).toContain('x-session-api-key')
  expect(seen.url).toBe('/a?b=%20c')
})

test('bodies arrive byte for byte, of known and of unknown length, and a GET may have one', async () => {
  const { port, url } = await frontBefore((await listening(echo)).port)
  const long = 'é'.repeat(300_000)
  const posted = (await (await fetch(url, { method: 'POST', body: long })).json()) as Echo
  expect(posted.body).toBe(long)
  const chunked = await raw(
    port,
    'PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  )
  expect(chunked).toContain('"body":"abcde"')
  const got = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}')
  expect(got).toContain('"body":"{}"')
  const silent = await raw(port, 'DELETE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(silent).toContain('"content-length","0"')
})

test('what the runtime would stumble over gets a clear answer here', async () => {
  const { port } = await frontBefore((await listening(echo)).port)
  const cases = [
    ['GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n', 400],
    ['GET / HTTP/1.0\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: 127.0.0.1:99999\r\nConnection: close\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: 1.2.3.4.5\r\nConnection: close\r\n\r\n', 400],
    ['GET http://other/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n', 400],
    ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['PROPFIND / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
    ['TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405],
    ['nonsense\r\n\r\n', 400],
  ] as const
  for (const [bytes, status] of cases) {
    expect([bytes, (await raw(port, bytes)).slice(9, 12)]).toEqual([bytes, String(status)])
  }
  // No tunnel, whatever the name of the host.
  expect(await raw(port, 'CONNECT miniflare-unsafe-internal-capnp-connect HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('')
})

test('requests wait for the next runtime, and what was not sent, or changes nothing, is sent to it', async () => {
  let cuts = 0
  const dying = await listening((request) => {
    cuts += 1
    request.socket.destroy()
  })
  const { front, url } = await frontBefore(null)
  const early = fetch(`${url}/early`)
  await sleep(50)
  front.serveFrom(dying.port)
  await expect.poll(() => cuts).toBeGreaterThan(0)
  const posted = await fetch(url, { method: 'POST', body: 'once' })
  expect(posted.status).toBe(503)
  expect(((await posted.json()) as { detail: string }).detail).toContain('whether the request was carried out')

  dying.server.close()
  dying.server.closeAllConnections()
  const waiting = fetch(url, { method: 'POST', body: 'not sent yet' })
  await sleep(50)
  front.serveFrom((await listening(echo)).port)
  expect(((await (await waiting).json()) as Echo).body).toBe('not sent yet')
  expect(((await (await early).json()) as Echo).url).toBe('/early')
})

test('a client that leaves takes its request along, and an answer that was cut off does not look whole', async () => {
  let left = 0
  const { port: backend } = await listening((request, response) => {
    response.write('data: 1\n\n')
    if (request.url === '/cut') setTimeout(() => response.socket?.destroy(), 20)
    response.once('close', () => {
      left += 1
    })
  })
  const { url } = await frontBefore(backend)
  const controller = new AbortController()
  const stream = await fetch(url, { signal: controller.signal })
  expect(await stream.body?.getReader().read()).toMatchObject({ done: false })
  controller.abort()
  await expect.poll(() => left).toBe(1)
  await expect(fetch(`${url}/cut`).then((reply) => reply.text())).rejects.toThrow()
})

const OFFER = 'Sec-WebSocket-Extensions: permessage-deflate\r\n'

test('a socket is joined to the runtime byte for byte; a refused one ends with its answer', async () => {
  const { server, port: backend } = await listening((_request, response) => response.end('not a socket'))
  server.on('upgrade', (request: IncomingMessage, socket) => {
    if (request.url === '/refused') return socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    const offered = request.headers['sec-websocket-extensions'] ?? 'nothing'
    socket.on('data', (bytes: Buffer) => socket.end(`heard ${bytes}, offered ${offered}`))
  })
  const { port } = await frontBefore(backend)
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${OFFER}MF-CF-Blob: {\r\n\r\n`
  expect(await raw(port, `${upgrade('/')}hello`)).toMatch(/^HTTP\/1\.1 101 [\s\S]*heard hello, offered nothing$/)
  expect(await raw(port, `${upgrade('/api/runners/socket')}hello`)).toMatch(/offered permessage-deflate$/)
  // What stands behind a refused handshake must not reach the runtime as a request of its own.
  const refused = await raw(port, `${upgrade('/refused')}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`)
  expect(refused).toMatch(/^HTTP\/1\.1 401 [\s\S]*no$/)
  expect(refused).not.toContain('not a socket')
  const ignored = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n')
  expect(ignored).toContain('not a socket')
})

test('only a GET opens a socket: any other method is that request, whatever it asks for besides', async () => {
  const { server, port: backend } = await listening(echo)
  server.on('upgrade', (_request, socket: Duplex) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na GET'))
  const { port } = await frontBefore(backend)
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const head = `${method} /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n`
    const answer = await raw(port, `${head}Content-Length: 4\r\n\r\nbody`)
    expect([method, answer.includes('a GET')]).toEqual([method, false])
    if (method === 'HEAD') continue
    const seen = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as Echo
    expect([seen.method, seen.body]).toEqual([method, 'body'])
    expect(seen.rawHeaders.map((text) => text.toLowerCase())).not.toContain('upgrade')
  }
})

test('a socket whose runtime is gone is refused, and told when to come again', async () => {
  const { server, port: backend } = await listening(echo)
  server.on('upgrade', (_request, socket: Duplex) => socket.destroy())
  const { port } = await frontBefore(backend)
  const answer = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 2\r\n[\s\S]*interrupted before it answered/)
})

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
const CLOSE = Buffer.from([0x88, 0x02, 0x03, 0xf0])
const MASKED_CLOSE = Buffer.from([0x88, 0x82, 1, 2, 3, 4, 0x02, 0xf2])
/** A frame whose payload looks like frames that close. */
const LOOKALIKE = Buffer.concat([Buffer.from([0x82, 126, 0x03, 0x20]), Buffer.alloc(800, CLOSE)])
const MASKED_LOOKALIKE = Buffer.concat([
  Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 1, 0x11, 0x70, 9, 9, 9, 9]),
  Buffer.alloc(70_000, CLOSE),
])

type Pair = { client: Socket; runtime: Duplex }

/** Opens sockets through a front; neither side ends its half because the other did. */
async function socketsBefore(): Promise<() => Promise<Pair>> {
  const waiting: ((runtime: Duplex) => void)[] = []
  const { server, port: backend } = await listening(echo)
  server.on('upgrade', (_request, runtime: Duplex) => waiting.shift()?.(runtime))
  const { port } = await frontBefore(backend)
  return async () => {
    const accepted = Promise.withResolvers<Duplex>()
    waiting.push(accepted.resolve)
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    const runtime = await accepted.promise
    for (const side of [client, runtime]) {
      side.on('error', () => {})
      onTestFinished(() => void side.destroy())
    }
    runtime.write(UPGRADED)
    await once(client, 'data')
    return { client, runtime }
  }
}

/** Reads so many bytes. */
async function take(side: Duplex, bytes: number): Promise<Buffer> {
  const read: Buffer[] = []
  for (let left = bytes; left > 0; left -= read.at(-1)?.length ?? 0) {
    const [chunk] = (await once(side, 'data')) as [Buffer]
    read.push(chunk)
  }
  side.resume()
  return Buffer.concat(read)
}

/** Lets the time pass that the front gives a connection, again and again, until that side has heard of its end. */
async function untilGivenUp(side: Duplex): Promise<void> {
  let isOver = false
  side.resume()
  for (const end of ['end', 'close']) {
    side.once(end, () => {
      isOver = true
    })
  }
  await expect
    .poll(() => {
      vi.advanceTimersByTime(31_000)
      return isOver
    })
    .toBe(true)
}

function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

test('a socket that both sides have closed is ended, though the runtime ends nothing', async () => {
  const open = await socketsBefore()
  for (const first of ['runtime', 'client'] as const) {
    const { client, runtime } = await open()
    runtime.write(LOOKALIKE)
    client.write(MASKED_LOOKALIKE)
    const [down, up] = await Promise.all([take(client, LOOKALIKE.length), take(runtime, MASKED_LOOKALIKE.length)])
    expect(down.equals(LOOKALIKE) && up.equals(MASKED_LOOKALIKE)).toBe(true)
    const ends = Promise.all([once(client, 'end'), once(runtime, 'end')])
    const say = { client: () => client.write(MASKED_CLOSE), runtime: () => runtime.write(CLOSE) }
    const heard = { client: take(runtime, MASKED_CLOSE.length), runtime: take(client, CLOSE.length) }
    say[first]()
    await heard[first]
    expect([client.readableEnded, runtime.readableEnded]).toEqual([false, false])
    say[first === 'client' ? 'runtime' : 'client']()
    await heard[first === 'client' ? 'runtime' : 'client']
    await ends
  }
})

test('a connection is given up when a side stays silent at the end, or takes nothing', async () => {
  stopTime()
  const open = await socketsBefore()
  const closed = await open()
  closed.runtime.write(CLOSE)
  expect(await take(closed.client, CLOSE.length)).toEqual(CLOSE)
  await untilGivenUp(closed.runtime)

  const ended = await open()
  ended.runtime.end(LOOKALIKE)
  expect(await take(ended.client, LOOKALIKE.length)).toEqual(LOOKALIKE)
  const gone = once(ended.runtime, 'close')
  await untilGivenUp(ended.runtime)
  await gone

  const left = await open()
  left.client.end()
  left.runtime.resume()
  await once(left.runtime, 'end')
  await untilGivenUp(left.client)

  const stalled = await open()
  stalled.client.pause()
  stalled.runtime.write(Buffer.alloc(32 * 1024 * 1024))
  await untilGivenUp(stalled.runtime)
})

test('a refused socket is given up although its client does not end it', async () => {
  stopTime()
  const { server, port: backend } = await listening(echo)
  server.on('upgrade', (_request, socket: Duplex) => socket.end('HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno'))
  const { port } = await frontBefore(backend)
  const accepted = new Promise<Socket>((resolve) => {
    const listener = (message: unknown) => {
      const { socket } = message as { socket: Socket }
      if (socket.localPort !== port) return
      unsubscribe('net.server.socket', listener)
      resolve(socket)
    }
    subscribe('net.server.socket', listener)
  })
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void client.destroy())
  client.resume().write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await untilGivenUp(await accepted)
  expect((await accepted).destroyed).toBe(true)
})

test('the close frame is found however the bytes are cut', () => {
  const bytes = Buffer.concat([
    LOOKALIKE,
    Buffer.from([0x89, 0x00]),
    MASKED_LOOKALIKE,
    Buffer.from([0x81, 0x01, 0x78]),
    MASKED_CLOSE,
  ])
  for (const step of [1, 2, 3, 7, 997, bytes.length]) {
    const frames = new FrameWatch()
    const seen: number[] = []
    for (let at = 0; at < bytes.length; at += step) if (frames.sees(bytes.subarray(at, at + step))) seen.push(at)
    expect([step, seen]).toEqual([step, [Math.floor((bytes.length - 1) / step) * step]])
  }
  const empty = new FrameWatch()
  expect([empty.sees(Buffer.from([0x88])), empty.sees(Buffer.from([0x00]))]).toEqual([false, true])
})

test('half a head is not waited for longer than a minute, a body as long as it takes', async () => {
  const { url } = await frontBefore((await listening(echo)).port)
  const servers: Server[] = []
  const listener = (message: unknown) => void servers.push((message as { server: Server }).server)
  subscribe('http.server.request.start', listener)
  onTestFinished(() => void unsubscribe('http.server.request.start', listener))
  await (await fetch(url)).text()
  expect(servers.map(({ headersTimeout, requestTimeout }) => [headersTimeout, requestTimeout])).toContainEqual([
    60_000, 0,
  ])
})
