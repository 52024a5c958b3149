// A file tree that lives as long as the object that holds it. It keeps to the rules of the durable one, written
// independently of it, so that each can be tested against the other.

import { joinBytes } from '../../src/lib/bytes.ts'
import {
  assertMovable,
  byteLength,
  DEFAULT_WORKSPACE_LIMITS,
  type DirectoryEntry,
  type FileStat,
  type FileSystem,
  FileSystemError,
  isFileError,
  LINK_MODE,
  MODE_BITS,
  pathNames,
  SCANNED_BYTES,
  type ScannedEntry,
  type StagedContents,
  targetNames,
  type WorkspaceLimits,
} from '../../src/workspace/file-system.ts'
import { MemoryTree, type Node, parentOf, type ResolvedPath, touch } from './memory-tree.ts'

/** Directories that every tree starts with, parents first. */
const INITIAL_DIRECTORIES = ['/workspace', '/tmp', '/home', '/home/user'] as const

export class MemoryFileSystem extends MemoryTree implements FileSystem {
  constructor(limits: WorkspaceLimits = DEFAULT_WORKSPACE_LIMITS) {
    super(limits)
    for (const path of INITIAL_DIRECTORIES) this.makeDirectory(path)
  }

  exists(path: string): boolean {
    try {
      return this.walk(path, true).node !== null
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  stat(path: string): FileStat {
    return statOf(this.existing(path, true).node)
  }

  lstat(path: string): FileStat {
    return statOf(this.existing(path, false).node)
  }

  list(path: string): DirectoryEntry[] {
    const { node } = this.existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    return [...node.entries].map(([name, { kind }]) => ({ name, kind })).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  realPath(path: string): string {
    return realPathOf(this.existing(path, true))
  }

  readLink(path: string): string {
    const { node } = this.existing(path, false)
    if (node.kind !== 'symlink') throw new FileSystemError('EINVAL', path)
    return node.target
  }

  makeDirectory(path: string, options: { recursive?: boolean } = {}): void {
    if (!options.recursive) {
      const place = this.walk(path, false)
      if (place.node) throw new FileSystemError('EEXIST', path)
      this.put(place, this.directory())
      return
    }
    const names = pathNames(path)
    const made: string[] = []
    try {
      for (let depth = 1; depth <= names.length; depth++) {
        const prefix = `/${names.slice(0, depth).join('/')}`
        const there = this.walk(prefix, true).node
        if (there && there.kind !== 'directory') {
          throw new FileSystemError(depth === names.length ? 'EEXIST' : 'ENOTDIR', prefix)
        }
        if (there) continue
        this.makeDirectory(prefix)
        made.push(prefix)
      }
    } catch (error) {
      for (const prefix of made.reverse()) this.remove(prefix)
      throw error
    }
  }

  remove(path: string, options: { recursive?: boolean } = {}): void {
    const place = this.existing(path, false)
    assertMovable(realPathOf(place))
    if (place.node.kind === 'directory' && place.node.entries.size > 0 && !options.recursive) {
      throw new FileSystemError('ENOTEMPTY', path)
    }
    this.drop(place)
  }

  rename(from: string, to: string): void {
    const source = this.existing(from, false)
    assertMovable(realPathOf(source))
    const goal = this.walk(to, false)
    if (goal.node === source.node) return
    if (goal.parents.some(({ node }) => node === source.node)) throw new FileSystemError('EINVAL', to)
    if (goal.node) {
      assertMovable(realPathOf(goal))
      assertReplaceable(source.node, goal.node, to)
      this.drop({ ...goal, node: goal.node })
    }
    const { node } = source
    parentOf(source).entries.delete(source.name)
    touch(parentOf(source))
    parentOf(goal).entries.set(goal.name, node)
    touch(parentOf(goal))
  }

  symlink(target: string, path: string): void {
    targetNames(target, path)
    const place = this.walk(path, false)
    if (place.node) throw new FileSystemError('EEXIST', path)
    this.put(place, { kind: 'symlink', target, mode: LINK_MODE, mtimeMs: Date.now(), inode: this.inodes++ })
  }

  chmod(path: string, mode: number): void {
    this.existing(path, true).node.mode = mode & MODE_BITS
  }

  utimes(path: string, mtimeMs: number): void {
    const { node } = this.existing(path, true)
    if (!Number.isFinite(mtimeMs)) throw new FileSystemError('EINVAL', path)
    node.mtimeMs = Math.trunc(mtimeMs)
  }

  async read(path: string): Promise<Uint8Array> {
    const { node } = this.existing(path, true)
    if (node.kind !== 'file') throw new FileSystemError('EISDIR', path)
    return node.bytes.slice()
  }

  async write(path: string, bytes: Uint8Array, options: { mode?: number } = {}): Promise<void> {
    this.store(path, () => bytes.slice(), bytes.byteLength, options.mode)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    const { node } = this.walk(path, true)
    const old = node?.kind === 'file' ? node.bytes : new Uint8Array()
    this.store(path, () => joinBytes([old, bytes]), old.byteLength + bytes.byteLength)
  }

  *scan(path: string): Generator<ScannedEntry[]> {
    const { node } = this.existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    const entries = [...node.entries].map(([name, entry]) => ({
      name,
      stat: statOf(entry),
      bytes: scannedBytes(entry),
    }))
    yield entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async *readParts(path: string): AsyncGenerator<Uint8Array> {
    yield await this.read(path)
  }

  async stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    const copies: Uint8Array[] = []
    for await (const part of parts) copies.push(part.slice())
    const bytes = joinBytes(copies)
    return {
      sizeBytes: bytes.byteLength,
      place: (path, mode) => this.store(path, () => bytes, bytes.byteLength, mode),
      release: () => undefined,
    }
  }
}

function statOf(node: Node): FileStat {
  const { kind, mode, mtimeMs, inode } = node
  const sizeBytes = node.kind === 'file' ? node.bytes.byteLength : node.kind === 'symlink' ? byteLength(node.target) : 0
  return { kind, mode, mtimeMs, inode, sizeBytes }
}

function scannedBytes(node: Node): Uint8Array | null {
  if (node.kind === 'symlink') return new TextEncoder().encode(node.target)
  return node.kind === 'file' && node.bytes.byteLength <= SCANNED_BYTES ? node.bytes.slice() : null
}

function realPathOf(place: ResolvedPath): string {
  const names = [...place.parents.map(({ name }) => name), place.name]
  return `/${names.slice(1).join('/')}`
}

function assertReplaceable(source: Node, goal: Node, path: string): void {
  if (source.kind === 'directory') {
    if (goal.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    if (goal.entries.size > 0) throw new FileSystemError('ENOTEMPTY', path)
  } else if (goal.kind === 'directory') {
    throw new FileSystemError('EISDIR', path)
  }
}
