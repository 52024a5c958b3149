// The workspace's file tree in the shape that the shell interpreter asks for, with the system files around it.

import type { IFileSystem } from 'just-bash/browser'
import { FOLDER_BYTES } from './commands/file-facts.ts'
import { type FileStat, type FileSystem, FileSystemError, isFileError } from './file-system.ts'
import { resolvePath } from './paths.ts'
import type { SystemFile, SystemFiles } from './system-files.ts'
import { bytesToText, textToBytes } from './text-encodings.ts'

/** Of so many paths the words are known by which the script called them. */
const WORDS_KEPT = 64

type Content = Parameters<IFileSystem['writeFile']>[1]
type ReadOptions = Parameters<IFileSystem['readFile']>[1]
type WriteOptions = Parameters<IFileSystem['writeFile']>[2]
type BashStat = Awaited<ReturnType<IFileSystem['stat']>>
type BashEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number]

export class BashFs implements IFileSystem {
  readonly #files: FileSystem
  readonly #system: SystemFiles
  /** By path: the words by which the script called it last. */
  readonly #words = new Map<string, string>()

  constructor(files: FileSystem, system: SystemFiles) {
    this.#files = files
    this.#system = system
  }

  /** What the script called the file, for what is said about it. */
  wordsFor(path: string): string {
    return this.#words.get(path) ?? path
  }

  resolvePath(base: string, path: string): string {
    const resolved = resolvePath(base, path)
    if (this.#words.size >= WORDS_KEPT) this.#words.clear()
    this.#words.set(resolved, path)
    return resolved
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

  async writeFile(path: string, content: Content, options?: WriteOptions): Promise<void> {
    const system = this.#toWrite(path)
    if (system) this.#writeDevice(system, path, textOf(content, options))
    else await this.#files.write(path, bytesOf(content, options))
  }

  async appendFile(path: string, content: Content, options?: WriteOptions): Promise<void> {
    const system = this.#toWrite(path)
    if (system) this.#writeDevice(system, path, textOf(content, options))
    else await this.#files.append(path, bytesOf(content, options))
  }

  async exists(path: string): Promise<boolean> {
    return this.#system.at(path) !== null || this.#files.exists(path)
  }

  async stat(path: string): Promise<BashStat> {
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
    const entries = this.#files.list(path).map(({ name, kind }) => {
      const flags = kindFlags(kind)
      // Patterns go on below a link to a folder as below a folder.
      if (kind === 'symlink') flags.isDirectory = this.#isFolder(`${path === '/' ? '' : path}/${name}`)
      return { name, ...flags }
    })
    return path === '/' ? [...entries, ...['bin', 'dev', 'usr'].map((name) => folderEntry(name))] : entries
  }

  #isFolder(path: string): boolean {
    try {
      return this.#files.stat(path).kind === 'directory'
    } catch (error) {
      // A link that leads nowhere.
      if (isFileError(error)) return false
      throw error
    }
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
  const size = kind === 'directory' ? FOLDER_BYTES : sizeBytes
  return { ...kindFlags(kind), mode, size, mtime: new Date(mtimeMs), dev: 1, ino: inode }
}

function systemStat(file: SystemFile): BashStat {
  return file.kind === 'directory'
    ? { ...kindFlags('directory'), mode: 0o755, size: FOLDER_BYTES, mtime: new Date(0) }
    : { ...kindFlags('file'), mode: file.mode, size: 0, mtime: new Date(0) }
}
