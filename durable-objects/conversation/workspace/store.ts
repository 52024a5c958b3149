// The durable file tree of one conversation. Every change is one transaction over node and chunk rows, so that a crash
// leaves the tree as it was before or after, never between. Contents above the threshold go to R2 first and become part
// of the tree with the row that names them.

import { errorFields, log } from '../../../src/lib/log.ts'
import {
  DEFAULT_WORKSPACE_LIMITS,
  type FileSystem,
  FileSystemError,
  type Pack,
  type ScannedEntry,
  type StagedContents,
  type WorkspaceLimits,
} from '../../../src/workspace/file-system.ts'
import { WorkspaceContents } from './contents.ts'
import type { ChangeObserver, NewContents, Usage } from './nodes.ts'
import { WorkspaceObjects } from './objects.ts'
import { PackedForms } from './packed-forms.ts'
import { WorkspaceReader } from './reader.ts'
import type { NodeRow } from './rows.ts'
import { type Settle, WorkspaceStaging } from './staging.ts'
import { StoredTree } from './stored-tree.ts'
import { WorkspaceTree } from './tree.ts'
import type { WorkspaceVersions } from './versions.ts'

/** A SQLite row holds at most 2 MB, and a database with large rows is slow. Contents above this size go to R2. */
const SPILL_THRESHOLD_BYTES = 1_000_000

export interface WorkspaceStoreDeps {
  storage: DurableObjectStorage
  bucket: R2Bucket
  /** The prefix of the keys of all objects of this conversation, including its final slash. */
  prefix: string
  limits?: WorkspaceLimits
  spillThresholdBytes?: number
  observe?: ChangeObserver
  /** Keeps earlier versions of the tree; without it there is only the present one. */
  versions?: WorkspaceVersions
}

export class WorkspaceStore extends StoredTree implements FileSystem {
  readonly #contents: WorkspaceContents
  readonly #reader: WorkspaceReader
  readonly #staging: WorkspaceStaging
  readonly #spillThresholdBytes: number
  /** Compressed small files from earlier downloads. */
  readonly packed: PackedForms

  constructor({ storage, bucket, prefix, limits = DEFAULT_WORKSPACE_LIMITS, ...options }: WorkspaceStoreDeps) {
    const { sql } = storage
    const tree = new WorkspaceTree(sql)
    const objects = new WorkspaceObjects(bucket)
    const { versions = null, observe = () => undefined } = options
    const contents = new WorkspaceContents({ sql, objects, prefix, isNeeded: (key) => versions?.needs(key) ?? false })
    super({ storage, tree, contents, limits, observe, versions })
    const spillThresholdBytes = options.spillThresholdBytes ?? SPILL_THRESHOLD_BYTES
    this.#contents = contents
    this.packed = new PackedForms(storage)
    this.#reader = new WorkspaceReader({ tree, contents, objects, packed: this.packed })
    this.#spillThresholdBytes = spillThresholdBytes
    const settle: Settle = (inode, goal) => this.change(goal.path, (usage) => this.nodes.settle(inode, goal, usage))
    const change = <T>(path: string, work: () => T) => this.change(path, work)
    this.#staging = new WorkspaceStaging({ sql, change, contents, objects, spillThresholdBytes, settle })
  }

  read(path: string): Promise<Uint8Array> {
    return this.#reader.read(path)
  }

  readParts(path: string): AsyncIterable<Uint8Array> {
    return this.#reader.readParts(path)
  }

  scan(path: string, pack?: Pack): Iterable<ScannedEntry[]> {
    return this.#reader.scan(path, pack)
  }

  async write(path: string, bytes: Uint8Array, { mode }: { mode?: number } = {}): Promise<void> {
    const size = bytes.byteLength
    if (size <= this.#spillThresholdBytes) {
      this.#putFile(path, { size, mode, contents: { bytes } })
    } else {
      // Checked before the upload and again after it: other changes may happen in between.
      this.nodes.roomFor(path, size, this.currentUsage())
      await this.#contents.upload(bytes, path, (key) => this.#putFile(path, { size, mode, contents: { key } }))
    }
    try {
      await this.#contents.sweep()
    } catch (error) {
      // The file is written, even though its old contents could not be deleted.
      log.warn('workspace.sweep_failed', errorFields(error))
    }
  }

  stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    return this.#staging.stage(parts)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    const inode = this.change(path, (usage) => {
      const size = (this.tree.walk(path, true).node?.size ?? 0) + bytes.byteLength
      const node = this.#fileFor(path, { size }, usage)
      this.nodes.growContents(node, bytes)
      usage.bytes += bytes.byteLength
      return node.inode
    })
    if (this.#contents.chunkBytes(inode) <= this.#spillThresholdBytes) return
    try {
      await this.#compact(inode, path)
    } catch (error) {
      log.warn('workspace.compaction_failed', errorFields(error))
    }
  }

  /**
   * Deletes objects in R2 that belonged to replaced and removed files. A failure is logged, and the delete is retried
   * later.
   */
  async sweep(): Promise<void> {
    this.#staging.forgetLeftovers()
    await this.#contents.sweep()
  }

  #putFile(path: string, file: { size: number; mode?: number | undefined; contents: NewContents }): void {
    this.change(path, (usage) => {
      const place = this.nodes.roomFor(path, file.size, usage)
      const { node } = place
      if (!node) return void this.nodes.insert(place, { kind: 'file', ...file }, usage)
      this.nodes.changed(place)
      this.nodes.replaceContents(node, file.size, file.contents)
      usage.bytes += file.size - node.size
    })
  }

  /** The file at the path, created if there is none. Checks that it may have this size. */
  #fileFor(path: string, want: { size: number; mode?: number | undefined }, usage: Usage): NodeRow {
    const place = this.nodes.roomFor(path, want.size, usage)
    if (place.node) {
      this.nodes.changed(place)
      return place.node
    }
    const node = this.tree.node(this.nodes.insert(place, { kind: 'file', mode: want.mode }, usage))
    if (!node) throw new FileSystemError('EIO', path)
    return node
  }

  /** Moves the collected chunks into one new object. If that fails, they stay in their rows. */
  async #compact(inode: number, path: string): Promise<void> {
    await this.#contents.freezing(inode, async (lastSeq) => {
      const node = this.tree.node(inode)
      const contents = node && (await this.#reader.contentsOf(node, path))
      if (!contents) return
      await this.#contents.upload(contents, path, (key) =>
        this.change(path, () => {
          const now = this.tree.node(inode)
          if (now?.revision !== node.revision || now.object !== node.object) return
          this.#contents.dropChunks(inode, lastSeq)
          this.#contents.discard(node.object)
          this.#contents.adopt(key)
          this.storage.sql.exec('UPDATE workspace_nodes SET object = ? WHERE inode = ?', key, inode)
        }),
      )
      await this.#contents.sweep()
    })
  }
}
