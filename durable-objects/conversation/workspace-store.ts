// The durable file tree of one conversation. Every change is one transaction over node and chunk rows, so that a crash
// leaves the tree as it was before or after, never between. Contents above the threshold go to R2 first and become part
// of the tree with the row that names them.

import { errorFields, log } from '../../src/lib/log.ts'
import {
  assertMovable,
  DEFAULT_WORKSPACE_LIMITS,
  type DirectoryEntry,
  type FileStat,
  type FileSystem,
  FileSystemError,
  isFileError,
  MODE_BITS,
  pathNames,
  type ScannedEntry,
  type StagedContents,
  targetNames,
  type WorkspaceLimits,
} from '../../src/workspace/file-system.ts'
import { WorkspaceContents } from './workspace-contents.ts'
import { type ChangeObserver, type NewContents, type Usage, WorkspaceNodes } from './workspace-nodes.ts'
import { WorkspaceObjects } from './workspace-objects.ts'
import { statOf, WorkspaceReader } from './workspace-reader.ts'
import { type NodeRow, WORKSPACE_SCHEMA } from './workspace-schema.ts'
import { type Settle, WorkspaceStaging } from './workspace-staging.ts'
import { realPathOf, WorkspaceTree } from './workspace-tree.ts'
import type { WorkspaceVersions } from './workspace-versions.ts'

export { WORKSPACE_SCHEMA }

/** A SQLite row holds at most 2 MB, and an object with large rows is slow to move; above it, contents go to R2. */
const SPILL_THRESHOLD_BYTES = 1_000_000

export interface WorkspaceStoreParts {
  storage: DurableObjectStorage
  bucket: R2Bucket
  /** What every key of this conversation's objects begins with, its last slash included. */
  prefix: string
  limits?: WorkspaceLimits
  spillThresholdBytes?: number
  observe?: ChangeObserver
  /** Keeps earlier states of the tree; without it there is only the present one. */
  versions?: WorkspaceVersions
}

export class WorkspaceStore implements FileSystem {
  readonly #storage: DurableObjectStorage
  readonly #tree: WorkspaceTree
  readonly #nodes: WorkspaceNodes
  readonly #contents: WorkspaceContents
  readonly #reader: WorkspaceReader
  readonly #staging: WorkspaceStaging
  readonly #spillThresholdBytes: number
  /** The tree as it was at each event. */
  readonly versions: WorkspaceVersions | null
  #usage: Usage | null = null

  constructor({ storage, bucket, prefix, limits = DEFAULT_WORKSPACE_LIMITS, ...options }: WorkspaceStoreParts) {
    const { sql } = storage
    const tree = new WorkspaceTree(sql)
    const objects = new WorkspaceObjects(bucket)
    this.versions = options.versions ?? null
    const isNeeded = (key: string) => this.versions?.needs(key) ?? false
    const contents = new WorkspaceContents({ sql, objects, prefix, isNeeded })
    const spillThresholdBytes = options.spillThresholdBytes ?? SPILL_THRESHOLD_BYTES
    this.#storage = storage
    this.#tree = tree
    this.#contents = contents
    this.#reader = new WorkspaceReader({ tree, contents, objects })
    this.#nodes = new WorkspaceNodes({ sql, tree, contents, limits, observe: options.observe ?? (() => undefined) })
    this.#spillThresholdBytes = spillThresholdBytes
    const settle: Settle = (inode, goal) => this.#change(goal.path, (usage) => this.#nodes.settle(inode, goal, usage))
    const change = <T>(path: string, work: () => T) => this.#change(path, work)
    this.#staging = new WorkspaceStaging({ sql, change, contents, objects, spillThresholdBytes, settle })
  }

  exists(path: string): boolean {
    return this.#tree.isThere(path)
  }

  stat(path: string): FileStat {
    return statOf(this.#tree.existing(path, true).node)
  }

  lstat(path: string): FileStat {
    return statOf(this.#tree.existing(path, false).node)
  }

  list(path: string): DirectoryEntry[] {
    const { node } = this.#tree.existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    return this.#tree.entries(node.inode).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  realPath(path: string): string {
    return realPathOf(this.#tree.existing(path, true))
  }

  readLink(path: string): string {
    const { node } = this.#tree.existing(path, false)
    if (node.target === null) throw new FileSystemError('EINVAL', path)
    return node.target
  }

  makeDirectory(path: string, options: { recursive?: boolean } = {}): void {
    this.#change(path, (usage) => {
      if (options.recursive) return this.#makeDirectories(path, usage)
      const place = this.#tree.walk(path, false)
      if (place.node) throw new FileSystemError('EEXIST', path)
      this.#nodes.insert(place, { kind: 'directory' }, usage)
    })
  }

  remove(path: string, options: { recursive?: boolean } = {}): void {
    this.#change(path, (usage) => {
      const place = this.#tree.existing(path, false)
      assertMovable(realPathOf(place))
      if (!options.recursive && !this.#tree.isEmpty(place.node.inode)) throw new FileSystemError('ENOTEMPTY', path)
      this.#nodes.drop(place, usage)
    })
  }

  rename(from: string, to: string): void {
    this.#change(to, (usage) => {
      const source = this.#tree.existing(from, false)
      assertMovable(realPathOf(source))
      const goal = this.#tree.walk(to, false)
      if (goal.node?.inode === source.node.inode) return
      if (goal.above.some(({ inode }) => inode === source.node.inode)) throw new FileSystemError('EINVAL', to)
      if (goal.node) {
        assertMovable(realPathOf(goal))
        this.#nodes.assertReplaceable(source.node, goal.node, to)
        this.#nodes.drop({ ...goal, node: goal.node }, usage)
      }
      this.#nodes.move(source, goal)
    })
  }

  symlink(target: string, path: string): void {
    targetNames(target, path)
    this.#change(path, (usage) => {
      const place = this.#tree.walk(path, false)
      if (place.node) throw new FileSystemError('EEXIST', path)
      this.#nodes.insert(place, { kind: 'symlink', target }, usage)
    })
  }

  chmod(path: string, mode: number): void {
    const place = this.#tree.existing(path, true)
    this.#change(path, () => {
      this.#storage.sql.exec('UPDATE workspace_nodes SET mode = ? WHERE inode = ?', mode & MODE_BITS, place.node.inode)
      this.#nodes.changed(place)
    })
  }

  utimes(path: string, mtimeMs: number): void {
    const { inode } = this.#tree.existing(path, true).node
    if (!Number.isFinite(mtimeMs)) throw new FileSystemError('EINVAL', path)
    this.#change(path, () =>
      this.#storage.sql.exec('UPDATE workspace_nodes SET mtime = ? WHERE inode = ?', Math.trunc(mtimeMs), inode),
    )
  }

  read(path: string): Promise<Uint8Array> {
    return this.#reader.read(path)
  }

  readParts(path: string): AsyncIterable<Uint8Array> {
    return this.#reader.readParts(path)
  }

  scan(path: string): Iterable<ScannedEntry[]> {
    return this.#reader.scan(path)
  }

  async write(path: string, bytes: Uint8Array, { mode }: { mode?: number } = {}): Promise<void> {
    const size = bytes.byteLength
    if (size <= this.#spillThresholdBytes) {
      this.#putFile(path, { size, mode, contents: { bytes } })
    } else {
      // Refused before the upload as well as after it: other changes may come in between.
      this.#nodes.roomFor(path, size, this.#currentUsage())
      await this.#contents.upload(bytes, path, (key) => this.#putFile(path, { size, mode, contents: { key } }))
    }
    try {
      await this.#contents.sweep()
    } catch (error) {
      // The file is written, whatever became of what it replaced.
      log.warn('workspace.sweep_failed', errorFields(error))
    }
  }

  stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    return this.#staging.stage(parts)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    const inode = this.#change(path, (usage) => {
      const size = (this.#tree.walk(path, true).node?.size ?? 0) + bytes.byteLength
      const node = this.#fileFor(path, { size }, usage)
      this.#nodes.growContents(node, bytes)
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

  /** Deletes what replaced and removed files left in R2. A failure is logged and tried again the next time. */
  async sweep(): Promise<void> {
    this.#staging.forgetLeftovers()
    await this.#contents.sweep()
  }

  #makeDirectories(path: string, usage: Usage): void {
    const names = pathNames(path)
    for (let depth = 1; depth <= names.length; depth++) {
      const prefix = `/${names.slice(0, depth).join('/')}`
      const { node } = this.#tree.walk(prefix, true)
      if (node && node.kind !== 'directory') {
        throw new FileSystemError(depth === names.length ? 'EEXIST' : 'ENOTDIR', prefix)
      }
      if (node) continue
      const place = this.#tree.walk(prefix, false)
      // A link whose target is missing: a folder cannot be made in its place.
      if (place.node) throw new FileSystemError('EEXIST', prefix)
      this.#nodes.insert(place, { kind: 'directory' }, usage)
    }
  }

  #putFile(path: string, file: { size: number; mode?: number | undefined; contents: NewContents }): void {
    this.#change(path, (usage) => {
      const place = this.#nodes.roomFor(path, file.size, usage)
      const { node } = place
      if (!node) return void this.#nodes.insert(place, { kind: 'file', ...file }, usage)
      this.#nodes.changed(place)
      this.#nodes.replaceContents(node, file.size, file.contents)
      usage.bytes += file.size - node.size
    })
  }

  /** The file at the path, made if there was none, once it is sure that it may have this size. */
  #fileFor(path: string, want: { size: number; mode?: number | undefined }, usage: Usage): NodeRow {
    const place = this.#nodes.roomFor(path, want.size, usage)
    if (place.node) {
      this.#nodes.changed(place)
      return place.node
    }
    const node = this.#tree.node(this.#nodes.insert(place, { kind: 'file', mode: want.mode }, usage))
    if (!node) throw new FileSystemError('EIO', path)
    return node
  }

  /** Moves what has gathered in chunks into one new object. They are safe in their rows if it fails. */
  async #compact(inode: number, path: string): Promise<void> {
    await this.#contents.freezing(inode, async (lastSeq) => {
      const node = this.#tree.node(inode)
      const contents = node && (await this.#reader.contentsOf(node, path))
      if (!contents) return
      await this.#contents.upload(contents, path, (key) =>
        this.#change(path, () => {
          const now = this.#tree.node(inode)
          if (now?.revision !== node.revision || now.object !== node.object) return
          this.#contents.dropChunks(inode, lastSeq)
          this.#contents.discard(node.object)
          this.#contents.adopt(key)
          this.#storage.sql.exec('UPDATE workspace_nodes SET object = ? WHERE inode = ?', key, inode)
        }),
      )
      await this.#contents.sweep()
    })
  }

  #currentUsage(): Usage {
    this.#usage ??= this.#nodes.measure()
    return this.#usage
  }

  /** One transaction: all of it or, when it throws, nothing. */
  #change<T>(path: string, change: (usage: Usage) => T): T {
    const usage = { ...this.#currentUsage() }
    try {
      const result = this.#storage.transactionSync(() => {
        this.versions?.prepare()
        return change(usage)
      })
      this.#usage = usage
      return result
    } catch (error) {
      this.#tree.forgetFolders()
      this.versions?.takenBack()
      if (isFileError(error) || !isStorageFull(error)) throw error
      throw new FileSystemError('ENOSPC', path, { cause: error })
    }
  }
}

function isStorageFull(error: unknown): boolean {
  return error instanceof Error && /SQLITE_FULL|database or disk is full/.test(error.message)
}
