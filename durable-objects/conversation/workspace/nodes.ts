// Changes to the node rows. Each is part of a transaction that the store opens, and updates the given usage.

import {
  byteLength,
  DIRECTORY_MODE,
  FILE_MODE,
  FileSystemError,
  LINK_MODE,
  MODE_BITS,
  nextMtime,
  type WorkspaceLimits,
} from '../../../src/workspace/file-system.ts'
import { firstRow } from '../../sql.ts'
import type { WorkspaceContents } from './contents.ts'
import { NOWHERE, type NodeRow, ROOT_INODE } from './rows.ts'
import { type ExistingPath, parentOf, type ResolvedPath, realPathOf, type WorkspaceTree } from './tree.ts'

/** Called for each change, within its transaction: for the entry alone, or for the entry and everything below it. */
export type ChangeObserver = (realPath: string, what: 'entry' | 'subtree') => void

/** The usage that counts against the limits. */
export type Usage = { files: number; bytes: number }

/** Where a file's contents are: rows, or a key of R2. */
export type NewContents = { bytes: Uint8Array } | { key: string }

export type NewNode =
  | { kind: 'directory' }
  | { kind: 'file'; mode?: number | undefined; size?: number; contents?: NewContents }
  | { kind: 'symlink'; target: string }

/** A node and everything below it. */
const SUBTREE = `
  WITH RECURSIVE subtree (inode) AS (
    SELECT ?1 UNION ALL
    SELECT child.inode FROM workspace_nodes AS child JOIN subtree ON child.parent = subtree.inode
  )`

export interface NodesDeps {
  sql: SqlStorage
  tree: WorkspaceTree
  contents: WorkspaceContents
  limits: WorkspaceLimits
  observe: ChangeObserver
}

export class WorkspaceNodes {
  readonly #sql: SqlStorage
  readonly #tree: WorkspaceTree
  readonly #contents: WorkspaceContents
  readonly #limits: WorkspaceLimits
  readonly #observe: ChangeObserver

  constructor(deps: NodesDeps) {
    this.#sql = deps.sql
    this.#tree = deps.tree
    this.#contents = deps.contents
    this.#limits = deps.limits
    this.#observe = deps.observe
  }

  measure(): Usage {
    const usage = firstRow<Usage>(
      this.#sql,
      `SELECT COUNT(*) AS files, TOTAL(CASE kind WHEN 'file' THEN size ELSE 0 END) AS bytes
       FROM workspace_nodes WHERE inode <> ? AND parent <> ?`,
      ROOT_INODE,
      NOWHERE,
    )
    return usage ?? { files: 0, bytes: 0 }
  }

  /** Adds an entry at a free place and returns its inode. */
  insert(place: ResolvedPath, node: NewNode, usage: Usage): number {
    if (usage.files >= this.#limits.maxFiles) {
      throw new FileSystemError('ENOSPC', place.name, { detail: 'too many files' })
    }
    const parent = parentOf(place)
    const target = node.kind === 'symlink' ? node.target : null
    const contents = node.kind === 'file' ? node.contents : undefined
    const row = firstRow<{ inode: number }>(
      this.#sql,
      `INSERT INTO workspace_nodes (parent, name, kind, mode, mtime, size, target, object)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING inode`,
      parent,
      place.name,
      node.kind,
      modeOf(node),
      Date.now(),
      sizeOf(node),
      target,
      contents !== undefined && 'key' in contents ? contents.key : null,
    )
    const inode = row?.inode ?? 0
    if (contents !== undefined) this.#place(inode, contents)
    this.touch(parent)
    this.changed(place)
    usage.files++
    usage.bytes += node.kind === 'file' ? sizeOf(node) : 0
    return inode
  }

  /** Removes the entry and everything below it; its objects in R2 become garbage. */
  drop(place: ExistingPath, usage: Usage): void {
    const { inode } = place.node
    const gone = firstRow<Usage>(
      this.#sql,
      `${SUBTREE} SELECT COUNT(*) AS files, TOTAL(CASE kind WHEN 'file' THEN size ELSE 0 END) AS bytes
       FROM workspace_nodes WHERE inode IN subtree`,
      inode,
    )
    this.#contents.discardAll(`${SUBTREE} SELECT object FROM workspace_nodes WHERE inode IN subtree`, inode)
    this.#sql.exec(`${SUBTREE} DELETE FROM workspace_chunks WHERE inode IN subtree`, inode)
    this.#sql.exec(`${SUBTREE} DELETE FROM workspace_nodes WHERE inode IN subtree`, inode)
    if (place.node.kind === 'directory') this.#tree.forgetFolders()
    this.touch(parentOf(place))
    this.changed(place)
    usage.files -= gone?.files ?? 0
    usage.bytes -= gone?.bytes ?? 0
  }

  move(source: ExistingPath, goal: ResolvedPath): void {
    const { inode, kind } = source.node
    const parent = parentOf(goal)
    this.#sql.exec('UPDATE workspace_nodes SET parent = ?, name = ? WHERE inode = ?', parent, goal.name, inode)
    if (kind === 'directory') this.#tree.forgetFolders()
    this.touch(parentOf(source))
    this.touch(parent)
    this.changed(source)
    this.changed({ ...goal, node: source.node })
  }

  /** Moves a staged file to its path, where there is a file or nothing; `mode` is used only for a new file. */
  settle(inode: number, goal: { path: string; size: number; mode?: number | undefined }, usage: Usage): void {
    const place = this.roomFor(goal.path, goal.size, usage)
    const { node } = place
    if (node) this.drop({ ...place, node }, usage)
    if (usage.files >= this.#limits.maxFiles) {
      throw new FileSystemError('ENOSPC', goal.path, { detail: 'too many files' })
    }
    const parent = parentOf(place)
    this.#sql.exec(
      'UPDATE workspace_nodes SET parent = ?, name = ?, mode = ?, mtime = ? WHERE inode = ?',
      parent,
      place.name,
      node?.mode ?? modeOf({ kind: 'file', mode: goal.mode }),
      nextMtime(node?.mtime ?? 0),
      inode,
    )
    this.touch(parent)
    this.changed(place)
    usage.files++
    usage.bytes += goal.size
  }

  /** Throws unless what is at `goal` may be replaced by moving `source` there. */
  assertReplaceable(source: NodeRow, goal: NodeRow, path: string): void {
    if (source.kind === 'directory') {
      if (goal.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
      if (!this.#tree.isEmpty(goal.inode)) throw new FileSystemError('ENOTEMPTY', path)
    } else if (goal.kind === 'directory') {
      throw new FileSystemError('EISDIR', path)
    }
  }

  /** The place for a file of this size. Throws unless there is a file or nothing, and the limits allow it. */
  roomFor(path: string, sizeBytes: number, usage: Usage): ResolvedPath {
    if (sizeBytes > this.#limits.maxFileBytes) throw new FileSystemError('ENOSPC', path, { detail: 'file too large' })
    const place = this.#tree.walk(path, true)
    if (place.node && place.node.kind !== 'file') throw new FileSystemError('EISDIR', path)
    if (usage.bytes + sizeBytes - (place.node?.size ?? 0) > this.#limits.maxTotalBytes) {
      throw new FileSystemError('ENOSPC', path)
    }
    return place
  }

  /** Replaces all contents of the file. */
  replaceContents(node: NodeRow, size: number, contents: NewContents): void {
    const { inode } = node
    const key = 'key' in contents ? contents.key : null
    // An empty file has no chunks.
    if (node.size > 0) this.#contents.dropChunks(inode)
    this.#contents.discard(node.object)
    this.#place(inode, contents)
    this.#sql.exec(
      'UPDATE workspace_nodes SET size = ?, mtime = ?, object = ?, revision = revision + 1 WHERE inode = ?',
      size,
      nextMtime(node.mtime),
      key,
      inode,
    )
  }

  /** Stores the contents of a file that has none. */
  #place(inode: number, contents: NewContents): void {
    if ('bytes' in contents) this.#contents.addFirstChunks(inode, contents.bytes)
    else this.#contents.adopt(contents.key)
  }

  growContents(node: NodeRow, bytes: Uint8Array): void {
    this.#contents.addChunks(node.inode, bytes)
    this.#sql.exec(
      'UPDATE workspace_nodes SET size = ?, mtime = ? WHERE inode = ?',
      node.size + bytes.byteLength,
      nextMtime(node.mtime),
      node.inode,
    )
  }

  /** To be called for changes in place: the other functions report new, moved and removed entries themselves. */
  changed(place: ResolvedPath): void {
    this.#observe(realPathOf(place), place.node?.kind === 'directory' ? 'subtree' : 'entry')
  }

  touch(inode: number): void {
    // The same rule as `nextMtime`, without reading the row first.
    this.#sql.exec(
      `UPDATE workspace_nodes SET mtime = CASE WHEN mtime >= ?1 AND mtime < ?1 + 1000 THEN mtime + 1 ELSE ?1 END
       WHERE inode = ?2`,
      Date.now(),
      inode,
    )
  }
}

/** The size of a link is the length of its target. */
function sizeOf(node: NewNode): number {
  return node.kind === 'symlink' ? byteLength(node.target) : node.kind === 'file' ? (node.size ?? 0) : 0
}

function modeOf(node: NewNode): number {
  if (node.kind === 'directory') return DIRECTORY_MODE
  return node.kind === 'symlink' ? LINK_MODE : (node.mode ?? FILE_MODE) & MODE_BITS
}
