// The tree of a conversation's files, and every change of it. Each change is one transaction over the rows, so that a crash
// leaves the tree as it was before or after, never between.

import {
  assertMovable,
  type DirectoryEntry,
  type FileStat,
  FileSystemError,
  isFileError,
  MODE_BITS,
  pathNames,
  targetNames,
  type WorkspaceLimits,
} from '../../../src/workspace/file-system.ts'
import { isStorageFull } from '../../sql.ts'
import type { WorkspaceContents } from './contents.ts'
import { type ChangeObserver, type Usage, WorkspaceNodes } from './nodes.ts'
import { statOf } from './reader.ts'
import { realPathOf, type WorkspaceTree } from './tree.ts'
import type { WorkspaceVersions } from './versions.ts'

type TreeDeps = {
  storage: DurableObjectStorage
  tree: WorkspaceTree
  contents: WorkspaceContents
  limits: WorkspaceLimits
  observe: ChangeObserver
  versions: WorkspaceVersions | null
}

export class StoredTree {
  protected readonly storage: DurableObjectStorage
  protected readonly tree: WorkspaceTree
  protected readonly nodes: WorkspaceNodes
  /** The tree as it was at each event. */
  readonly versions: WorkspaceVersions | null
  #usage: Usage | null = null

  constructor({ storage, tree, contents, limits, observe, versions }: TreeDeps) {
    this.storage = storage
    this.tree = tree
    this.versions = versions
    this.nodes = new WorkspaceNodes({ sql: storage.sql, tree, contents, limits, observe })
  }

  exists(path: string): boolean {
    return this.tree.isThere(path)
  }

  stat(path: string): FileStat {
    return statOf(this.tree.existing(path, true).node)
  }

  lstat(path: string): FileStat {
    return statOf(this.tree.existing(path, false).node)
  }

  list(path: string): DirectoryEntry[] {
    const { node } = this.tree.existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    return this.tree.entries(node.inode).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  realPath(path: string): string {
    return realPathOf(this.tree.existing(path, true))
  }

  readLink(path: string): string {
    const { node } = this.tree.existing(path, false)
    if (node.target === null) throw new FileSystemError('EINVAL', path)
    return node.target
  }

  makeDirectory(path: string, options: { recursive?: boolean } = {}): void {
    this.change(path, (usage) => {
      if (options.recursive) return this.#makeDirectories(path, usage)
      const place = this.tree.walk(path, false)
      if (place.node) throw new FileSystemError('EEXIST', path)
      this.nodes.insert(place, { kind: 'directory' }, usage)
    })
  }

  remove(path: string, options: { recursive?: boolean } = {}): void {
    this.change(path, (usage) => {
      const place = this.tree.existing(path, false)
      assertMovable(realPathOf(place))
      if (!options.recursive && !this.tree.isEmpty(place.node.inode)) throw new FileSystemError('ENOTEMPTY', path)
      this.nodes.drop(place, usage)
    })
  }

  rename(from: string, to: string): void {
    this.change(to, (usage) => {
      const source = this.tree.existing(from, false)
      assertMovable(realPathOf(source))
      const goal = this.tree.walk(to, false)
      if (goal.node?.inode === source.node.inode) return
      if (goal.above.some(({ inode }) => inode === source.node.inode)) throw new FileSystemError('EINVAL', to)
      if (goal.node) {
        assertMovable(realPathOf(goal))
        this.nodes.assertReplaceable(source.node, goal.node, to)
        this.nodes.drop({ ...goal, node: goal.node }, usage)
      }
      this.nodes.move(source, goal)
    })
  }

  symlink(target: string, path: string): void {
    targetNames(target, path)
    this.change(path, (usage) => {
      const place = this.tree.walk(path, false)
      if (place.node) throw new FileSystemError('EEXIST', path)
      this.nodes.insert(place, { kind: 'symlink', target }, usage)
    })
  }

  chmod(path: string, mode: number): void {
    const place = this.tree.existing(path, true)
    this.change(path, () => {
      this.storage.sql.exec('UPDATE workspace_nodes SET mode = ? WHERE inode = ?', mode & MODE_BITS, place.node.inode)
      this.nodes.changed(place)
    })
  }

  utimes(path: string, mtimeMs: number): void {
    const { inode } = this.tree.existing(path, true).node
    if (!Number.isFinite(mtimeMs)) throw new FileSystemError('EINVAL', path)
    this.change(path, () =>
      this.storage.sql.exec('UPDATE workspace_nodes SET mtime = ? WHERE inode = ?', Math.trunc(mtimeMs), inode),
    )
  }

  #makeDirectories(path: string, usage: Usage): void {
    const names = pathNames(path)
    for (let depth = 1; depth <= names.length; depth++) {
      const prefix = `/${names.slice(0, depth).join('/')}`
      const { node } = this.tree.walk(prefix, true)
      if (node && node.kind !== 'directory') {
        throw new FileSystemError(depth === names.length ? 'EEXIST' : 'ENOTDIR', prefix)
      }
      if (node) continue
      const place = this.tree.walk(prefix, false)
      // A link whose target is missing: a folder cannot be made in its place.
      if (place.node) throw new FileSystemError('EEXIST', prefix)
      this.nodes.insert(place, { kind: 'directory' }, usage)
    }
  }

  protected currentUsage(): Usage {
    this.#usage ??= this.nodes.measure()
    return this.#usage
  }

  /** Runs the change in one transaction: if it throws, nothing is changed. */
  protected change<T>(path: string, change: (usage: Usage) => T): T {
    const usage = { ...this.currentUsage() }
    try {
      const result = this.storage.transactionSync(() => {
        this.versions?.prepare()
        return change(usage)
      })
      this.#usage = usage
      return result
    } catch (error) {
      this.tree.forgetFolders()
      this.versions?.takenBack()
      if (isFileError(error) || !isStorageFull(error)) throw error
      throw new FileSystemError('ENOSPC', path, { cause: error })
    }
  }
}
