// Resolves paths over the node rows. Every step is one lookup by (parent, name); the folders of the last path are cached, so
// the next file beside it costs one lookup instead of one for each folder.

import {
  FileSystemError,
  isFileError,
  MAX_LINKS_FOLLOWED,
  pathNames,
  targetNames,
} from '../../../src/workspace/file-system.ts'
import { firstRow, rows } from '../../sql.ts'
import { type NodeRow, ROOT_INODE } from './rows.ts'

type Folder = { inode: number; name: string }

/** The end of a path: `node` is null when only the last name is missing. Only the root has no folders above it. */
export type ResolvedPath = { above: Folder[]; name: string; node: NodeRow | null }
export type ExistingPath = ResolvedPath & { node: NodeRow }

const ROOT: Folder = { inode: ROOT_INODE, name: '' }
const MAX_REMEMBERED_FOLDERS = 2000

export class WorkspaceTree implements Nodes {
  readonly #sql: SqlStorage
  /** The chain of real folders of a path without links; valid until a folder is moved or removed. */
  readonly #remembered = new Map<string, readonly Folder[]>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** To be called when a folder was moved or removed, or a change was rolled back. */
  forgetFolders(): void {
    this.#remembered.clear()
  }

  node(inode: number): NodeRow | null {
    return firstRow<NodeRow>(this.#sql, 'SELECT * FROM workspace_nodes WHERE inode = ?', inode)
  }

  entries(inode: number): Pick<NodeRow, 'name' | 'kind'>[] {
    return rows(this.#sql, 'SELECT name, kind FROM workspace_nodes WHERE parent = ?', inode)
  }

  /** The entries with names after the given one, ordered by name. */
  entriesAfter(inode: number, name: string, limit: number): NodeRow[] {
    const query = 'SELECT * FROM workspace_nodes WHERE parent = ? AND name > ? ORDER BY name LIMIT ?'
    return rows(this.#sql, query, inode, name, limit)
  }

  isEmpty(inode: number): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM workspace_nodes WHERE parent = ? LIMIT 1', inode) === null
  }

  existing(path: string, follow: boolean): ExistingPath {
    const place = this.walk(path, follow)
    if (!place.node) throw new FileSystemError('ENOENT', path)
    return { ...place, node: place.node }
  }

  isThere(path: string): boolean {
    try {
      return this.walk(path, true).node !== null
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  /** Follows links on the way; a link at the end only if `follow`. */
  walk(path: string, follow: boolean): ResolvedPath {
    const names = pathNames(path)
    const folderKey = names.slice(0, -1).join('/')
    const known = this.#remembered.get(folderKey)
    const folders: Folder[] = known ? [...known] : [ROOT]
    const plain = known !== undefined || !names.includes('..')
    const walk = new Walk(this, { path, follow, folders, names: known ? names.slice(-1) : [...names] })
    const place = walk.run()
    if (plain && walk.linksOnTheWay === 0 && known === undefined && names.length > 1) {
      this.#remember(folderKey, place.above)
    }
    return place
  }

  child(parent: number, name: string): NodeRow | null {
    return firstRow<NodeRow>(this.#sql, 'SELECT * FROM workspace_nodes WHERE parent = ? AND name = ?', parent, name)
  }

  #remember(key: string, folders: readonly Folder[]): void {
    if (this.#remembered.size >= MAX_REMEMBERED_FOLDERS) this.#remembered.clear()
    this.#remembered.set(key, folders)
  }
}

/** A source of nodes: the present tree, or an earlier version. */
export interface Nodes {
  node(inode: number): NodeRow | null
  child(parent: number, name: string): NodeRow | null
}

/** Follows links on the way; a link at the end only if `follow`. */
export function walkNodes(nodes: Nodes, path: string, follow: boolean): ResolvedPath {
  return new Walk(nodes, { path, follow, folders: [ROOT], names: [...pathNames(path)] }).run()
}

/** The walk along one path. */
class Walk {
  /** Links followed so far. After any link, the folders are not those that the path names. */
  linksOnTheWay = 0
  readonly #tree: Nodes
  readonly #path: string
  readonly #follow: boolean
  readonly #folders: Folder[]
  #names: string[]

  constructor(tree: Nodes, start: { path: string; follow: boolean; folders: Folder[]; names: string[] }) {
    this.#tree = tree
    this.#path = start.path
    this.#follow = start.follow
    this.#folders = start.folders
    this.#names = start.names
  }

  run(): ResolvedPath {
    for (let name = this.#names.shift(); name !== undefined; name = this.#names.shift()) {
      const end = name === '..' ? this.#up() : this.#into(name)
      if (end) return end
    }
    const here = this.#folders.pop() ?? ROOT
    return { above: this.#folders, name: here.name, node: this.#tree.node(here.inode) }
  }

  #up(): null {
    if (this.#folders.length > 1) this.#folders.pop()
    return null
  }

  #into(name: string): ResolvedPath | null {
    const last = this.#names.length === 0
    const node = this.#tree.child((this.#folders.at(-1) ?? ROOT).inode, name)
    if (!node && !last) throw new FileSystemError('ENOENT', this.#path)
    if (node?.kind === 'symlink' && (this.#follow || !last)) return this.#through(node.target ?? '')
    if (last) return { above: this.#folders, name, node }
    if (node?.kind !== 'directory') throw new FileSystemError('ENOTDIR', this.#path)
    this.#folders.push({ inode: node.inode, name })
    return null
  }

  #through(target: string): null {
    if (++this.linksOnTheWay > MAX_LINKS_FOLLOWED) throw new FileSystemError('ELOOP', this.#path)
    this.#names = [...targetNames(target, this.#path), ...this.#names]
    if (target.startsWith('/')) this.#folders.splice(1)
    return null
  }
}

/** The path of the place without links or `..`. */
export function realPathOf(place: ResolvedPath): string {
  return `/${[...place.above.map(({ name }) => name), place.name].slice(1).join('/')}`
}

/** The inode of the folder that contains the place. The root has none, and cannot be inserted, removed or moved. */
export function parentOf(place: ResolvedPath): number {
  const parent = place.above.at(-1)
  if (!parent) throw new FileSystemError('EBUSY', '/')
  return parent.inode
}
