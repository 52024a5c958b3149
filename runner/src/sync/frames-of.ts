// Packs changes into frames: many small files in one, a large file in many.

import { closeSync, readSync } from 'node:fs'
import type { Frame, FrameEntry } from '../../../src/runners/frames.ts'
import { MAX_FRAME_BYTES } from '../../../src/runners/wire.ts'
import type { Change } from './changes.ts'

/** Leaves space for the length of the header, its fixed fields, and JSON syntax. */
const ROOM = MAX_FRAME_BYTES - 1024
const MAX_ENTRIES = 4096
/** For a header with one piece of a file: leaves space for a path in which JSON writes every character in six bytes. */
const PIECE_BYTES = 512 * 1024

export class FramePacker {
  readonly #transfer: number
  #seq = 0
  #entries: FrameEntry[] = []
  #pieces: Uint8Array[] = []
  #size = 0

  constructor(transfer: number) {
    this.#transfer = transfer
  }

  get frames(): number {
    return this.#seq
  }

  /** Yields the frames that became full. A change's copy is closed when it is read completely. */
  *add({ entry, bytes, copyFd }: Change): Generator<Frame> {
    if (entry.kind !== 'file') {
      yield* this.#addOne(entry, new Uint8Array())
      return
    }
    try {
      const size = entry.size ?? 0
      let offset = 0
      do {
        const piece = pieceAt({ bytes, copyFd }, offset, Math.min(PIECE_BYTES, size - offset))
        yield* this.#addOne({ ...entry, offset, length: piece.byteLength }, piece)
        offset += piece.byteLength
      } while (offset < size)
    } finally {
      if (copyFd !== null) closeSync(copyFd)
    }
  }

  *flush(): Generator<Frame> {
    if (this.#entries.length === 0) return
    const bytes =
      this.#pieces.length === 1 && this.#pieces[0] !== undefined ? this.#pieces[0] : Buffer.concat(this.#pieces)
    yield { head: { t: 'files', transfer: this.#transfer, seq: this.#seq, entries: this.#entries }, bytes }
    this.#seq += 1
    this.#entries = []
    this.#pieces = []
    this.#size = 0
  }

  *#addOne(entry: FrameEntry, bytes: Uint8Array): Generator<Frame> {
    const size = Buffer.byteLength(JSON.stringify(entry)) + 1 + bytes.byteLength
    if (this.#size + size > ROOM || this.#entries.length >= MAX_ENTRIES) yield* this.flush()
    this.#entries.push(entry)
    this.#pieces.push(bytes)
    this.#size += size
  }
}

function pieceAt(
  { bytes, copyFd }: { bytes: Uint8Array | null; copyFd: number | null },
  offset: number,
  length: number,
): Uint8Array {
  if (bytes !== null) return bytes.subarray(offset, offset + length)
  if (copyFd === null) throw new Error('a file without its bytes')
  const piece = Buffer.alloc(length)
  let got = 0
  while (got < length) {
    const read = readSync(copyFd, piece, got, length - got, offset + got)
    if (read === 0) throw new Error('the copy of a file is shorter than the file was')
    got += read
  }
  return piece
}
