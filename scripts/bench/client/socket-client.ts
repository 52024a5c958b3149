// A WebSocket client over a plain socket, of either protocol, that does as little as it can beside what the protocol asks.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Frame, FrameReader } from './frames.ts'
import { openSocket } from './http-connection.ts'

const HEAD_END = Buffer.from('\r\n\r\n')
/** The server's question whether its client keeps up; the answer is the same text. */
const CHECK = Buffer.from('{"type":"check"}')
const CHECK_ANSWER = masked('{"type":"check"}')
const PING = Buffer.from('2')
const PONG = masked('3')
const JOIN = masked('40')
const JOINED = Buffer.from('40{')

export type SocketTarget = {
  readonly port: number
  readonly path: string
  /** Header lines beside those of the handshake, each with its line end. */
  readonly headers: string
  readonly protocol: 'plain' | 'socket.io'
}

type Listener = {
  /** Called with each text that is not of the protocol's own; the bytes belong to the client. */
  text(payload: Buffer): void
  closed?(error: Error): void
}

export class SocketClient {
  readonly #socket: Socket
  readonly #on: Listener

  private constructor(socket: Socket, on: Listener) {
    this.#socket = socket
    this.#on = on
    socket.on('error', (error) => on.closed?.(error))
    socket.on('close', () => on.closed?.(new Error('the server closed the socket')))
  }

  /** Settles when the client has joined. */
  static async open({ port, path, headers, protocol }: SocketTarget, on: Listener): Promise<SocketClient> {
    const socket = await openSocket(port)
    const key = randomBytes(16).toString('base64')
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${headers}\r\n`,
    )
    const rest = await handshake(socket)
    const client = new SocketClient(socket, on)
    await client.#join(protocol, rest)
    return client
  }

  /** Sends all of it in one write. */
  send(texts: readonly string[]): void {
    this.#socket.write(Buffer.concat(texts.map(masked)))
  }

  /** Reads nothing any more: what the server sends piles up. */
  stall(): void {
    this.#socket.pause()
  }

  /** Without a word to the server. */
  close(): void {
    this.#socket.destroy()
  }

  #join(protocol: SocketTarget['protocol'], rest: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once('close', () => reject(new Error('the server closed the socket before the client had joined')))
      const take = (frame: Frame) => {
        if (this.#take(frame)) resolve()
      }
      const reader = new FrameReader(take)
      this.#socket.on('data', (chunk: Buffer) => reader.push(chunk))
      if (protocol === 'socket.io') this.#socket.write(JOIN)
      else resolve()
      reader.push(rest)
    })
  }

  /** True for the answer to a request to join. */
  #take({ isText, isClose, payload }: Frame): boolean {
    if (isClose) this.#socket.destroy()
    else if (!isText) return false
    else if (payload.equals(CHECK)) this.#socket.write(CHECK_ANSWER)
    else if (payload.equals(PING)) this.#socket.write(PONG)
    else if (payload.subarray(0, JOINED.length).equals(JOINED)) return true
    else this.#on.text(payload)
    return false
  }
}

/** A text frame as clients send it, under a mask of zeros. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([0x81, 0x80 | length, 0, 0, 0, 0]), payload])
  const isShort = length < 65_536
  const head = Buffer.alloc(isShort ? 8 : 14)
  head[0] = 0x81
  head[1] = 0x80 | (isShort ? 126 : 127)
  if (isShort) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

/** What came after the head of the answer. */
function handshake(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const at = received.indexOf(HEAD_END)
      if (at < 0) return
      socket.off('data', onData)
      socket.off('close', onClose)
      if (received.toString('latin1', 9, 12) === '101') resolve(received.subarray(at + HEAD_END.length))
      else reject(new Error(`no socket: ${received.toString('latin1').slice(0, 500)}`))
    }
    const onClose = () => reject(new Error('the server closed the connection in the handshake'))
    socket.on('data', onData)
    socket.on('close', onClose)
  })
}
