// The workspace's file tree in the shape that the shell interpreter asks for, with the system files around it.

import type { IFileSystem } from 'just-bash/browser'
import { type FileStat, type FileSystem, FileSystemError, isFileError } from './file-system.ts'
import { shellMessage } from './interpreter-command.ts'
import { resolvePath } from './paths.ts'
import type { SystemFile, SystemFiles } from './system-files.ts'
import { bytesToText, textToBytes } from './text-encodings.ts'

/** In front of the path of a file that a redirection is about to write. */
export const GUARDED_PATH = '/dev/.redirect/'

type Content = Parameters<IFileSystem['writeFile']>[1]
type ReadOptions = Parameters<IFileSystem['readFile']>[1]
type WriteOptions = Parameters<IFileSystem['writeFile']>[2]
type BashStat = Awaited<ReturnType<IFileSystem['stat']>>
type BashEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number]

export class BashFs implements IFileSystem {
  readonly #files: FileSystem
  readonly #system: SystemFiles
  /** By the words that the script used: which path they meant, and why it could not be opened. */
  readonly #targets = new Map<string, string>()
  readonly #refusals = new Map<string, string>()

  constructor(files: FileSystem, system: SystemFiles) {
    this.#files = files
    this.#system = system
  }

  /** Why the redirection to the file that the script calls so could not be opened. */
  refusalOf(target: string): string {
    return this.#refusals.get(target) ?? 'cannot be opened'
  }

  resolvePath(base: string, path: string): string {
    if (!path.startsWith(GUARDED_PATH)) return resolvePath(base, path)
    const words = path.slice(GUARDED_PATH.length)
    const meant = resolvePath(base, words)
    this.#targets.set(meant, words)
    return GUARDED_PATH + meant.slice(1)
  }

  /** Patterns are matched folder by folder; a list of everything would be read for each of them. */
  getAllPaths(): string[] {
    return []
  }

  async readFile(path: string, options?: ReadOptions): Promise<string> {
    const encoding = typeof options === 'string' ? options : options?.encoding
    return bytesToText(await this.readFileBuffer(path), encoding ?? 'utf8')
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const system = this.#system.at(path)
    if (!system) return this.#files.read(path)
    if (system.kind === 'directory') throw new FileSystemError('EISDIR', path)
    return system.device.read()
  }

  async writeFile(given: string, content: Content, options?: WriteOptions): Promise<void> {
    const path = unguarded(given)
    const system = this.#toWrite(path)
    if (system) this.#writeDevice(system, path, textOf(content, options))
    else await this.#files.write(path, bytesOf(content, options))
  }

  async appendFile(given: string, content: Content, options?: WriteOptions): Promise<void> {
    const path = unguarded(given)
    const system = this.#toWrite(path)
    if (system) this.#writeDevice(system, path, textOf(content, options))
    else await this.#files.append(path, bytesOf(content, options))
  }

  /**
   * True as well for a guarded path that cannot be written: the interpreter then asks for its stat, and takes an error
   * there for an answer.
   */
  async exists(path: string): Promise<boolean> {
    if (path.startsWith(GUARDED_PATH) && this.#refusal(unguarded(path))) return true
    try {
      await this.stat(path)
      return true
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  async stat(given: string): Promise<BashStat> {
    const path = unguarded(given)
    const refusal = given === path ? null : this.#refusal(path)
    if (refusal) throw refusal
    const system = this.#system.at(path)
    return system ? systemStat(system) : bashStat(this.#files.stat(path))
  }

  async lstat(path: string): Promise<BashStat> {
    const system = this.#system.at(path)
    return system ? systemStat(system) : bashStat(this.#files.lstat(path))
  }

  async realpath(path: string): Promise<string> {
    return this.#system.at(path) ? path : this.#files.realPath(path)
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name)
  }

  async readdirWithFileTypes(path: string): Promise<BashEntry[]> {
    const system = this.#system.at(path)
    if (system) return this.#systemEntries(system, path)
    const entries = this.#files.list(path).map(({ name, kind }) => ({ name, ...kindFlags(kind) }))
    return path === '/' ? [...entries, ...['bin', 'dev', 'usr'].map((name) => folderEntry(name))] : entries
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    const system = this.#system.at(path)
    if (system?.kind === 'directory' && options.recursive) return
    if (system) throw new FileSystemError('EEXIST', path)
    this.#refuseSystem(path)
    this.#files.makeDirectory(path, options)
  }

  async rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    this.#refuseSystem(path)
    try {
      this.#files.remove(path, { recursive: options.recursive ?? false })
    } catch (error) {
      if (!(options.force && isFileError(error, 'ENOENT'))) throw error
    }
  }

  async cp(from: string, to: string, options: { recursive?: boolean } = {}): Promise<void> {
    const { isDirectory, mode } = await this.stat(from)
    if (!isDirectory) {
      await this.writeFile(to, await this.readFileBuffer(from))
      return this.chmod(to, mode)
    }
    if (!options.recursive) throw new FileSystemError('EISDIR', from)
    await this.mkdir(to, { recursive: true })
    for (const { name, isSymbolicLink } of await this.readdirWithFileTypes(from)) {
      const [source, goal] = [resolvePath(from, name), resolvePath(to, name)]
      if (isSymbolicLink) await this.symlink(await this.readlink(source), goal)
      else await this.cp(source, goal, options)
    }
  }

  async mv(from: string, to: string): Promise<void> {
    this.#refuseSystem(from)
    this.#refuseSystem(to)
    this.#files.rename(from, to)
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.#refuseSystem(path)
    this.#files.chmod(path, mode)
  }

  async symlink(target: string, path: string): Promise<void> {
    this.#refuseSystem(path)
    this.#files.symlink(target, path)
  }

  /** There are no hard links here: the second name gets a copy. */
  async link(existing: string, path: string): Promise<void> {
    if (await this.exists(path)) throw new FileSystemError('EEXIST', path)
    await this.cp(existing, path)
  }

  async readlink(path: string): Promise<string> {
    if (this.#system.at(path)) throw new FileSystemError('EINVAL', path)
    return this.#files.readLink(path)
  }

  async utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    if (this.#system.at(path)) return
    this.#files.utimes(path, mtime.getTime())
  }

  /** The device to write to, or null for a file of the workspace's own tree. */
  #toWrite(path: string): SystemFile | null {
    const system = this.#system.at(path)
    if (!system) this.#refuseSystem(path)
    return system
  }

  #refuseSystem(path: string): void {
    if (this.#system.owns(path)) throw new FileSystemError('EROFS', path)
  }

  /** Why the path cannot be opened for writing, if it cannot. A directory can be told from its stat. */
  #refusal(path: string): FileSystemError | null {
    try {
      const system = this.#system.at(path)
      if (system?.kind === 'directory' || system?.device.write) return null
      this.#refuseSystem(path)
      this.#files.stat(path)
      return null
    } catch (error) {
      if (!isFileError(error)) throw error
      if (error.code === 'ENOENT' && this.#isFolder(resolvePath(path, '..'))) return null
      this.#refusals.set(this.#targets.get(path) ?? path, shellMessage(error))
      return error
    }
  }

  #isFolder(path: string): boolean {
    try {
      return this.#files.stat(path).kind === 'directory'
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  #writeDevice(system: SystemFile, path: string, text: string): void {
    if (system.kind === 'directory') throw new FileSystemError('EISDIR', path)
    if (!system.device.write) throw new FileSystemError('EROFS', path)
    system.device.write(text)
  }

  #systemEntries(system: SystemFile, path: string): BashEntry[] {
    if (system.kind === 'file') throw new FileSystemError('ENOTDIR', path)
    return system.names.map((name) =>
      this.#system.at(`${path}/${name}`)?.kind === 'directory'
        ? folderEntry(name)
        : { name, isFile: true, isDirectory: false, isSymbolicLink: false },
    )
  }
}

function unguarded(path: string): string {
  return path.startsWith(GUARDED_PATH) ? path.slice(GUARDED_PATH.length - 1) : path
}

function bytesOf(content: Content, options: WriteOptions): Uint8Array {
  return typeof content === 'string' ? textToBytes(content, encodingOf(options)) : content
}

function textOf(content: Content, options: WriteOptions): string {
  return typeof content === 'string' && encodingOf(options) === 'utf8'
    ? content
    : bytesToText(bytesOf(content, options), 'utf8')
}

function encodingOf(options: WriteOptions): string {
  return (typeof options === 'string' ? options : options?.encoding) ?? 'utf8'
}

function kindFlags(kind: FileStat['kind']): { isFile: boolean; isDirectory: boolean; isSymbolicLink: boolean } {
  return { isFile: kind === 'file', isDirectory: kind === 'directory', isSymbolicLink: kind === 'symlink' }
}

function folderEntry(name: string): BashEntry {
  return { name, ...kindFlags('directory') }
}

function bashStat({ kind, mode, sizeBytes, mtimeMs, inode }: FileStat): BashStat {
  return { ...kindFlags(kind), mode, size: sizeBytes, mtime: new Date(mtimeMs), dev: 1, ino: inode }
}

function systemStat(file: SystemFile): BashStat {
  const size = 0
  return file.kind === 'directory'
    ? { ...kindFlags('directory'), mode: 0o755, size, mtime: new Date(0) }
    : { ...kindFlags('file'), mode: file.mode, size, mtime: new Date(0) }
}
