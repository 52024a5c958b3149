// Requests and sockets to the ports of a conversation's runner; each is a stream of its own on the runner's connection.
// If a runner sends frames that do not belong to a stream, or more than the window, its connection is closed.

import { joinBytes } from '../../../../src/lib/bytes.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import type { Frame } from '../../../../src/runners/frames.ts'
import { endPiece, PortReader, PortWriter, pieceHead, streamName } from '../../../../src/runners/port-streams.ts'
import {
  MAX_PORT_MESSAGE_BYTES,
  MAX_PORT_STREAMS,
  type PortClose,
  type PortHead,
  type PortOpen,
} from '../../../../src/runners/port-wire.ts'
import type { RpcPeer } from '../../../../src/runners/rpc.ts'

/** What a stream uses of the runner's connection; null while there is none. */
export type PortLink = { readonly peer: RpcPeer; sendFrame(frame: Frame): void }

/** The server's answer, or why there is none. */
export type PortAnswer =
  | { readonly ok: true; readonly head: PortHead; readonly stream: PortStream }
  | { readonly ok: false; readonly reason: string }

/** Messages of a client that the server has not taken yet. */
const MAX_WAITING_BYTES = 2 * MAX_PORT_MESSAGE_BYTES
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export class PortStreams {
  readonly #link: () => PortLink | null
  readonly #open = new Map<number, PortStream>()
  /** Not from 0: streams that an earlier instance of this object began may still be open. */
  #next = Math.floor(Math.random() * 2 ** 40)

  constructor(link: () => PortLink | null) {
    this.#link = link
  }

  /** Resolves when the server has answered. */
  async ask(wanted: Omit<PortOpen, 'stream'>, body: ReadableStream<Uint8Array> | null): Promise<PortAnswer> {
    const link = this.#link()
    if (link === null) return { ok: false, reason: 'The runner of this conversation is not connected.' }
    if (this.#open.size >= MAX_PORT_STREAMS) this.#endQuietest()
    const id = this.#next++
    const stream = new PortStream({ id, port: wanted.port, link, forget: () => this.#open.delete(id) })
    this.#open.set(id, stream)
    link.peer.tell('port/open', { ...wanted, stream: id })
    if (body !== null) void stream.send(body)
    return stream.answer
  }

  /**
   * The runtime does not report a client that leaves while nothing is sent to it, so the stream that was idle longest
   * is closed to make room.
   */
  #endQuietest(): void {
    let quietest: PortStream | null = null
    for (const stream of this.#open.values())
      if (quietest === null || stream.movedAt < quietest.movedAt) quietest = stream
    quietest?.giveUp('other requests need the room')
  }

  head(head: PortHead): void {
    this.#open.get(head.stream)?.answered(head)
  }

  /** Throws a `BadFrame` for a frame that does not fit its stream. Frames of a closed stream are ignored. */
  received({ head, bytes }: Frame): void {
    if (head.t === 'port') this.#open.get(head.stream)?.reader.take(head, bytes)
  }

  acked(stream: number, seq: number): void {
    this.#open.get(stream)?.writer.acked(seq)
  }

  closed({ stream, reason, code }: PortClose): void {
    this.#open.get(stream)?.closed(reason, code)
  }

  /** Closes all streams of the port. */
  endAt(port: number): void {
    for (const stream of this.#open.values()) if (stream.port === port) stream.giveUp('the address was taken back')
  }

  /** The connection is lost, and all streams with it. */
  lost(): void {
    for (const stream of this.#open.values()) stream.closed('The connection to the runner broke.', 1012)
    this.#open.clear()
  }
}

class PortStream {
  readonly reader = new PortReader()
  readonly writer: PortWriter
  readonly answer: Promise<PortAnswer>
  readonly port: number
  movedAt = Date.now()
  readonly #id: number
  readonly #link: PortLink
  readonly #forget: () => void
  readonly #settle: (answer: PortAnswer) => void
  #isOver = false
  #socket: WebSocket | null = null
  #waitingBytes = 0

  constructor({ id, port, link, forget }: { id: number; port: number; link: PortLink; forget: () => void }) {
    this.port = port
    this.#id = id
    this.#link = link
    this.#forget = forget
    this.writer = new PortWriter(id, (frame) => {
      if (!this.#isOver) link.sendFrame(frame)
    })
    const { promise, resolve } = Promise.withResolvers<PortAnswer>()
    this.answer = promise
    this.#settle = resolve
  }

  answered(head: PortHead): void {
    this.#settle({ ok: true, head, stream: this })
  }

  /** The stream was closed by the runner, or because of a protocol error. */
  closed(reason: string, code = 1011): void {
    if (this.#isOver) return
    this.#end()
    this.#settle({ ok: false, reason })
    this.#socket?.close(isSendable(code) ? code : 1011, reason.slice(0, 100))
  }

  /** Closes the stream because nobody reads it any more. */
  giveUp(reason: string, code?: number): void {
    if (this.#isOver) return
    this.#end()
    this.#settle({ ok: false, reason })
    this.#socket?.close(isSendable(code ?? 1001) ? code : 1011, reason.slice(0, 100))
    try {
      this.#link.peer.tell('port/close', { stream: this.#id, reason, ...(code !== undefined && { code }) })
    } catch (error) {
      log.debug('port.not_closed', errorFields(error))
    }
  }

  /** Sends the client's body as fast as the server reads it. */
  async send(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const bytes of body) {
        await this.writer.write(bytes)
        if (this.#isOver) return
      }
      this.writer.end()
    } catch (error) {
      log.debug('port.body_broken', errorFields(error))
      this.giveUp('the client broke off')
    }
  }

  /** The server's body, as fast as it is read. */
  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = await this.reader.next()
          // The final piece carries no bytes.
          if (piece === null) return controller.close()
          if (piece.bytes.byteLength > 0)
            controller.enqueue(joinBytes([pieceHead(piece.bytes.byteLength), piece.bytes]))
          this.#used(piece.seq)
          if (!piece.end) return
          this.#end()
          controller.enqueue(endPiece())
          controller.close()
        },
        cancel: () => this.giveUp('the client left'),
      },
      { highWaterMark: 0 },
    )
  }

  /** Connects a client's socket with the server's. */
  join(socket: WebSocket): void {
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => this.#said(socket, data as string | ArrayBuffer))
    socket.addEventListener('close', ({ code, reason }) => this.giveUp(reason.slice(0, 100) || 'closed', code))
    socket.addEventListener('error', () => this.giveUp('the client is gone'))
    socket.accept()
    void this.#deliver(socket)
  }

  #said(socket: WebSocket, data: string | ArrayBuffer): void {
    const isText = typeof data === 'string'
    const bytes = isText ? encoder.encode(data) : new Uint8Array(data)
    this.#waitingBytes += bytes.byteLength
    if (bytes.byteLength > MAX_PORT_MESSAGE_BYTES || this.#waitingBytes > MAX_WAITING_BYTES) {
      socket.close(1009, 'more than the server takes')
      this.giveUp('more than the server takes', 1009)
      return
    }
    void this.writer.room().then(() => {
      this.#waitingBytes -= bytes.byteLength
      if (!this.#isOver) this.writer.push(bytes, { text: isText })
    })
  }

  async #deliver(socket: WebSocket): Promise<void> {
    try {
      for (let piece = await this.reader.next(); piece !== null; piece = await this.reader.next()) {
        socket.send(piece.text ? decoder.decode(piece.bytes) : piece.bytes)
        this.#used(piece.seq)
      }
    } catch (error) {
      log.debug('port.socket_broken', errorFields(error))
      this.giveUp('the client is gone')
    }
  }

  #used(seq: number): void {
    this.movedAt = Date.now()
    if (!this.#isOver) this.#link.peer.tell('frame/ack', { stream: streamName('port', this.#id), seq })
  }

  #end(): void {
    this.#isOver = true
    this.reader.break()
    this.writer.over()
    this.#forget()
  }
}

const isSendable = (code: number): boolean =>
  code === 1000 || code === 1011 || code === 1012 || (code >= 3000 && code <= 4999)
