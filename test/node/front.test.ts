// The front of `npm start` by itself, before small servers that stand for the runtime.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Front } from '../../scripts/start/front.ts'
import { freePort } from '../../scripts/start/port.ts'

const WORD = 'the word of this test'

async function backendOf(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

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
  const { url } = await frontBefore((await backendOf(echo)).port)
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
  const { port, url } = await frontBefore((await backendOf(echo)).port)
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
  const { port } = await frontBefore((await backendOf(echo)).port)
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
  const dying = await backendOf((request) => {
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
  front.serveFrom((await backendOf(echo)).port)
  expect(((await (await waiting).json()) as Echo).body).toBe('not sent yet')
  expect(((await (await early).json()) as Echo).url).toBe('/early')
})

test('a client that leaves takes its request along, and an answer that was cut off does not look whole', async () => {
  let left = 0
  const { port: backend } = await backendOf((request, response) => {
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

test('a socket is joined to the runtime byte for byte; a refused one ends with its answer', async () => {
  const { server, port: backend } = await backendOf((_request, response) => response.end('not a socket'))
  server.on('upgrade', (request: IncomingMessage, socket) => {
    if (request.url === '/refused') return socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    socket.on('data', (bytes: Buffer) => socket.end(`heard ${bytes}`))
  })
  const { port } = await frontBefore(backend)
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nMF-CF-Blob: {\r\n\r\n`
  expect(await raw(port, `${upgrade('/')}hello`)).toMatch(/^HTTP\/1\.1 101 [\s\S]*heard hello$/)
  // What stands behind a refused handshake must not reach the runtime as a request of its own.
  const refused = await raw(port, `${upgrade('/refused')}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`)
  expect(refused).toMatch(/^HTTP\/1\.1 401 [\s\S]*no$/)
  expect(refused).not.toContain('not a socket')
  const ignored = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n')
  expect(ignored).toContain('not a socket')
})
