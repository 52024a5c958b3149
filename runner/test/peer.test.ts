// When a connection counts as dead. The clock is the test's; the sockets are real.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { HEARTBEAT_MS, PING, PONG } from '../../src/runners/wire.ts'
import { type Handlers, Peer } from '../src/connect/peer.ts'
import { SessionLink } from '../src/connect/session-link.ts'

/** How long a silent connection is still read from, at most. */
const READ_MS = 1_000

afterEach(() => void vi.useRealTimers())

/** A peer, its service's socket, what came there, and why it closed if it did. */
async function connected(handlers: Handlers = {}) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const { port } = server.address() as AddressInfo
  const came: string[] = []
  const service = new Promise<WebSocket>((resolve) => server.once('connection', resolve))
  const closed: string[] = []
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout'] })
  const peer = await new Promise<Peer>((resolve) => {
    const url = new URL(`ws://127.0.0.1:${port}`)
    const events = { handlers, onFrame: () => {}, onClosed: (reason: string) => void closed.push(reason) }
    new Peer({ url, bearer: 'k' }, events, resolve)
  })
  onTestFinished(() => peer.close(1000, 'over'))
  const socket = await service
  socket.on('message', (data) => void came.push(String(data)))
  return { peer, socket, came, closed }
}

/** Turns of the event loop until it is so; sockets are not on the test's clock. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn()
}

test('a service that answers no ping has lost the connection, and is told as that', async () => {
  const { came, closed } = await connected()
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS)
  await until(() => came.includes(PING))
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS)
  expect(closed).toEqual([])
  await vi.advanceTimersByTimeAsync(READ_MS)
  await until(() => closed.length > 0)
  expect(closed).toEqual(['no answer to a ping'])
})

test('a service that answers keeps its connection', async () => {
  const { peer, socket, came, closed } = await connected()
  socket.on('message', () => socket.send(PONG))
  for (let beat = 1; beat <= 4; beat += 1) {
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS)
    await until(() => came.length === beat)
    // The answer is read before the next beat.
    for (let i = 0; i < 20; i += 1) await turn()
  }
  expect([came, closed, peer.isOpen]).toEqual([[PING, PING, PING, PING], [], true])
})

test('an answer that waited while the process was held up is read before the connection counts as dead', async () => {
  const { peer, socket, came, closed } = await connected()
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS)
  await until(() => came.length === 1)
  // The next beat comes first, as after a pause of the process; then what the service had sent meanwhile.
  vi.advanceTimersByTime(HEARTBEAT_MS)
  socket.send(PONG)
  for (let i = 0; i < 50; i += 1) await turn()
  await vi.advanceTimersByTimeAsync(READ_MS)
  await until(() => came.length === 2)
  expect([closed, peer.isOpen]).toEqual([[], true])
})

test('a fault in what a message makes this side do ends its connection, and nothing else', async () => {
  const broken = () => {
    throw new TypeError('a fault')
  }
  const { socket, closed } = await connected({ 'frame/ack': broken })
  const code = new Promise((resolve) => socket.once('close', resolve))
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'frame/ack', params: { stream: 'output:x', seq: 0 } }))
  expect([await code, closed]).toEqual([1011, ['a fault']])
})

test('what comes after this side has closed is not read, and who waits for an answer is told that there is none', async () => {
  const heard: string[] = []
  const { peer, socket, closed } = await connected({ 'frame/ack': ({ stream }) => void heard.push(stream) })
  const acknowledged = (stream: string) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'frame/ack', params: { stream, seq: 0 } })
  socket.send(acknowledged('output:before'))
  await until(() => heard.length > 0)
  const answer = peer.call('session/hello', {} as never).catch((error: unknown) => error)
  const end = new Promise((resolve) => socket.once('close', resolve))
  peer.close(1000, 'over')
  socket.send(acknowledged('output:after'))
  expect([await end, heard, closed]).toEqual([1000, ['output:before'], ['over']])
  expect(await answer).toMatchObject({ message: 'over' })
  await expect(peer.call('session/hello', {} as never)).rejects.toThrow('not connected')
})

test('a ticket that is refused is asked for ever less often, and a new one at once', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  let asked = 0
  server.on('upgrade', (_request, socket) => {
    asked += 1
    socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout'] })
  let refusals = 0
  const link = new SessionLink({
    handlers: {},
    onFrame: () => {},
    log: (_event, fields) => {
      if (fields?.status === 401) refusals += 1
    },
    hello: () => {
      throw new Error('never welcome')
    },
    onWelcome: () => {},
    onLost: () => {},
    onGivenUp: () => {},
  })
  onTestFinished(() => link.end('over'))
  const address = { url: new URL(`ws://127.0.0.1:${port}`), bearer: 'revoked' }
  link.open(address)
  await until(() => refusals === 1)
  for (const [longestWait, times] of [2, 4, 8, 16, 30, 30].map((seconds, at) => [seconds * 1_000, at + 2] as const)) {
    await vi.advanceTimersByTimeAsync(longestWait / 2 - 1)
    for (let i = 0; i < 20; i += 1) await turn()
    expect(asked).toBe(times - 1)
    await vi.advanceTimersByTimeAsync(longestWait / 2 + 1)
    await until(() => refusals === times)
  }
  link.open(address)
  await until(() => refusals === 8)
  expect(asked).toBe(8)
})
