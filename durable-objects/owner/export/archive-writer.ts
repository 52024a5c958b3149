// Writes an archive as pieces in R2: data is buffered until it fills a piece. Written pieces count only when `commit`
// has stored them together with the position that they reach; a restart from that position writes the same pieces
// again.

import { createHash } from 'node:crypto'
import { joinBytes } from '../../../src/lib/bytes.ts'
import { TAR_END, tarHeader, tarPadding } from '../../../src/lib/tar.ts'

export type ArchiveEntry = { path: string; bytes: number; sha256: string }
export type ArchivePart = { pieces: number[]; entries: ArchiveEntry[] }

/** Large enough for a small number of pieces, small enough for memory. */
const PIECE_BYTES = 4 * 1024 * 1024

type PutPiece = (piece: number, bytes: Uint8Array) => Promise<void>

export class ArchiveWriter {
  readonly #put: PutPiece
  readonly #mtime: number
  #next: number
  #waiting: Uint8Array[] = []
  #size = 0
  #written: ArchivePart = { pieces: [], entries: [] }

  /** `next`: the number of the first piece to write. */
  constructor({ put, next, mtime }: { put: PutPiece; next: number; mtime: number }) {
    this.#put = put
    this.#next = next
    this.#mtime = mtime
  }

  /** Whether enough was written since the last commit. */
  get isWorthCommitting(): boolean {
    return this.#size + this.#written.pieces.reduce((sum, bytes) => sum + bytes, 0) >= PIECE_BYTES
  }

  async text(path: string, text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text)
    await this.entry({ path, size: bytes.byteLength }, [bytes])
  }

  /** An entry whose contents come in parts. */
  async entry(
    { path, size }: { path: string; size: number },
    parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const hash = createHash('sha256')
    let left = size
    await this.#add(tarHeader({ path, size, mtime: this.#mtime }))
    for await (const part of parts) {
      hash.update(part)
      left -= part.byteLength
      await this.#add(part)
    }
    if (left !== 0) throw new Error(`the contents of ${path} do not add up: ${left} bytes are left`)
    await this.#add(tarPadding(size))
    this.#written.entries.push({ path, bytes: size, sha256: hash.digest('hex') })
  }

  end(): Promise<void> {
    return this.#add(TAR_END)
  }

  /** Writes the buffered rest, and returns the pieces since the last call. */
  async flushed(): Promise<ArchivePart> {
    if (this.#size > 0) await this.#flush()
    const written = this.#written
    this.#written = { pieces: [], entries: [] }
    return written
  }

  async #add(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength === 0) return
    this.#waiting.push(bytes)
    this.#size += bytes.byteLength
    if (this.#size >= PIECE_BYTES) await this.#flush()
  }

  async #flush(): Promise<void> {
    const bytes = joinBytes(this.#waiting)
    this.#waiting = []
    this.#size = 0
    await this.#put(this.#next, bytes)
    this.#next += 1
    this.#written.pieces.push(bytes.byteLength)
  }
}
