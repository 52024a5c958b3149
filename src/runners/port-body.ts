// A body on its way from the object to the Worker. Between the two a body that breaks off looks whole, so it goes in pieces:
// four bytes of length, the bytes, and at the end a piece without any.

const HEAD_BYTES = 4

export function pieceHead(length: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES)
  new DataView(head.buffer).setUint32(0, length)
  return head
}

export const endPiece = (): Uint8Array => new Uint8Array(HEAD_BYTES)

/** The bytes of the pieces, each as soon as it comes; an error for a body without an end. The signal says that nobody reads on. */
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
