// Reads WebSocket frames from a server without building strings: a frame is a range of bytes. Servers never mask.

const EMPTY = Buffer.alloc(0)
const TEXT = 0x1
const CLOSE = 0x8

export type Frame = { readonly isText: boolean; readonly isClose: boolean; readonly payload: Buffer }

export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  #received: Buffer = EMPTY

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
  }

  push(chunk: Buffer): void {
    const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    let at = 0
    for (let end = this.#read(bytes, at); end !== null; end = this.#read(bytes, at)) at = end
    this.#received = at === bytes.length ? EMPTY : bytes.subarray(at)
  }

  /** Where the frame that begins at `at` ends, or null when it is not whole yet. */
  #read(bytes: Buffer, at: number): number | null {
    if (bytes.length < at + 2) return null
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const from = at + (short === 126 ? 4 : short === 127 ? 10 : 2)
    if (bytes.length < from) return null
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short
    if (bytes.length < from + length) return null
    const opcode = (bytes[at] ?? 0) & 0x0f
    const payload = bytes.subarray(from, from + length)
    this.#onFrame({ isText: opcode === TEXT, isClose: opcode === CLOSE, payload })
    return from + length
  }
}
