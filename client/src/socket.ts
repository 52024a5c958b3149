// A WebSocket as an iterator of texts. Node has a global one only since version 22, which cannot send headers, so under
// Node the protocol is implemented here, over a connection upgraded by node:http (RFC 6455, no extensions). Browsers
// use their own.

import type { IncomingMessage } from 'node:http'
import type { Socket as Connection } from 'node:net'
import { BellwetherError, ServiceError, Unreachable } from './errors.ts'

export type TextSocket = {
  /** Ends with the connection, whichever side ended it. */
  readonly texts: AsyncIterable<string>
  send(text: string): void
  close(): void
}

type Target = { url: string; headers: Record<string, string>; key: string | null; signal: AbortSignal }

const OPEN_MS = 20_000
/** A frame of the service contains at most one page of events; a larger one is not from the service. */
const MOST_BYTES = 256 * 1024 * 1024

export async function openSocket(target: Target): Promise<TextSocket> {
  return typeof process === 'object' && process.versions?.node !== undefined
    ? openInNode(target)
    : openInBrowser(target)
}

/** Texts that have not been read yet. */
class Arrivals implements AsyncIterable<string> {
  readonly #texts: string[] = []
  #wake: () => void = () => {}
  #over = false

  add(text: string): void {
    this.#texts.push(text)
    this.#wake()
  }

  end(): void {
    this.#over = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const text = this.#texts.shift()
      if (text !== undefined) yield text
      else if (this.#over) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

function openInBrowser({ url, key, signal }: Target): Promise<TextSocket> {
  const address = new URL(url)
  if (key !== null) address.searchParams.set('session_api_key', key)
  const socket = new WebSocket(address)
  const arrivals = new Arrivals()
  signal.addEventListener('abort', () => socket.close(), { once: true })
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => arrivals.add(String(data)))
    socket.addEventListener('close', () => {
      arrivals.end()
      reject(new Unreachable(url, new Error('the socket was refused')))
    })
    socket.addEventListener('open', () =>
      resolve({ texts: arrivals, send: (text) => socket.send(text), close: () => socket.close() }),
    )
  })
}

async function openInNode({ url, headers, signal }: Target): Promise<TextSocket> {
  const { randomBytes, createHash } = await import('node:crypto')
  const address = new URL(url.replace(/^ws/, 'http'))
  const { request } = address.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const nonce = randomBytes(16).toString('base64')
  const wanted = createHash('sha1').update(`${nonce}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  return new Promise((resolve, reject) => {
    const asked = request(address, {
      headers: {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': nonce,
      },
      signal,
      timeout: OPEN_MS,
    })
    asked.on('timeout', () => asked.destroy(new Error('no connection in time')))
    asked.on('error', (error) => reject(signal.aborted ? error : new Unreachable(address.origin, error)))
    asked.on('response', (response) => void refuse(response).then(reject, reject))
    asked.on('upgrade', (response, connection: Connection, head) => {
      if (response.headers['sec-websocket-accept'] !== wanted) {
        connection.destroy()
        reject(new Unreachable(address.origin, new Error('what answered is no WebSocket')))
        return
      }
      connection.setTimeout(0)
      const leave = () => connection.destroy()
      signal.addEventListener('abort', leave, { once: true })
      connection.once('close', () => signal.removeEventListener('abort', leave))
      resolve(speak(connection, head, (size) => randomBytes(size)))
    })
    asked.end()
  })
}

async function refuse(response: IncomingMessage): Promise<Error> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const headers = new Headers(
    Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    ),
  )
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // A proxy in front of the service may answer with a page.
  }
  return new ServiceError(response.statusCode ?? 0, body, headers)
}

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

function speak(connection: Connection, head: Buffer, random: (size: number) => Buffer): TextSocket {
  const arrivals = new Arrivals()
  const frames = new Frames()
  const send = (opcode: number, payload: Buffer) => {
    if (!connection.destroyed) connection.write(framed(opcode, payload, random(4)))
  }
  const take = (bytes: Buffer) => {
    try {
      for (const { opcode, payload } of frames.push(bytes)) {
        if (opcode === TEXT) arrivals.add(payload.toString())
        else if (opcode === PING) send(PONG, payload)
        else if (opcode === CLOSE) {
          send(CLOSE, payload.subarray(0, 2))
          connection.end()
        }
      }
    } catch (error) {
      connection.destroy(error instanceof Error ? error : undefined)
    }
  }
  connection.on('data', take)
  // `close` reports the end; the caller reconnects.
  connection.on('error', () => connection.destroy())
  connection.on('close', () => arrivals.end())
  if (head.length > 0) take(head)
  return {
    texts: arrivals,
    send: (text) => send(TEXT, Buffer.from(text)),
    close: () => {
      send(CLOSE, Buffer.from([3, 232]))
      connection.destroySoon()
      // The service may have disconnected without notice.
      setTimeout(() => connection.destroy(), 1_000).unref()
    },
  }
}

/** A client's frame is masked. */
function framed(opcode: number, payload: Buffer, mask: Buffer): Buffer {
  const { length } = payload
  const size = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const header = Buffer.alloc(2 + size)
  header[0] = 0x80 | opcode
  header[1] = 0x80 | (size === 0 ? length : size === 2 ? 126 : 127)
  if (size === 2) header.writeUInt16BE(length, 2)
  if (size === 8) header.writeBigUInt64BE(BigInt(length), 2)
  const masked = Buffer.from(payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)))
  return Buffer.concat([header, mask, masked])
}

type Message = { opcode: number; payload: Buffer }

/** Assembles frames, and messages of several frames. */
class Frames {
  #chunks: Buffer[] = []
  #held = 0
  #needed = 2
  #parts: Buffer[] = []
  #opcode = 0

  push(bytes: Buffer): Message[] {
    this.#chunks.push(bytes)
    this.#held += bytes.length
    const messages: Message[] = []
    while (this.#held >= this.#needed) {
      const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? bytes) : Buffer.concat(this.#chunks)
      this.#chunks = [all]
      const frame = frameAt(all)
      this.#needed = frame.end
      if (all.length < frame.end) continue
      this.#chunks = [all.subarray(frame.end)]
      this.#held -= frame.end
      this.#needed = 2
      const message = this.#add(all, frame)
      if (message !== null) messages.push(message)
    }
    return messages
  }

  #add(all: Buffer, { start, end, opcode, isLast }: Frame): Message | null {
    const payload = all.subarray(start, end)
    if (opcode >= CLOSE) return { opcode, payload }
    if (opcode !== 0) this.#opcode = opcode
    this.#parts.push(payload)
    if (!isLast) return null
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    return { opcode: this.#opcode, payload: whole }
  }
}

type Frame = { start: number; end: number; opcode: number; isLast: boolean }

function frameAt(bytes: Buffer): Frame {
  const [first = 0, second = 0] = bytes
  const short = second & 0x7f
  const size = short === 126 ? 2 : short === 127 ? 8 : 0
  const start = 2 + size
  const opcode = first & 0x0f
  const isLast = (first & 0x80) !== 0
  // Its length is not known yet.
  if (bytes.length < start) return { start, end: start, opcode, isLast }
  const length = size === 0 ? short : size === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (length > MOST_BYTES) throw new BellwetherError('too_large', 'The service sent a frame that is too large')
  return { start, end: start + length, opcode, isLast }
}
