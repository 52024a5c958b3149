// The workspace's file tree with the interface that the shell interpreter requires, and the system files around it.

import type { IFileSystem } from 'just-bash/browser'
import { FileSystemError, isFileError } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { bytesToText, textToBytes } from '../../workspace/text-encodings.ts'
import { BashFsReading } from './bash-fs-reading.ts'
import { losslessBytes } from './lossless-text.ts'
import { isDescriptor, type SystemFile } from './system-files.ts'

type Content = Parameters<IFileSystem['writeFile']>[1]
type WriteOptions = Parameters<IFileSystem['writeFile']>[2]

export class BashFs extends BashFsReading implements IFileSystem {
  async writeFile(path: string, content: Content, options?: WriteOptions): Promise<void> {
    if (isDescriptor(path)) this.system.hold(path, bytesOf(content, options))
    else await this.#put(path, content, options, (bytes) => this.files.write(path, bytes))
  }

  async appendFile(path: string, content: Content, options?: WriteOptions): Promise<void> {
    if (isDescriptor(path)) this.#append(path, bytesOf(content, options))
    else await this.#put(path, content, options, (bytes) => this.files.append(path, bytes))
  }

  #append(path: string, bytes: Uint8Array): void {
    const file = this.system.at(path)
    const before = file?.kind === 'file' ? file.device.read() : new Uint8Array()
    const both = new Uint8Array(before.length + bytes.length)
    both.set(before)
    both.set(bytes, before.length)
    this.system.hold(path, both)
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    const system = this.system.at(path)
    if (system?.kind === 'directory' && options.recursive) return
    if (system) throw new FileSystemError('EEXIST', path)
    this.system.refuse(path)
    this.files.makeDirectory(path, options)
  }

  async rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    if (this.system.release(path)) return
    this.system.refuse(path)
    try {
      this.files.remove(path, { recursive: options.recursive ?? false })
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
    this.system.refuse(from)
    this.system.refuse(to)
    this.files.rename(from, to)
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.system.refuse(path)
    this.files.chmod(path, mode)
  }

  async symlink(target: string, path: string): Promise<void> {
    this.system.refuse(path)
    this.files.symlink(target, path)
  }

  /** There are no hard links here: the second name gets a copy. */
  async link(existing: string, path: string): Promise<void> {
    if (await this.exists(path)) throw new FileSystemError('EEXIST', path)
    await this.cp(existing, path)
  }

  async utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    if (this.system.at(path)) return
    this.files.utimes(path, mtime.getTime())
  }

  /** Writes to the device with that name or behind a link, or to a file of the workspace's tree. */
  async #put(path: string, content: Content, options: WriteOptions, inTree: (bytes: Uint8Array) => Promise<void>) {
    const system = this.system.at(path)
    if (!system) this.system.refuse(path)
    if (system) return this.#writeDevice(system, path, textOf(content, options))
    try {
      await inTree(bytesOf(content, options))
    } catch (error) {
      const found = isFileError(error, 'ENOENT') ? this.system.behindLink(path, this.files) : null
      if (!found) throw error
      this.#writeDevice(found.file, path, textOf(content, options))
    }
  }

  #writeDevice(system: SystemFile, path: string, text: string): void {
    if (system.kind === 'directory') throw new FileSystemError('EISDIR', path)
    if (!system.device.write) throw new FileSystemError('EROFS', path)
    system.device.write(text)
  }
}

function bytesOf(content: Content, options: WriteOptions): Uint8Array {
  if (typeof content !== 'string') return content
  const encoding = encodingOf(options)
  return encoding === 'utf8' ? losslessBytes(content) : textToBytes(content, encoding)
}

function textOf(content: Content, options: WriteOptions): string {
  return typeof content === 'string' && encodingOf(options) === 'utf8'
    ? content
    : bytesToText(bytesOf(content, options), 'utf8')
}

function encodingOf(options: WriteOptions): string {
  return (typeof options === 'string' ? options : options?.encoding) ?? 'utf8'
}
