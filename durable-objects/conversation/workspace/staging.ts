// Files that are stored before their path is known. Each is a node without a parent: one update of its row gives it a
// path. Files that an evicted instance left behind are deleted before the next one is stored.

import type { StagedContents } from '../../../src/workspace/file-system.ts'
import { regroup } from '../../../src/workspace/parts.ts'
import { firstRow } from '../../sql.ts'
import type { WorkspaceContents } from './contents.ts'
import { PART_BYTES, type WorkspaceObjects } from './objects.ts'
import { NOWHERE } from './rows.ts'

type StagingDeps = {
  sql: SqlStorage
  /** Runs the change in one transaction. */
  change: <T>(path: string, work: () => T) => T
  contents: WorkspaceContents
  objects: WorkspaceObjects
  spillThresholdBytes: number
  settle: Settle
}

/** Gives the node its path, in one transaction. */
export type Settle = (inode: number, goal: { path: string; size: number; mode?: number | undefined }) => void

/** Used in error messages before the file has a path. */
const NO_PATH = '(new file)'

export class WorkspaceStaging {
  readonly #deps: StagingDeps
  #count = 0
  /** False once it is certain that no earlier instance has left files behind. */
  #mayHaveLeftovers = true

  constructor(deps: StagingDeps) {
    this.#deps = deps
  }

  async stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    const pieces = regroup(parts, PART_BYTES)
    const first: Uint8Array = (await pieces.next()).value ?? new Uint8Array()
    return first.byteLength > this.#deps.spillThresholdBytes ? this.#inR2(first, pieces) : this.#inRows(first)
  }

  forgetLeftovers(): void {
    if (!this.#mayHaveLeftovers) return
    this.#mayHaveLeftovers = false
    const { sql, change, contents } = this.#deps
    change(NO_PATH, () => {
      contents.discardAll('SELECT object FROM workspace_nodes WHERE parent = ?', NOWHERE)
      sql.exec(
        'DELETE FROM workspace_chunks WHERE inode IN (SELECT inode FROM workspace_nodes WHERE parent = ?)',
        NOWHERE,
      )
      sql.exec('DELETE FROM workspace_nodes WHERE parent = ?', NOWHERE)
    })
  }

  #inRows(bytes: Uint8Array): StagedContents {
    const { change, contents } = this.#deps
    const size = bytes.byteLength
    this.forgetLeftovers()
    return change(NO_PATH, () => {
      const inode = this.#insert(size, null)
      if (size > 0) contents.addChunks(inode, bytes)
      return this.#staged(inode, { size, key: null })
    })
  }

  async #inR2(first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    const { change, contents, objects } = this.#deps
    const key = contents.reserveKey()
    try {
      let size = first.byteLength
      if (size < PART_BYTES) await objects.put(key, first, NO_PATH)
      else size = await objects.putParts(key, startingWith(first, rest), NO_PATH)
      this.forgetLeftovers()
      return change(NO_PATH, () => {
        contents.adopt(key)
        return this.#staged(this.#insert(size, key), { size, key })
      })
    } catch (error) {
      await contents.abandon(key)
      throw error
    } finally {
      contents.endReservation(key)
    }
  }

  #insert(size: number, key: string | null): number {
    const row = firstRow<{ inode: number }>(
      this.#deps.sql,
      `INSERT INTO workspace_nodes (parent, name, kind, mode, mtime, size, object)
       VALUES (?, ?, 'file', 0, 0, ?, ?) RETURNING inode`,
      NOWHERE,
      String(this.#count++),
      size,
      key,
    )
    return row?.inode ?? 0
  }

  #staged(inode: number, { size, key }: { size: number; key: string | null }): StagedContents {
    const { sql, change, contents, settle } = this.#deps
    let isOpen = true
    return {
      sizeBytes: size,
      place: (path, mode) => {
        if (!isOpen) throw new Error('these contents have become a file already')
        settle(inode, { path, size, mode })
        isOpen = false
      },
      release: () => {
        if (!isOpen) return
        isOpen = false
        change(NO_PATH, () => {
          contents.dropChunks(inode)
          contents.discard(key)
          sql.exec('DELETE FROM workspace_nodes WHERE inode = ?', inode)
        })
      },
    }
  }
}

async function* startingWith(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* rest
}
