// Streamed contents, part by part.

/** A client that sends single bytes must not cause one stored array per byte. */
const FIRST_BUFFER_BYTES = 4096

/** The same bytes in parts of exactly `size`; only the last may be smaller. Each is overwritten by the next. */
export async function* regroup(parts: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let buffer = new Uint8Array(0)
  let filled = 0
  for await (const part of parts) {
    for (let from = 0; from < part.byteLength; ) {
      const wanted = Math.min(size, filled + part.byteLength - from)
      if (buffer.byteLength < wanted) buffer = grown(buffer, Math.min(size, Math.max(wanted, 2 * buffer.byteLength)))
      buffer.set(part.subarray(from, from + wanted - filled), filled)
      from += wanted - filled
      filled = wanted
      if (filled < size) continue
      yield buffer
      filled = 0
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled)
}

function grown(buffer: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(size, FIRST_BUFFER_BYTES))
  larger.set(buffer)
  return larger
}

const BLOCK_BYTES = 64 * 1024

/** Copies the bytes of many small arrays into few large ones, which can be reused. */
export class ByteBlocks {
  #full: Uint8Array[] = []
  #last: Uint8Array = new Uint8Array(BLOCK_BYTES)
  #filled = 0
  readonly #free: Uint8Array[] = []
  /** The total size of all added bytes. */
  sizeBytes = 0

  add(bytes: Uint8Array): void {
    this.sizeBytes += bytes.byteLength
    for (let from = 0; from < bytes.byteLength; ) {
      const part = bytes.subarray(from, from + BLOCK_BYTES - this.#filled)
      this.#last.set(part, this.#filled)
      this.#filled += part.byteLength
      from += part.byteLength
      if (this.#filled === BLOCK_BYTES) this.#close()
    }
  }

  get hasFull(): boolean {
    return this.#full.length > 0
  }

  /** The blocks that have become full since the last call. Each is overwritten when the next one is requested. */
  *take(): Generator<Uint8Array> {
    for (let block = this.#full.shift(); block !== undefined; block = this.#full.shift()) {
      yield block
      if (block.byteLength === BLOCK_BYTES) this.#free.push(block)
    }
  }

  /** The same, including the block that is not full. */
  takeAll(): Generator<Uint8Array> {
    if (this.#filled > 0) this.#close()
    return this.take()
  }

  #close(): void {
    this.#full.push(this.#last.subarray(0, this.#filled))
    this.#last = this.#free.pop() ?? new Uint8Array(BLOCK_BYTES)
    this.#filled = 0
  }
}

const GARBAGE_ARRAYS = 128
const GARBAGE_LENGTH = 1024

/**
 * Makes the garbage collector check new objects. Bytes from storage are outside its heap, and about 64 MiB of them
 * accumulate before it runs; only their small handles are inside. An allocation of one megabyte fills the space for new
 * objects and starts a collection. Must be called for about every megabyte that is read and not kept.
 */
export function wakeCollector(): void {
  Array.from({ length: GARBAGE_ARRAYS }, () => new Array<number>(GARBAGE_LENGTH).fill(0))
}
