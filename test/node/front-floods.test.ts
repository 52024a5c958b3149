// What clients say over sockets more of than the runtime can take: the front of `npm start` hears them later, or not to the end.

import { once } from 'node:events'
import { request as ask } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { FairShare, SHARES } from '../../scripts/start/fair-share.ts'
import { FramePace } from '../../scripts/start/frame-pace.ts'
import { Front } from '../../scripts/start/front.ts'
import { joinSockets } from '../../scripts/start/front-sockets.ts'
import { freePort } from '../../scripts/start/port.ts'
import { FrameWatch } from '../../scripts/start/websocket-frames.ts'
import { listening } from '../support/listening.ts'

const HEAD = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

/** A runtime that takes all that it is told, and counts the bytes. */
async function listenerOf(): Promise<{ port: number; passed: () => number }> {
  let passed = 0
  const { server, port } = await listening((_request, response) => response.end())
  server.on('upgrade', (_request, socket: Duplex) => {
    socket.write(HEAD)
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      passed += bytes.length
    })
  })
  return { port, passed: () => passed }
}

/** A client that begins a message of so many bytes, and says all of it but the last byte. */
async function saysByHalves(port: number, bytes: number) {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const heard: Buffer[] = []
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => heard.push(chunk))
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'data')
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(bytes))
  socket.write(Buffer.concat([Buffer.from([0x81, 0xff]), length, Buffer.alloc(4), Buffer.alloc(bytes - 1)]))
  return { socket, heard: () => Buffer.concat(heard) }
}

test('what an owner says by halves on all his sockets is as much as two messages may be', async () => {
  const { port: backend, passed } = await listenerOf()
  const port = await freePort()
  const front = await Front.listen(port, 'word')
  onTestFinished(() => front.close())
  front.serveFrom(backend)
  const MIB = 1024 * 1024
  const [first, second] = [await saysByHalves(port, 31 * MIB), await saysByHalves(port, 31 * MIB)]
  await expect.poll(passed).toBe(62 * MIB - 2 + 2 * 14)
  const third = await saysByHalves(port, 3 * MIB)
  await once(third.socket, 'close')
  expect(third.heard().subarray(-45).readUInt16BE(2)).toBe(1013)
  expect(third.heard().subarray(-41).toString()).toBe('too much of this owner has not come whole')
  // One that is longer than any may be is refused by the runtime, which keeps nothing of it.
  const alone = new FrameWatch()
  alone.sees(Buffer.concat([Buffer.from([0x81, 0x7f]), Buffer.from('0000000040000000', 'hex'), Buffer.alloc(40 * MIB)]))
  expect(alone.halfBytes).toBe(32 * MIB + 64)
  // A message that is whole is no half, and one who leaves takes his along.
  second.socket.write('.')
  await expect.poll(passed).toBeGreaterThan(62 * MIB)
  const fourth = await saysByHalves(port, 30 * MIB)
  await expect.poll(passed).toBeGreaterThan(92 * MIB)
  first.socket.destroy()
  await once(first.socket, 'close')
  expect([second, fourth].map(({ socket }) => socket.destroyed)).toEqual([false, false])
})

test('an owner says so many frames and bytes in a second, over all sockets together', () => {
  const pace = new FramePace({ perSecond: 100, burst: 200, longestMs: 3_000 })
  expect(pace.said('ann', 150, 0, 0)).toBe(0)
  expect(pace.said('ann', 0, 50 * 1024, 0)).toBe(0)
  expect(pace.said('ann', 50, 0, 0)).toBe(500)
  expect(pace.said('ben', 50, 0, 0)).toBe(0)
  // What is made up for is said again, and a debt has an end.
  expect(pace.said('ann', 20, 0, 1_000)).toBe(0)
  expect(pace.said('ann', 1e9, 0, 1_000)).toBe(3_000)
  expect(pace.said('ann', 100, 0, 5_000)).toBe(0)

  const share = new FairShare(SHARES)
  const ask = (name: string) => share.turn(name, 'read', () => false)
  void ask('ann')
  expect(share.isBesideOthers('ann')).toBe(false)
  void ask('ben')
  expect([share.isBesideOthers('ann'), share.isBesideOthers('ben')]).toEqual([true, true])
})

test('a client that has to wait is not read, and is heard whole in the end', async () => {
  let told = 0
  const { port: backend, passed } = await listenerOf()
  const waits: boolean[] = []
  const { server: front, port } = await listening((_request, response) => response.end())
  front.on('upgrade', (_request, socket: Duplex, head: Buffer) => {
    const out = ask({ host: '127.0.0.1', port: backend, headers: { connection: 'Upgrade', upgrade: 'websocket' } })
    out.end()
    out.once('upgrade', (answer, end, first) => {
      const pause = (frames: number) => {
        told += frames
        queueMicrotask(() => waits.push(socket.isPaused()))
        return 2
      }
      joinSockets({ answer, backend: end, first, socket, head, mayWait: () => true, pause })
    })
  })
  const client = connect(port, '127.0.0.1')
  onTestFinished(() => void client.destroy())
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(client, 'data')
  // It has to wait before it has said anything.
  await expect.poll(() => waits).toEqual([true])
  const pings = Buffer.concat(Array<Buffer>(50_000).fill(Buffer.from([0x89, 0x80, 0, 0, 0, 0])))
  client.write(pings)
  await expect.poll(passed, { timeout: 20_000 }).toBe(pings.length)
  expect(told).toBe(50_000)
  expect(waits.length).toBeGreaterThan(1)
  expect(waits.every(Boolean)).toBe(true)
})

test('a message is a half until its last frame is whole; frames of control count for nothing', () => {
  const frame = (first: number, text: string) => Buffer.from([first, text.length, ...Buffer.from(text)])
  const bytes = Buffer.concat([
    frame(0x01, 'abc'),
    frame(0x89, 'ping'),
    frame(0x00, ''),
    frame(0x00, 'de'),
    frame(0x80, 'f'),
  ])
  const watch = new FrameWatch()
  const halves = Array.from(bytes, (byte) => {
    watch.sees(Buffer.from([byte]))
    return watch.halfBytes
  })
  // A frame costs 64 bytes beside what is in it.
  const [one, two, three, four] = [64, 128, 192, 256]
  const first = [0, one, one + 1, one + 2, one + 3, ...Array(6).fill(one + 3), one + 3, two + 3]
  expect(halves).toEqual([...first, two + 3, three + 3, three + 4, three + 5, three + 5, four + 5, 0])
  expect(watch.frames).toBe(5)
  expect(watch.isBetween).toBe(true)
})
