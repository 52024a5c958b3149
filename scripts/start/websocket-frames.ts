// Finds the frame boundaries of a WebSocket stream (RFC 6455, section 5.2). It only stores the header
// of an incomplete frame, and the current length of the message.

const CLOSE = 0x8
/** The bits of a frame of control, and of the last one of a message. */
const CONTROL = 0x08
const LAST = 0x80
/** The runtime's overhead per frame in addition to the payload, until the message is complete. */
const FRAME_BYTES = 64
/** The runtime refuses a message that is longer (1009), and keeps nothing of it. */
export const LONGEST_MESSAGE_BYTES = 32 * 1024 * 1024
/** Two bytes, a length of eight and a mask of four. */
const MAX_HEAD_BYTES = 14

/** Follows the frames of one direction. */
export class FrameWatch {
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES)
  #headBytes = 0
  /** The remaining bytes of the current payload. */
  #bytesLeft = 0
  #isClose = false
  #hasClosed = false
  #messageBytes = 0
  #messageFrames = 0
  #frames = 0

  /** Parses the next bytes. Returns whether a complete close frame has passed, with them or before. */
  sees(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length && !this.#hasClosed; ) {
      if (this.#bytesLeft > 0) {
        const passed = Math.min(this.#bytesLeft, bytes.length - at)
        this.#bytesLeft -= passed
        at += passed
        this.#count(passed)
      } else {
        this.#head[this.#headBytes] = bytes[at] ?? 0
        this.#headBytes += 1
        at += 1
        if (this.#headBytes < headLength(this.#head, this.#headBytes)) continue
        this.#bytesLeft = payloadLength(this.#head)
        this.#isClose = ((this.#head[0] ?? 0) & 0x0f) === CLOSE
        this.#headBytes = 0
        this.#frames += 1
        this.#count(0)
      }
      if (this.#bytesLeft === 0 && this.#isClose) this.#hasClosed = true
    }
    return this.#hasClosed
  }

  /** How many frames have begun. */
  get frames(): number {
    return this.#frames
  }

  /** For an incomplete message: the bytes of its payload, plus the overhead of its frames. */
  get halfBytes(): number {
    return Math.min(this.#messageBytes, LONGEST_MESSAGE_BYTES) + this.#messageFrames * FRAME_BYTES
  }

  /** Whether the next byte would begin a frame. */
  get isBetween(): boolean {
    return this.#bytesLeft === 0 && this.#headBytes === 0
  }

  /** Control frames may come in the middle of a message and are not part of it. */
  #count(passed: number): void {
    const first = this.#head[0] ?? 0
    if ((first & CONTROL) !== 0) return
    const isWhole = this.#bytesLeft === 0 && (first & LAST) !== 0
    this.#messageBytes = isWhole ? 0 : this.#messageBytes + passed
    this.#messageFrames = isWhole ? 0 : this.#messageFrames + (passed === 0 ? 1 : 0)
  }
}

/** The length of the header, as far as its first bytes determine it. */
function headLength(head: Buffer, bytes: number): number {
  if (bytes < 2) return 2
  const second = head[1] ?? 0
  const short = second & 0x7f
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4)
}

function payloadLength(head: Buffer): number {
  const short = (head[1] ?? 0) & 0x7f
  if (short === 126) return head.readUInt16BE(2)
  return short === 127 ? Number(head.readBigUInt64BE(2)) : short
}
