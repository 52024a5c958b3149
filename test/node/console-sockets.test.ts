import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { closeQuietly } from '../../src/web/close-quietly.ts'

/** A service that lets a socket open when the test says so. */
async function lateService() {
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>()
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: (_info, answer) => void allowed.then(() => answer(true)),
  })
  const closed = new Promise<number>((resolve) => {
    server.on('connection', (socket) => socket.on('close', resolve))
  })
  await once(server, 'listening')
  return { server, allow, closed, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a socket that is given up while it opens is closed once it is open, and never fails', async () => {
  const { server, allow, closed, url } = await lateService()
  const socket = new WebSocket(url)
  const failures: Event[] = []
  socket.addEventListener('error', (event) => failures.push(event))
  closeQuietly(socket, 1000)
  expect(socket.readyState).toBe(WebSocket.CONNECTING)
  allow()
  expect(await closed).toBe(1000)
  expect(failures).toEqual([])
  server.close()
})

test('an open socket is closed at once', async () => {
  const { server, allow, closed, url } = await lateService()
  allow()
  const socket = new WebSocket(url)
  await once(socket, 'open')
  closeQuietly(socket, 1000)
  expect(socket.readyState).toBe(WebSocket.CLOSING)
  expect(await closed).toBe(1000)
  server.close()
})
