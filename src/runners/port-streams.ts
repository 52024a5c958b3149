// One stream from or to a port or the terminal, for both ends of the wire: pieces in order, and never more
// unacknowledged bytes than the window allows. A piece is acknowledged when it was consumed, so a slow reader slows the
// writer down.

import { BadFrame, type Frame, type PortFrameHead } from './frames.ts'
import { PORT_PIECE_BYTES, PORT_WINDOW_BYTES } from './port-wire.ts'

const NOTHING = new Uint8Array()

type StreamKind = PortFrameHead['t']

export const streamName = (kind: StreamKind, stream: number): string => `${kind}:${stream}`

/** The kind and number in the name of an acknowledged stream; null for another kind of stream. */
export function streamIn(name: string): { kind: StreamKind; stream: number } | null {
  const [, kind, digits] = /^(port|terminal):(\d{1,16})$/.exec(name) ?? []
  return digits === undefined ? null : { kind: kind as StreamKind, stream: Number(digits) }
}

/** The direction in which this side writes. */
export class PortWriter {
  readonly #stream: number
  readonly #send: (frame: Frame) => void
  readonly #kind: StreamKind
  readonly #sizes: number[] = []
  #seq = 0
  #acked = 0
  #bytes = 0
  #waiting: (() => void)[] = []

  constructor(stream: number, send: (frame: Frame) => void, kind: StreamKind = 'port') {
    this.#stream = stream
    this.#send = send
    this.#kind = kind
  }

  /** Whether everything that was sent is acknowledged. */
  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** Whether the window is full; the last piece may exceed it. */
  get isFull(): boolean {
    return this.#bytes >= PORT_WINDOW_BYTES
  }

  /** Sends the bytes of a body in pieces, as fast as they are acknowledged. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength; at += PORT_PIECE_BYTES) {
      await this.room()
      this.push(bytes.subarray(at, at + PORT_PIECE_BYTES))
    }
  }

  push(bytes: Uint8Array, { text = false, end = false }: { text?: boolean; end?: boolean } = {}): void {
    this.#sizes.push(bytes.byteLength)
    this.#bytes += bytes.byteLength
    this.#send({ head: { t: this.#kind, stream: this.#stream, seq: this.#seq++, text, end }, bytes })
  }

  end(): void {
    this.push(NOTHING, { end: true })
  }

  /** The other side has consumed everything up to this piece. */
  acked(seq: number): void {
    while (this.#acked <= seq && this.#acked < this.#seq) {
      this.#bytes -= this.#sizes.shift() ?? 0
      this.#acked += 1
    }
    if (!this.isFull) for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves when another piece may be sent; also when the stream is over, which the writer must check itself. */
  room(): Promise<void> {
    return this.isFull ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve()
  }

  /** There will be no more acknowledgements. */
  over(): void {
    this.#bytes = 0
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export type PortPiece = {
  readonly bytes: Uint8Array
  readonly text: boolean
  readonly end: boolean
  readonly seq: number
}

/** The direction in which the other side writes. */
export class PortReader {
  readonly #pieces: PortPiece[] = []
  #next = 0
  #held = 0
  #hasEnded = false
  #isBroken = false
  #wake: (() => void) | null = null

  /** Throws a `BadFrame` for a piece out of order, after the end, or beyond the window. */
  take({ seq, text, end }: PortFrameHead, bytes: Uint8Array): void {
    if (seq !== this.#next || this.#hasEnded) throw new BadFrame('a piece of a port out of order')
    if (this.#held >= PORT_WINDOW_BYTES) throw new BadFrame('more than the window of a port')
    this.#next += 1
    this.#held += bytes.byteLength
    this.#hasEnded = end
    this.#pieces.push({ bytes, text, end, seq })
    this.#wake?.()
  }

  /** No more data comes, and the received data is dropped. */
  break(): void {
    this.#isBroken = true
    this.#wake?.()
  }

  /** The next piece, which the caller must acknowledge when it was consumed; null when the stream was interrupted. */
  async next(): Promise<PortPiece | null> {
    while (this.#pieces.length === 0 && !this.#isBroken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const piece = this.#isBroken ? undefined : this.#pieces.shift()
    if (piece === undefined) return null
    this.#held -= piece.bytes.byteLength
    return piece
  }
}

// A body on its way from the object to the Worker. Between the two an interrupted body looks complete, so it is sent in
// pieces: four bytes of length, the bytes, and at the end an empty piece.

const HEAD_BYTES = 4

export function pieceHead(length: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES)
  new DataView(head.buffer).setUint32(0, length)
  return head
}

export const endPiece = (): Uint8Array => new Uint8Array(HEAD_BYTES)

/**
 * The bytes of the pieces, each as soon as it arrives; an error for a body without an end. The signal fires when nobody
 * reads any more.
 */
export function wholeBody(coming: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = coming.getReader()
  const pieces = new Pieces()
  const leave = () => reader.cancel('the client left')
  signal.addEventListener('abort', () => void leave())
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done && !pieces.hasEnded) throw new Error('the answer broke off')
          if (done) return controller.close()
          const parts = [...pieces.of(value)]
          for (const part of parts) controller.enqueue(part)
          if (parts.length > 0) return
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}

class Pieces {
  hasEnded = false
  readonly #head = new Uint8Array(HEAD_BYTES)
  #headBytes = 0
  #left = 0;

  *of(bytes: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; ) {
      if (this.#left > 0) {
        const part = bytes.subarray(at, at + this.#left)
        yield part
        this.#left -= part.byteLength
        at += part.byteLength
        continue
      }
      this.#head[this.#headBytes++] = bytes[at++] ?? 0
      if (this.#headBytes < HEAD_BYTES) continue
      this.#headBytes = 0
      this.#left = new DataView(this.#head.buffer).getUint32(0)
      this.hasEnded = this.#left === 0
    }
  }
}
