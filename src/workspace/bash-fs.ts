// The workspace's file tree in the shape that the shell interpreter asks for, with the system files around it.

import type { IFileSystem } from 'just-bash/browser'
import { FOLDER_BYTES } from './commands/file-facts.ts'
import { type FileStat, type FileSystem, FileSystemError, isFileError } from './file-system.ts'
import { resolvePath } from './paths.ts'
import { isDescriptor, ROOT_FOLDERS, type SystemFile, type SystemFiles } from './system-files.ts'
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
    return this.#look(
      path,
      () => this.#files.read(path),
      (system) => {
        if (system.kind === 'directory') throw new FileSystemError('EISDIR', path)
        return system.device.read()
      },
    )
  }

  async writeFile(path: string, content: Content, options?: WriteOptions): Promise<void> {
    if (isDescriptor(path)) this.#system.hold(path, bytesOf(content, options))
    else await this.#put(path, content, options, (bytes) => this.#files.write(path, bytes))
  }

  async appendFile(path: string, content: Content, options?: WriteOptions): Promise<void> {
    if (isDescriptor(path)) this.#append(path, bytesOf(content, options))
    else await this.#put(path, content, options, (bytes) => this.#files.append(path, bytes))
  }

  #append(path: string, bytes: Uint8Array): void {
    const file = this.#system.at(path)
    const before = file?.kind === 'file' ? file.device.read() : new Uint8Array()
    const both = new Uint8Array(before.length + bytes.length)
    both.set(before)
    both.set(bytes, before.length)
    this.#system.hold(path, both)
  }

  async exists(path: string): Promise<boolean> {
    if (this.#system.at(path) !== null || this.#files.exists(path)) return true
    return this.#system.behindLink(path, this.#files) !== null
  }

  async stat(path: string): Promise<BashStat> {
    return this.#look(path, () => bashStat(this.#files.stat(path)), systemStat)
  }

  async lstat(path: string): Promise<BashStat> {
    const system = this.#system.at(path)
    return system ? systemStat(system) : bashStat(this.#files.lstat(path))
  }

  async realpath(path: string): Promise<string> {
    if (this.#system.at(path)) return path
    try {
      return this.#files.realPath(path)
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.#system.behindLink(path, this.#files) : null
      if (found) return found.path
      throw error
    }
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
    return path === '/' ? [...entries, ...ROOT_FOLDERS.map((name) => folderEntry(name))] : entries
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
    if (this.#system.release(path)) return
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

  /** What the path leads to, in the tree or beside it. */
  async #look<T>(path: string, inTree: () => T | Promise<T>, inSystem: (file: SystemFile) => T): Promise<T> {
    const system = this.#system.at(path)
    if (system) return inSystem(system)
    try {
      return await inTree()
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.#system.behindLink(path, this.#files) : null
      if (!found) throw error
      return inSystem(found.file)
    }
  }

  /** To the device of that name, or of a link's, or to a file of the workspace's own tree. */
  async #put(path: string, content: Content, options: WriteOptions, inTree: (bytes: Uint8Array) => Promise<void>) {
    const system = this.#system.at(path)
    if (!system) this.#refuseSystem(path)
    if (system) return this.#writeDevice(system, path, textOf(content, options))
    try {
      await inTree(bytesOf(content, options))
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.#system.behindLink(path, this.#files) : null
      if (!found) throw error
      this.#writeDevice(found.file, path, textOf(content, options))
    }
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

/** A device is neither file nor folder nor link; `dev` has its two numbers, as `stat` of the C library joins them. */
function systemStat(file: SystemFile): BashStat {
  const mtime = new Date(0)
  if (file.kind === 'directory') return { ...kindFlags('directory'), mode: 0o755, size: FOLDER_BYTES, mtime }
  const { numbers } = file.device
  if (!numbers) return { ...kindFlags('file'), mode: file.mode, size: file.device.read().length, mtime }
  const [major, minor] = numbers
  const none = { isFile: false, isDirectory: false, isSymbolicLink: false }
  return { ...none, mode: file.mode, size: 0, mtime, dev: major * 256 + minor }
}
