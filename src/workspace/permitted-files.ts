// The file tree with the permissions of its owner: an operation that the permission bits forbid fails with EACCES, as
// for a user who is not root. Commands of the shell use this one; the product's own tools and routes use the tree
// directly.

import {
  type DirectoryEntry,
  type FileStat,
  type FileSystem,
  FileSystemError,
  isFileError,
  type ScannedEntry,
  type StagedContents,
} from './file-system.ts'
import { lstatAt, statAt } from './stat.ts'

const READ = 0o400
const WRITE = 0o200
const SEARCH = 0o100

export class PermittedFiles implements FileSystem {
  readonly #fs: FileSystem
  readonly #may: Permissions
  readonly #opened: OpenedFiles

  constructor(fs: FileSystem) {
    this.#fs = fs
    this.#may = new Permissions(fs)
    this.#opened = new OpenedFiles(fs)
  }

  exists(path: string): boolean {
    try {
      this.#may.assertReachable(path)
      return this.#fs.exists(path)
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  stat(path: string): FileStat {
    this.#may.assertReachable(path)
    return this.#fs.stat(path)
  }

  lstat(path: string): FileStat {
    this.#may.assertNamed(path)
    return this.#fs.lstat(path)
  }

  list(path: string): DirectoryEntry[] {
    this.#may.assertReadable(path)
    return this.#fs.list(path)
  }

  realPath(path: string): string {
    this.#may.assertReachable(path)
    return this.#fs.realPath(path)
  }

  readLink(path: string): string {
    this.#may.assertNamed(path)
    return this.#fs.readLink(path)
  }

  makeDirectory(path: string, options: { recursive?: boolean } = {}): void {
    if (!this.exists(path)) this.#may.assertChangeable(options.recursive ? this.#firstMissing(path) : path)
    this.#fs.makeDirectory(path, options)
  }

  remove(path: string, options: { recursive?: boolean } = {}): void {
    this.#may.assertRemovable(path, options.recursive ?? false)
    this.#may.forget()
    this.#fs.remove(path, options)
  }

  rename(from: string, to: string): void {
    this.#may.assertMovable(from, to)
    this.#may.forget()
    this.#fs.rename(from, to)
  }

  symlink(target: string, path: string): void {
    this.#may.assertChangeable(path)
    this.#may.forget()
    this.#fs.symlink(target, path)
  }

  chmod(path: string, mode: number): void {
    this.#may.assertReachable(path)
    this.#may.forget()
    this.#fs.chmod(path, mode)
    this.#opened.modeChanged(this.#fs.stat(path).inode)
  }

  utimes(path: string, mtimeMs: number): void {
    this.#may.assertReachable(path)
    this.#fs.utimes(path, mtimeMs)
  }

  async read(path: string): Promise<Uint8Array> {
    this.#may.assertReadable(path)
    return this.#fs.read(path)
  }

  async write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void> {
    if (!this.#opened.takesContents(path, bytes)) this.#may.assertWritable(path)
    await this.#fs.write(path, bytes, options)
    if (bytes.byteLength === 0) this.#opened.note(path)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    if (!this.#opened.takesMore(path, bytes)) this.#may.assertWritable(path)
    await this.#fs.append(path, bytes)
    if (bytes.byteLength === 0) this.#opened.note(path)
  }

  *scan(path: string): Generator<ScannedEntry[]> {
    this.#may.assertReadable(path)
    if ((this.#fs.stat(path).mode & SEARCH) === 0) throw new FileSystemError('EACCES', path)
    for (const entries of this.#fs.scan(path)) {
      yield entries.map((entry) => (isHidden(entry) ? { ...entry, bytes: null } : entry))
    }
  }

  async *readParts(path: string): AsyncGenerator<Uint8Array> {
    this.#may.assertReadable(path)
    yield* this.#fs.readParts(path)
  }

  async stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    const staged = await this.#fs.stage(parts)
    return {
      sizeBytes: staged.sizeBytes,
      place: (path, mode) => {
        this.#may.assertWritable(path)
        staged.place(path, mode)
      },
      release: () => staged.release(),
    }
  }

  #firstMissing(path: string): string {
    let missing = path
    for (let at = path; at !== '' && !this.#fs.exists(at); at = at.slice(0, at.lastIndexOf('/'))) missing = at
    return missing
  }
}

/**
 * Files that were truncated or extended by nothing, which is how a file is opened here. Later writes to them are
 * allowed, as with an open file descriptor.
 */
class OpenedFiles {
  readonly #fs: FileSystem
  readonly #inodes = new Set<number>()
  /** Those with an unchanged mode: a file that is created under `umask 377` accepts the writes it was opened for. */
  readonly #asIs = new Set<number>()

  constructor(fs: FileSystem) {
    this.#fs = fs
  }

  note(path: string): void {
    const stat = statAt(this.#fs, path)
    if (!stat) return
    this.#inodes.add(stat.inode)
    this.#asIs.add(stat.inode)
  }

  modeChanged(inode: number): void {
    this.#asIs.delete(inode)
  }

  takesContents(path: string, bytes: Uint8Array): boolean {
    return this.#isIn(this.#asIs, path, bytes)
  }

  takesMore(path: string, bytes: Uint8Array): boolean {
    return this.#isIn(this.#inodes, path, bytes)
  }

  #isIn(opened: ReadonlySet<number>, path: string, bytes: Uint8Array): boolean {
    if (bytes.byteLength === 0 || opened.size === 0) return false
    const stat = statAt(this.#fs, path)
    return stat !== null && opened.has(stat.inode)
  }
}

/** A link has no permissions of its own. */
function isHidden({ stat }: ScannedEntry): boolean {
  return stat.kind === 'file' && (stat.mode & READ) === 0
}

// What the permission bits of files and folders allow their owner, who is the only user here: the third digit from the
// right of `chmod 640`. A folder must be searchable (x) to reach anything in it.

class Permissions {
  readonly #fs: FileSystem
  /** Folders that are searchable, together with all folders above them; valid until a mode or a path changes. */
  readonly #searchable = new Set<string>()
  readonly #writable = new Set<string>()

  constructor(fs: FileSystem) {
    this.#fs = fs
  }

  /** Must be called before a mode or a path changes. */
  forget(): void {
    this.#searchable.clear()
    this.#writable.clear()
  }

  /** Checks the folders in the path, and those in the path of its target if it is a link. */
  assertReachable(path: string): void {
    this.#assertSearchable(parentOf(path), path)
    const stat = lstatAt(this.#fs, path)
    if (stat?.kind !== 'symlink') return
    const goal = this.#goalOf(path)
    if (goal !== null) this.#assertSearchable(parentOf(goal), path)
  }

  /** Checks the folders in the path, whether or not a file exists there. */
  assertNamed(path: string): void {
    this.#assertSearchable(parentOf(path), path)
  }

  assertReadable(path: string): void {
    this.assertReachable(path)
    this.#assertBit(statAt(this.#fs, path), READ, path)
  }

  /** An existing file must be writable; if there is none, its folder must be. */
  assertWritable(path: string): void {
    this.assertReachable(path)
    const stat = statAt(this.#fs, path)
    if (stat) this.#assertBit(stat, WRITE, path)
    else this.assertChangeable(path)
  }

  /** Names are created and removed by the permissions of their folder, not by those of the file. */
  assertChangeable(path: string): void {
    const folder = parentOf(path)
    this.#assertSearchable(folder, path)
    if (this.#writable.has(folder)) return
    this.#assertBit(statAt(this.#fs, folder), WRITE, path)
    this.#writable.add(folder)
  }

  /** Also checks the folders below: each that is not empty must be readable, writable and searchable. */
  assertRemovable(path: string, isRecursive: boolean): void {
    this.assertChangeable(path)
    if (!isRecursive) return
    const stat = lstatAt(this.#fs, path)
    if (stat?.kind !== 'directory') return
    if (allows(stat, READ | WRITE | SEARCH)) {
      for (const { name, kind } of this.#fs.list(path)) {
        if (kind === 'directory') this.assertRemovable(`${path}/${name}`, true)
      }
    } else if (this.#fs.list(path).length > 0) throw new FileSystemError('EACCES', path)
  }

  /** A folder that moves into another one changes its `..`, so it must be writable. */
  assertMovable(from: string, to: string): void {
    this.assertChangeable(from)
    this.assertChangeable(to)
    const stat = lstatAt(this.#fs, from)
    if (stat?.kind === 'directory' && parentOf(from) !== parentOf(to)) this.#assertBit(stat, WRITE, from)
  }

  #assertSearchable(folder: string, path: string): void {
    if (this.#searchable.has(folder)) return
    if (folder !== '/') this.#assertSearchable(parentOf(folder), path)
    const stat = lstatAt(this.#fs, folder)
    if (stat?.kind === 'symlink') {
      const goal = this.#goalOf(folder)
      if (goal !== null) this.#assertSearchable(goal, path)
    } else if (stat?.kind !== 'directory') return
    else this.#assertBit(stat, SEARCH, path)
    this.#searchable.add(folder)
  }

  #goalOf(link: string): string | null {
    try {
      return this.#fs.realPath(link)
    } catch (error) {
      // It leads nowhere, which whoever follows it is told.
      if (isFileError(error)) return null
      throw error
    }
  }

  #assertBit(stat: FileStat | null, bit: number, path: string): void {
    if (stat && !allows(stat, bit)) throw new FileSystemError('EACCES', path)
  }
}

function allows({ mode }: FileStat, bits: number): boolean {
  return (mode & bits) === bits
}

function parentOf(path: string): string {
  return path.slice(0, path.replace(/\/+$/, '').lastIndexOf('/')) || '/'
}
