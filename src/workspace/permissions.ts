// What the permission bits of files and folders allow their owner, who is the only user here: the third digit from the right
// of `chmod 640`. A folder must be searchable (x) on the way to whatever stands in it.

import { type FileStat, type FileSystem, FileSystemError, isFileError } from './file-system.ts'
import { lstatAt, statAt } from './stat.ts'

const READ = 0o400
const WRITE = 0o200
const SEARCH = 0o100

export class Permissions {
  readonly #fs: FileSystem
  /** Folders that are searchable, and so is everything above them; right until a mode or a place changes. */
  readonly #searchable = new Set<string>()
  readonly #writable = new Set<string>()

  constructor(fs: FileSystem) {
    this.#fs = fs
  }

  /** To be called before a mode or a place changes. */
  forget(): void {
    this.#searchable.clear()
    this.#writable.clear()
  }

  /** The folders on the way to the path, and on the way to what it leads to if it is a link. */
  assertReachable(path: string): void {
    this.#assertSearchable(parentOf(path), path)
    const stat = lstatAt(this.#fs, path)
    if (stat?.kind !== 'symlink') return
    const goal = this.#goalOf(path)
    if (goal !== null) this.#assertSearchable(parentOf(goal), path)
  }

  /** The folders on the way, whatever stands at the path. */
  assertNamed(path: string): void {
    this.#assertSearchable(parentOf(path), path)
  }

  assertReadable(path: string): void {
    this.assertReachable(path)
    this.#assertBit(statAt(this.#fs, path), READ, path)
  }

  /** What stands there must be writable; where nothing is, the folder that gets it. */
  assertWritable(path: string): void {
    this.assertReachable(path)
    const stat = statAt(this.#fs, path)
    if (stat) this.#assertBit(stat, WRITE, path)
    else this.assertChangeable(path)
  }

  /** Names come and go by the permissions of their folder, not by those of the file. */
  assertChangeable(path: string): void {
    const folder = parentOf(path)
    this.#assertSearchable(folder, path)
    if (this.#writable.has(folder)) return
    this.#assertBit(statAt(this.#fs, folder), WRITE, path)
    this.#writable.add(folder)
  }

  /** Also what is in the folders beneath: each that is not empty must be readable, writable and searchable. */
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

  /** A folder that moves into another one gets another `..`. */
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
