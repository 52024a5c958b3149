// The read operations on the file tree with `/bin`, `/usr` and `/dev` added.

import {
  DIRECTORY_MODE,
  type DirectoryEntry,
  type FileStat,
  type FileSystem,
  FileSystemError,
  isFileError,
  type ScannedEntry,
} from '../../workspace/file-system.ts'
import { ROOT_FOLDERS, type SystemFile, type SystemFiles } from './system-files.ts'

/** Far from those of the tree. */
const FIRST_INODE = 2 ** 40

export class SystemTreeReading {
  protected readonly files: FileSystem
  protected readonly system: SystemFiles

  constructor(files: FileSystem, system: SystemFiles) {
    this.files = files
    this.system = system
  }

  exists(path: string): boolean {
    if (this.system.owns(path)) return this.system.at(path) !== null
    return this.files.exists(path) || this.system.behindLink(path, this.files) !== null
  }

  stat(path: string): FileStat {
    return this.#look(path, (at) => this.files.stat(at), statOf)
  }

  lstat(path: string): FileStat {
    return this.system.owns(path) ? statOf(path, this.#own(path)) : this.files.lstat(path)
  }

  list(path: string): DirectoryEntry[] {
    const entries = this.#look(path, (at) => this.files.list(at), this.#listed)
    if (path !== '/') return entries
    const beside = ROOT_FOLDERS.map((name) => ({ name, kind: 'directory' as const }))
    return [...entries, ...beside].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  realPath(path: string): string {
    return this.#look(
      path,
      (at) => this.files.realPath(at),
      (at) => at,
    )
  }

  readLink(path: string): string {
    if (!this.system.owns(path)) return this.files.readLink(path)
    this.#own(path)
    throw new FileSystemError('EINVAL', path)
  }

  async read(path: string): Promise<Uint8Array> {
    if (this.system.owns(path)) return contentOf(path, this.#own(path))
    try {
      return await this.files.read(path)
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.system.behindLink(path, this.files) : null
      if (!found) throw error
      return contentOf(found.path, found.file)
    }
  }

  scan(path: string): Iterable<ScannedEntry[]> {
    if (path !== '/' && !this.system.owns(path)) return this.files.scan(path)
    return [this.list(path).map(({ name }) => this.#scanned(name, path === '/' ? `/${name}` : `${path}/${name}`))]
  }

  async *readParts(path: string): AsyncIterable<Uint8Array> {
    if (this.system.owns(path)) yield await this.read(path)
    else yield* this.files.readParts(path)
  }

  #own(path: string): SystemFile {
    const file = this.system.at(path)
    if (!file) throw new FileSystemError('ENOENT', path)
    return file
  }

  #look<T>(path: string, inTree: (path: string) => T, inSystem: (path: string, file: SystemFile) => T): T {
    if (this.system.owns(path)) return inSystem(path, this.#own(path))
    try {
      return inTree(path)
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.system.behindLink(path, this.files) : null
      if (!found) throw error
      return inSystem(found.path, found.file)
    }
  }

  readonly #listed = (path: string, file: SystemFile): DirectoryEntry[] => {
    if (file.kind === 'file') throw new FileSystemError('ENOTDIR', path)
    return [...file.names].sort().map((name) => ({ name, kind: this.#own(`${path}/${name}`).kind }))
  }

  /** Contents are read only on request, because a search must not read a device. */
  #scanned(name: string, path: string): ScannedEntry {
    const stat = this.lstat(path)
    return { name, stat, bytes: stat.kind === 'symlink' ? new TextEncoder().encode(this.readLink(path)) : null }
  }
}

function statOf(path: string, file: SystemFile): FileStat {
  const common = { mtimeMs: 0, inode: FIRST_INODE + numberOf(path) }
  if (file.kind === 'directory') return { ...common, kind: 'directory', mode: DIRECTORY_MODE, sizeBytes: 0 }
  const { numbers } = file.device
  if (numbers) return { ...common, kind: 'file', mode: file.mode, sizeBytes: 0, device: numbers }
  return { ...common, kind: 'file', mode: file.mode, sizeBytes: file.device.read().length }
}

function contentOf(path: string, file: SystemFile): Uint8Array {
  if (file.kind === 'directory') throw new FileSystemError('EISDIR', path)
  return file.device.read()
}

/** The same for the same path. */
function numberOf(path: string): number {
  let number = 7
  for (const char of path) number = (number * 31 + (char.codePointAt(0) ?? 0)) % 2 ** 31
  return number
}
