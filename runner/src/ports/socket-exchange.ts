// One WebSocket to a server in the sandbox, message by message.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import WebSocket from 'ws'
import { PortReader, PortWriter } from '../../../src/runners/port-streams.ts'
import { MAX_PORT_MESSAGE_BYTES, type PortOpen } from '../../../src/runners/port-wire.ts'
import type { Exchange } from './http-exchange.ts'
import { type Line, reasonOf } from './ports.ts'

const HANDSHAKE_MS = 30_000

export function socketExchange(wanted: PortOpen, line: Line, connect: (port: number) => Promise<Socket>): Exchange {
  const { port, stream } = wanted
  const coming = new PortReader()
  const going = new PortWriter(stream, line.send)
  let socket: WebSocket | null = null
  let isOver = false
  const stop = (code = 1001) => {
    isOver = true
    coming.break()
    going.over()
    if (socket?.readyState === WebSocket.OPEN) socket.close(isSendable(code) ? code : 1001)
    else socket?.terminate()
  }
  const fail = (reason: string, code?: number) => {
    if (isOver) return
    stop()
    line.close(reason, code)
  }
  const begin = async () => {
    const raw = await connect(port)
    if (isOver) return raw.destroy()
    const begun = opened(wanted, raw)
    socket = begun
    listen(begun, { line, going, fail })
    await once(begun, 'open')
    await deliver(coming, begun, line)
  }
  begin().catch((error) => fail(reasonOf(error)))
  return { take: (head, bytes) => coming.take(head, bytes), acked: (seq) => going.acked(seq), breakOff: stop }
}

function opened({ port, path, headers }: PortOpen, raw: Socket): WebSocket {
  const protocols = headers
    .filter(([name]) => name.toLowerCase() === 'sec-websocket-protocol')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim()))
  const others = headers.filter(([name]) => !/^(sec-websocket-.*|host|content-length)$/i.test(name))
  return new WebSocket(`ws://localhost:${port}${path}`, protocols, {
    headers: Object.fromEntries(others),
    createConnection: () => raw as Duplex as Socket,
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
    maxPayload: MAX_PORT_MESSAGE_BYTES,
    followRedirects: false,
  })
}

type Outgoing = { line: Line; going: PortWriter; fail: (reason: string, code?: number) => void }

function listen(socket: WebSocket, { line, going, fail }: Outgoing): void {
  socket.once('upgrade', ({ rawHeaders }) => {
    const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'sec-websocket-protocol')
    line.head(101, at < 0 ? [] : [['sec-websocket-protocol', rawHeaders[at + 1] ?? '']])
  })
  socket.on('message', (data, isBinary) => {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)
    going.push(bytes, { text: !isBinary })
    if (!going.isFull) return
    socket.pause()
    void going.room().then(() => socket.resume())
  })
  socket.on('unexpected-response', (_request, response) => {
    response.resume()
    fail(`the server answered ${response.statusCode} to a WebSocket`)
    socket.terminate()
  })
  socket.on('error', (error) => fail(error.message))
  socket.on('close', (code, reason) => fail(reason.toString() || 'the server closed the socket', code))
}

async function deliver(coming: PortReader, socket: WebSocket, line: Line): Promise<void> {
  for (let piece = await coming.next(); piece !== null; piece = await coming.next()) {
    const { bytes, text, seq } = piece
    await new Promise<void>((resolve, reject) => {
      socket.send(bytes, { binary: !text }, (error) => (error ? reject(error) : resolve()))
    })
    line.used(seq)
  }
}

const isSendable = (code: number): boolean => code === 1000 || (code >= 3000 && code <= 4999)
