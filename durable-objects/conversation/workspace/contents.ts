// The contents of files: chunks in rows, and objects in R2 for contents that are too large for rows (`rows.ts` says how they
// are combined). An object never changes: new contents get a new key, so a reader sees either the old file or the new one.
//
// A key is in `workspace_garbage` from before it is written until a node refers to it, and again after the last node stopped
// referring to it. So a crash at any point leaves either the old file or the new one, and no unknown object.

import { hexId } from '../../../src/lib/crypto.ts'
import { firstRow, rows } from '../../sql.ts'
import type { WorkspaceObjects } from './objects.ts'
import type { ChunkRow } from './rows.ts'

/** Well under the 2 MB that a row may have. */
const MAX_CHUNK_BYTES = 512 * 1024
/** Appended bytes go into the last chunk while it is smaller than this, so that a log written line by line stays cheap. */
const GROWING_CHUNK_BYTES = 16 * 1024
/** As many keys as one call of R2 deletes. */
const SWEEP_KEYS = 1000

type ContentsDeps = {
  sql: SqlStorage
  objects: WorkspaceObjects
  prefix: string
  /** Whether an earlier version of the tree still refers to the key. */
  isNeeded?: (key: string) => boolean
}

export class WorkspaceContents {
  readonly #sql: SqlStorage
  readonly #objects: WorkspaceObjects
  readonly #prefix: string
  readonly #isNeeded: (key: string) => boolean
  /** Keys that are in the garbage table because they are being written, or wait for their node. */
  readonly #reserved = new Set<string>()
  /** False only after a query of the table found nothing to delete. */
  #mayHaveGarbage = true
  /** The last chunk that is being moved into an object, by inode: nothing may be appended to it. */
  readonly #frozen = new Map<number, number>()

  constructor(deps: ContentsDeps) {
    this.#sql = deps.sql
    this.#objects = deps.objects
    this.#prefix = deps.prefix
    this.#isNeeded = deps.isNeeded ?? (() => false)
  }

  chunks(inode: number): ChunkRow[] {
    return rows(this.#sql, 'SELECT seq, bytes FROM workspace_chunks WHERE inode = ? ORDER BY seq', inode)
  }

  /** The contents of many files, in one query. */
  chunksOf(inodes: number[]): Map<number, Uint8Array[]> {
    const found = rows<ChunkRow & { inode: number }>(
      this.#sql,
      `SELECT inode, seq, bytes FROM workspace_chunks
       WHERE inode IN (SELECT value FROM json_each(?)) ORDER BY inode, seq`,
      JSON.stringify(inodes),
    )
    const chunks = new Map<number, Uint8Array[]>()
    for (const { inode, bytes } of found) {
      const known = chunks.get(inode)
      if (known) known.push(new Uint8Array(bytes))
      else chunks.set(inode, [new Uint8Array(bytes)])
    }
    return chunks
  }

  chunkBytes(inode: number): number {
    const sum = firstRow<{ total: number | null }>(
      this.#sql,
      'SELECT SUM(length(bytes)) AS total FROM workspace_chunks WHERE inode = ?',
      inode,
    )
    return sum?.total ?? 0
  }

  dropChunks(inode: number, upTo = Number.MAX_SAFE_INTEGER): void {
    this.#sql.exec('DELETE FROM workspace_chunks WHERE inode = ? AND seq <= ?', inode, upTo)
  }

  addChunks(inode: number, bytes: Uint8Array): void {
    const last = this.#lastChunk(inode)
    const grow = last !== null && last.length + bytes.byteLength <= GROWING_CHUNK_BYTES
    if (grow && last.seq !== this.#frozen.get(inode)) {
      this.#sql.exec(
        'UPDATE workspace_chunks SET bytes = CAST(bytes || ? AS BLOB) WHERE inode = ? AND seq = ?',
        exactBuffer(bytes),
        inode,
        last.seq,
      )
      return
    }
    this.#insertChunks(inode, (last?.seq ?? -1) + 1, bytes)
  }

  /** Adds the contents of a file that has none. */
  addFirstChunks(inode: number, bytes: Uint8Array): void {
    this.#insertChunks(inode, 0, bytes)
  }

  #insertChunks(inode: number, first: number, bytes: Uint8Array): void {
    let seq = first
    for (let from = 0; from < bytes.byteLength; from += MAX_CHUNK_BYTES) {
      const part = exactBuffer(bytes.subarray(from, from + MAX_CHUNK_BYTES))
      this.#sql.exec('INSERT INTO workspace_chunks (inode, seq, bytes) VALUES (?, ?, ?)', inode, seq++, part)
    }
  }

  /**
   * Writes the bytes to R2 and gives their key to `commit`, which makes a node refer to it (and calls `adopt`) in one
   * transaction. Whatever fails, the object ends up referred to or in the garbage.
   */
  async upload(bytes: Uint8Array, path: string, commit: (key: string) => void): Promise<void> {
    const key = this.reserveKey()
    try {
      await this.#objects.put(key, bytes, path)
      commit(key)
    } catch (error) {
      await this.abandon(key)
      throw error
    } finally {
      this.endReservation(key)
    }
  }

  /** A new key that is in the garbage table, but not deleted before its reservation ends. */
  reserveKey(): string {
    const key = `${this.#prefix}${hexId()}`
    this.#reserved.add(key)
    this.discard(key)
    return key
  }

  /** From now on the key is garbage unless a node refers to it. */
  endReservation(key: string): void {
    this.#reserved.delete(key)
  }

  /**
   * Deletes an unused object now instead of at the next sweep: if the conversation was deleted meanwhile, the table with its
   * key is gone.
   */
  async abandon(key: string): Promise<void> {
    await this.#objects.delete([key])
  }

  /**
   * While `work` runs, nothing is appended to the current chunks of the file. Does nothing if such work is already
   * running.
   */
  async freezing(inode: number, work: (lastSeq: number) => Promise<void>): Promise<void> {
    if (this.#frozen.has(inode)) return
    const lastSeq = this.#lastChunk(inode)?.seq ?? -1
    this.#frozen.set(inode, lastSeq)
    try {
      await work(lastSeq)
    } finally {
      this.#frozen.delete(inode)
    }
  }

  adopt(key: string): void {
    this.#sql.exec('DELETE FROM workspace_garbage WHERE key = ?', key)
  }

  discard(key: string | null): void {
    if (key === null) return
    this.#sql.exec('INSERT OR IGNORE INTO workspace_garbage (key) VALUES (?)', key)
    this.#mayHaveGarbage = true
  }

  /** Discards every key that the query finds; nulls are ignored. */
  discardAll(query: string, inode: number): void {
    const keys = rows<{ object: string | null }>(this.#sql, query, inode)
    for (const { object } of keys) this.discard(object)
  }

  /** Deletes the objects that no node refers to. A failed delete is tried again at the next sweep. */
  async sweep(): Promise<void> {
    while (this.#mayHaveGarbage) {
      const keys = rows<{ key: string }>(this.#sql, 'SELECT key FROM workspace_garbage').map(({ key }) => key)
      const free = keys.filter((key) => !this.#reserved.has(key) && !this.#isNeeded(key)).slice(0, SWEEP_KEYS)
      if (free.length === 0) this.#mayHaveGarbage = keys.length > 0
      if (free.length === 0 || !(await this.#objects.delete(free))) return
      for (const key of free) this.adopt(key)
    }
  }

  #lastChunk(inode: number): { seq: number; length: number } | null {
    return firstRow(
      this.#sql,
      'SELECT seq, length(bytes) AS length FROM workspace_chunks WHERE inode = ? ORDER BY seq DESC LIMIT 1',
      inode,
    )
  }
}

/** The bytes in exactly their own buffer, the form that SQLite accepts. `slice` of a Node `Buffer` would be a view. */
function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
