// The nodes of an in-memory file tree: path resolution, and insertion and removal within the limits.

import {
  DIRECTORY_MODE,
  FILE_MODE,
  FileSystemError,
  MAX_LINKS_FOLLOWED,
  MODE_BITS,
  nextMtime,
  pathNames,
  targetNames,
  type WorkspaceLimits,
} from '../../src/workspace/file-system.ts'

interface Common {
  inode: number
  mode: number
  mtimeMs: number
}
type FileNode = Common & { kind: 'file'; bytes: Uint8Array }
type LinkNode = Common & { kind: 'symlink'; target: string }
export type DirectoryNode = Common & { kind: 'directory'; entries: Map<string, Node> }
export type Node = FileNode | LinkNode | DirectoryNode

/** The result of resolving a path: `node` is null if only its last name is missing. */
export interface ResolvedPath {
  parents: { name: string; node: DirectoryNode }[]
  name: string
  node: Node | null
}

export class MemoryTree {
  readonly #limits: WorkspaceLimits
  readonly #root: DirectoryNode
  protected inodes = 1
  #files = 0
  #bytes = 0

  constructor(limits: WorkspaceLimits) {
    this.#limits = limits
    this.#root = this.directory()
  }

  protected store(path: string, content: () => Uint8Array, sizeBytes: number, mode = FILE_MODE): void {
    if (sizeBytes > this.#limits.maxFileBytes) throw new FileSystemError('ENOSPC', path, { detail: 'file too large' })
    const place = this.walk(path, true)
    if (place.node && place.node.kind !== 'file') throw new FileSystemError('EISDIR', path)
    const growth = sizeBytes - (place.node?.bytes.byteLength ?? 0)
    if (this.#bytes + growth > this.#limits.maxTotalBytes) throw new FileSystemError('ENOSPC', path)
    if (place.node) {
      place.node.mtimeMs = nextMtime(place.node.mtimeMs)
      place.node.bytes = content()
    } else {
      const node: FileNode = {
        kind: 'file',
        bytes: content(),
        mode: mode & MODE_BITS,
        mtimeMs: Date.now(),
        inode: this.inodes++,
      }
      this.put(place, node)
    }
    this.#bytes += growth
  }

  protected directory(): DirectoryNode {
    const inode = this.inodes++
    return { kind: 'directory', entries: new Map(), mode: DIRECTORY_MODE, mtimeMs: Date.now(), inode }
  }

  protected put(place: ResolvedPath, node: Node): void {
    if (this.#files >= this.#limits.maxFiles)
      throw new FileSystemError('ENOSPC', place.name, { detail: 'too many files' })
    parentOf(place).entries.set(place.name, node)
    touch(parentOf(place))
    this.#files++
  }

  protected drop(place: ResolvedPath & { node: Node }): void {
    parentOf(place).entries.delete(place.name)
    touch(parentOf(place))
    this.#forget(place.node)
  }

  #forget(node: Node): void {
    this.#files--
    if (node.kind === 'file') this.#bytes -= node.bytes.byteLength
    if (node.kind === 'directory') for (const child of node.entries.values()) this.#forget(child)
  }

  protected existing(path: string, follow: boolean): ResolvedPath & { node: Node } {
    const place = this.walk(path, follow)
    if (!place.node) throw new FileSystemError('ENOENT', path)
    return { ...place, node: place.node }
  }

  protected walk(path: string, follow: boolean): ResolvedPath {
    const above: ResolvedPath['parents'] = []
    let here: { name: string; node: DirectoryNode } = { name: '', node: this.#root }
    let names = pathNames(path)
    let links = 0
    for (;;) {
      const [name, ...rest] = names
      if (name === undefined) return { parents: above, name: here.name, node: here.node }
      names = rest
      if (name === '..') {
        here = above.pop() ?? here
        continue
      }
      const node = here.node.entries.get(name)
      const last = rest.length === 0
      if (!node && !last) throw new FileSystemError('ENOENT', path)
      if (node?.kind === 'symlink' && (follow || !last)) {
        if (++links > MAX_LINKS_FOLLOWED) throw new FileSystemError('ELOOP', path)
        names = [...targetNames(node.target, path), ...rest]
        if (node.target.startsWith('/')) {
          above.length = 0
          here = { name: '', node: this.#root }
        }
        continue
      }
      if (node?.kind === 'directory') {
        above.push(here)
        here = { name, node }
        continue
      }
      if (!last) throw new FileSystemError('ENOTDIR', path)
      return { parents: [...above, here], name, node: node ?? null }
    }
  }
}

/** The parent directory. Only the root has none, and it is never inserted, removed or moved. */
export function parentOf(place: ResolvedPath): DirectoryNode {
  const parent = place.parents.at(-1)
  if (!parent) throw new FileSystemError('EBUSY', '/')
  return parent.node
}

export function touch(directory: DirectoryNode): void {
  directory.mtimeMs = nextMtime(directory.mtimeMs)
}
