// One stream to or from a port or the terminal, for both ends of the wire: pieces in order, and never more of them on their way than the
// other side has room for. A piece is acknowledged when it was used, so whoever reads slowly slows the writer.

import { BadFrame, type Frame, type PortFrameHead } from './frames.ts'
import { PORT_PIECE_BYTES, PORT_WINDOW_BYTES } from './wire.ts'

const NOTHING = new Uint8Array()

type StreamKind = PortFrameHead['t']

export const streamName = (kind: StreamKind, stream: number): string => `${kind}:${stream}`

/** What an acknowledged stream is one of; null for a stream of another kind. */
export function streamIn(name: string): { kind: StreamKind; stream: number } | null {
  const [, kind, digits] = /^(port|terminal):(\d{1,16})$/.exec(name) ?? []
  return digits === undefined ? null : { kind: kind as StreamKind, stream: Number(digits) }
}

/** The direction that this side writes. */
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

  /** Whether everything that was sent is used. */
  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** Bytes on their way: one piece may go beyond the window. */
  get isFull(): boolean {
    return this.#bytes >= PORT_WINDOW_BYTES
  }

  /** A body's bytes, in pieces, as fast as they are used. */
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

  /** The other side has used everything up to this piece. */
  acked(seq: number): void {
    while (this.#acked <= seq && this.#acked < this.#seq) {
      this.#bytes -= this.#sizes.shift() ?? 0
      this.#acked += 1
    }
    if (!this.isFull) for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves when another piece may go; also when the stream is over, which the writer must look at itself. */
  room(): Promise<void> {
    return this.isFull ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve()
  }

  /** Nobody acknowledges any more. */
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

/** The direction that the other side writes. */
export class PortReader {
  readonly #pieces: PortPiece[] = []
  #next = 0
  #held = 0
  #hasEnded = false
  #isBroken = false
  #wake: (() => void) | null = null

  /** Throws a `BadFrame` for what comes out of order, after the end, or beyond the window. */
  take({ seq, text, end }: PortFrameHead, bytes: Uint8Array): void {
    if (seq !== this.#next || this.#hasEnded) throw new BadFrame('a piece of a port out of order')
    if (this.#held >= PORT_WINDOW_BYTES) throw new BadFrame('more than the window of a port')
    this.#next += 1
    this.#held += bytes.byteLength
    this.#hasEnded = end
    this.#pieces.push({ bytes, text, end, seq })
    this.#wake?.()
  }

  /** Nothing more comes. What is here is not given out any more. */
  break(): void {
    this.#isBroken = true
    this.#wake?.()
  }

  /** The next piece, to be acknowledged by the caller when it was used; null when the stream broke off. */
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
