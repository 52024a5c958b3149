// Reads an archive whose pieces are in R2 as one run of bytes: small parts from a window in memory, large ones as
// streams.

import { must } from '../../../src/lib/assert.ts'
import { joinBytes } from '../../../src/lib/bytes.ts'

export type Piece = { key: string; bytes: number }

const WINDOW_BYTES = 1024 * 1024

export class ArchiveReader {
  readonly #files: R2Bucket
  readonly #pieces: readonly (Piece & { from: number })[]
  readonly size: number
  #window: { from: number; bytes: Uint8Array } = { from: 0, bytes: new Uint8Array() }

  constructor(files: R2Bucket, pieces: readonly Piece[]) {
    this.#files = files
    let size = 0
    this.#pieces = pieces.map((piece) => {
      const from = size
      size += piece.bytes
      return { ...piece, from }
    })
    this.size = size
  }

  /** This many bytes, or fewer at the end of the archive. */
  async read(from: number, length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for await (const part of this.stream(from, length)) parts.push(part)
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : joinBytes(parts)
  }

  async text(from: number, length: number): Promise<string> {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await this.read(from, length))
  }

  async *stream(from: number, length: number): AsyncGenerator<Uint8Array> {
    const end = Math.min(from + length, this.size)
    for (let at = from; at < end; ) {
      const window = await this.#windowAt(at)
      const part = window.bytes.subarray(at - window.from, Math.min(window.bytes.byteLength, end - window.from))
      at += part.byteLength
      yield part
    }
  }

  async #windowAt(at: number): Promise<{ from: number; bytes: Uint8Array }> {
    const { from, bytes } = this.#window
    if (at >= from && at < from + bytes.byteLength) return this.#window
    const piece = must(
      this.#pieces.find((one) => at >= one.from && at < one.from + one.bytes),
      'a piece of the archive',
    )
    const offset = at - piece.from
    const range = { offset, length: Math.min(WINDOW_BYTES, piece.bytes - offset) }
    const object = must(await this.#files.get(piece.key, { range }), 'a piece of the archive in R2')
    this.#window = { from: at, bytes: new Uint8Array(await object.arrayBuffer()) }
    return this.#window
  }
}
