// The file tree as a script sees it: with `/bin`, `/usr` and `/dev` added, for commands that work directly on the tree.
// These can be listed and read, but not changed.

import type { FileSystem, StagedContents } from '../../workspace/file-system.ts'
import { SystemTreeReading } from './system-tree-reading.ts'

export class SystemTree extends SystemTreeReading implements FileSystem {
  makeDirectory(path: string, options?: { recursive?: boolean }): void {
    this.system.refuse(path)
    this.files.makeDirectory(path, options)
  }

  remove(path: string, options?: { recursive?: boolean }): void {
    this.system.refuse(path)
    this.files.remove(path, options)
  }

  rename(from: string, to: string): void {
    this.system.refuse(from)
    this.system.refuse(to)
    this.files.rename(from, to)
  }

  symlink(target: string, path: string): void {
    this.system.refuse(path)
    this.files.symlink(target, path)
  }

  chmod(path: string, mode: number): void {
    this.system.refuse(path)
    this.files.chmod(path, mode)
  }

  utimes(path: string, mtimeMs: number): void {
    this.system.refuse(path)
    this.files.utimes(path, mtimeMs)
  }

  async write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void> {
    this.system.refuse(path)
    await this.files.write(path, bytes, options)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    this.system.refuse(path)
    await this.files.append(path, bytes)
  }

  stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents> {
    return this.files.stage(parts)
  }
}
