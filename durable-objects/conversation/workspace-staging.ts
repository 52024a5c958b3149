// Contents that are stored before it is known which file they are for, or whether they will be one. Small ones are chunks
// of an inode that no node has (a negative one), large ones are an object in R2 that stands in the garbage. Neither is
// part of the tree until one transaction makes it so; what an eviction leaves behind is cleared away before the next.

import type { StagedContents } from '../../src/workspace/file-system.ts'
import { regroup } from '../../src/workspace/parts.ts'
import type { WorkspaceContents } from './workspace-contents.ts'
import type { NewContents } from './workspace-nodes.ts'
import { PART_BYTES, type WorkspaceObjects } from './workspace-objects.ts'

type StagingParts = {
  sql: SqlStorage
  contents: WorkspaceContents
  objects: WorkspaceObjects
  spillThresholdBytes: number
  commit: Commit
}

/** Makes a node refer to the contents, in one transaction. */
export type Commit = (path: string, file: { size: number; mode?: number | undefined; contents: NewContents }) => void

/** Stands where errors name a path, before there is one. */
const NO_PATH = '(new file)'

export class WorkspaceStaging {
  readonly #parts: StagingParts
  #lastInode = 0

  constructor(parts: StagingParts) {
    this.#parts = parts
  }

  async stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    const pieces = regroup(parts, PART_BYTES)
    const first: Uint8Array = (await pieces.next()).value ?? new Uint8Array()
    return first.byteLength > this.#parts.spillThresholdBytes ? this.#inR2(first, pieces) : this.#inRows(first)
  }

  #inRows(bytes: Uint8Array): StagedContents {
    const { sql, contents } = this.#parts
    if (this.#lastInode === 0) sql.exec('DELETE FROM workspace_chunks WHERE inode < 0')
    const inode = --this.#lastInode
    if (bytes.byteLength > 0) contents.addChunks(inode, bytes)
    return this.#staged(bytes.byteLength, { inode }, () => contents.dropChunks(inode))
  }

  async #inR2(first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    const { contents, objects } = this.#parts
    const key = contents.reserveKey()
    try {
      let size = first.byteLength
      if (size < PART_BYTES) await objects.put(key, first, NO_PATH)
      else size = await objects.putParts(key, startingWith(first, rest), NO_PATH)
      return this.#staged(size, { key }, () => contents.endReservation(key))
    } catch (error) {
      contents.endReservation(key)
      throw error
    }
  }

  #staged(size: number, contents: NewContents, letGo: () => void): StagedContents {
    let isOpen = true
    return {
      sizeBytes: size,
      place: (path, mode) => {
        if (!isOpen) throw new Error('these contents belong to a file already')
        this.#parts.commit(path, { size, mode, contents })
        isOpen = false
        if ('key' in contents) letGo()
      },
      release: () => {
        if (isOpen) letGo()
        isOpen = false
      },
    }
  }
}

async function* startingWith(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* rest
}
