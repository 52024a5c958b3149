// WebSocket clients that count the events they are sent and look at nothing else.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Frame, FrameReader } from './frames.ts'
import { openSocket } from './http-connection.ts'

const HEAD_END = Buffer.from('\r\n\r\n')
/** Stands once in every stored event, and nowhere else in what the benchmarks write. */
const EVENT_MARK = Buffer.from('"timestamp":"')
const PATIENCE_MS = 10_000
/** The server's question whether its client keeps up; the answer is the same text, masked with zeros as clients must. */
const CHECK = Buffer.from('{"type":"check"}')
const CHECK_ANSWER = Buffer.concat([Buffer.from([0x81, 0x80 | CHECK.length, 0, 0, 0, 0]), CHECK])

export type SocketTarget = {
  readonly port: number
  readonly path: string
  /** Header lines beside those of the handshake, each with its line end. */
  readonly headers: string
}

export class Watchers {
  readonly #watchers: Watcher[]

  private constructor(watchers: Watcher[]) {
    this.#watchers = watchers
  }

  static async open(target: SocketTarget, count: number): Promise<Watchers> {
    return new Watchers(await Promise.all(Array.from({ length: count }, () => Watcher.open(target))))
  }

  /** Settles when every socket has counted so many events since it was opened; throws when that does not happen. */
  async until(events: number): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (this.#watchers.some((watcher) => watcher.events < events)) {
      if (performance.now() > deadline)
        throw new Error(`${events} events were sent, and the sockets got ${this.#counts()}`)
      await sleep(5)
    }
    if (this.#watchers.some((watcher) => watcher.events > events)) {
      throw new Error(`${events} events were sent, and the sockets got more: ${this.#counts()}`)
    }
  }

  #counts(): string {
    return this.#watchers.map(({ events }) => events).join(', ')
  }
}

export class Watcher {
  readonly #socket: Socket
  readonly #firstEvent = Promise.withResolvers<void>()
  #events = 0

  private constructor(socket: Socket, rest: Buffer) {
    this.#socket = socket
    // Whoever does not wait for the first event need not hear that it never came.
    this.#firstEvent.promise.catch(() => {})
    const reader = new FrameReader((frame) => this.#take(frame))
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    socket.on('error', (error) => this.#firstEvent.reject(error))
    socket.on('close', () => this.#firstEvent.reject(new Error('the server closed the socket')))
    reader.push(rest)
  }

  static async open({ port, path, headers }: SocketTarget): Promise<Watcher> {
    const socket = await openSocket(port)
    const key = randomBytes(16).toString('base64')
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${headers}\r\n`,
    )
    return new Watcher(socket, await handshake(socket))
  }

  get events(): number {
    return this.#events
  }

  get firstEvent(): Promise<void> {
    return this.#firstEvent.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #take({ isText, isClose, payload }: Frame): void {
    if (isClose) this.#socket.destroy()
    if (!isText) return
    if (payload.equals(CHECK)) this.#socket.write(CHECK_ANSWER)
    for (let at = payload.indexOf(EVENT_MARK); at >= 0; at = payload.indexOf(EVENT_MARK, at + EVENT_MARK.length)) {
      this.#events += 1
    }
    if (this.#events > 0) this.#firstEvent.resolve()
  }
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
