// The read operations of the shell interpreter's file system: the file tree of the workspace and the system files
// around it.

import type { IFileSystem } from 'just-bash/browser'
import { type FileStat, type FileSystem, FileSystemError, isFileError } from '../../workspace/file-system.ts'
import { bytesToText } from '../../workspace/text-encodings.ts'
import { FOLDER_BYTES } from './commands/file-facts.ts'
import { losslessText } from './lossless-text.ts'
import { resolvePath } from './named-path.ts'
import { ROOT_FOLDERS, type SystemFile, type SystemFiles } from './system-files.ts'

/** The original spelling is stored for this many paths. */
const WORDS_KEPT = 64

type ReadOptions = Parameters<IFileSystem['readFile']>[1]
type BashStat = Awaited<ReturnType<IFileSystem['stat']>>
type BashEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number]

export class BashFsReading {
  protected readonly files: FileSystem
  protected readonly system: SystemFiles
  /** By path: the spelling that the script used last. */
  readonly #words = new Map<string, string>()

  constructor(files: FileSystem, system: SystemFiles) {
    this.files = files
    this.system = system
  }

  /** The script's spelling of the file, for messages. */
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
    const bytes = await this.readFileBuffer(path)
    return (encoding ?? 'utf8') === 'utf8' ? losslessText(bytes) : bytesToText(bytes, encoding ?? 'utf8')
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#look(
      path,
      () => this.files.read(path),
      (system) => {
        if (system.kind === 'directory') throw new FileSystemError('EISDIR', path)
        return system.device.read()
      },
    )
  }

  async exists(path: string): Promise<boolean> {
    if (this.system.at(path) !== null || this.files.exists(path)) return true
    return this.system.behindLink(path, this.files) !== null
  }

  async stat(path: string): Promise<BashStat> {
    return this.#look(path, () => bashStat(this.files.stat(path)), systemStat)
  }

  async lstat(path: string): Promise<BashStat> {
    const system = this.system.at(path)
    return system ? systemStat(system) : bashStat(this.files.lstat(path))
  }

  async realpath(path: string): Promise<string> {
    if (this.system.at(path)) return path
    try {
      return this.files.realPath(path)
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.system.behindLink(path, this.files) : null
      if (found) return found.path
      throw error
    }
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name)
  }

  async readdirWithFileTypes(path: string): Promise<BashEntry[]> {
    const system = this.system.at(path)
    if (system) return this.#systemEntries(system, path)
    const entries = this.files.list(path).map(({ name, kind }) => {
      const flags = kindFlags(kind)
      // Patterns continue below a link to a folder as below a folder.
      if (kind === 'symlink') flags.isDirectory = this.#isFolder(`${path === '/' ? '' : path}/${name}`)
      return { name, ...flags }
    })
    return path === '/' ? [...entries, ...ROOT_FOLDERS.map((name) => folderEntry(name))] : entries
  }

  #isFolder(path: string): boolean {
    try {
      return this.files.stat(path).kind === 'directory'
    } catch (error) {
      // A broken link.
      if (isFileError(error)) return false
      throw error
    }
  }

  async readlink(path: string): Promise<string> {
    if (this.system.at(path)) throw new FileSystemError('EINVAL', path)
    return this.files.readLink(path)
  }

  /** The target of the path, in the tree or among the system files. */
  async #look<T>(path: string, inTree: () => T | Promise<T>, inSystem: (file: SystemFile) => T): Promise<T> {
    const system = this.system.at(path)
    if (system) return inSystem(system)
    try {
      return await inTree()
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.system.behindLink(path, this.files) : null
      if (!found) throw error
      return inSystem(found.file)
    }
  }

  #systemEntries(system: SystemFile, path: string): BashEntry[] {
    if (system.kind === 'file') throw new FileSystemError('ENOTDIR', path)
    return system.names.map((name) =>
      this.system.at(`${path}/${name}`)?.kind === 'directory'
        ? folderEntry(name)
        : { name, isFile: true, isDirectory: false, isSymbolicLink: false },
    )
  }
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

/** A device is neither file nor folder nor link; `dev` contains its two numbers, combined like in the C library's `stat`. */
function systemStat(file: SystemFile): BashStat {
  const mtime = new Date(0)
  if (file.kind === 'directory') return { ...kindFlags('directory'), mode: 0o755, size: FOLDER_BYTES, mtime }
  const { numbers } = file.device
  if (!numbers) return { ...kindFlags('file'), mode: file.mode, size: file.device.read().length, mtime }
  const [major, minor] = numbers
  const none = { isFile: false, isDirectory: false, isSymbolicLink: false }
  return { ...none, mode: file.mode, size: 0, mtime, dev: major * 256 + minor }
}
