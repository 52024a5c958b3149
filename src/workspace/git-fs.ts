// The workspace's file tree in the shape that the git library asks for: Node's promises, its stat and its error codes.

import type { FileStat, FileSystem } from './file-system.ts'
import { isFileError } from './file-system.ts'

const S_IFREG = 0o100000
const S_IFDIR = 0o040000
const S_IFLNK = 0o120000

export interface GitStat {
  type: 'file' | 'dir' | 'symlink'
  mode: number
  size: number
  ino: number
  mtimeMs: number
  ctimeMs: number
  uid: number
  gid: number
  dev: number
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

type Encoding = { encoding?: string } | string | undefined

export interface GitFs {
  promises: {
    readFile(path: string, options?: Encoding): Promise<Uint8Array | string>
    writeFile(path: string, content: Uint8Array | string, options?: { mode?: number } | string): Promise<void>
    unlink(path: string): Promise<void>
    readdir(path: string): Promise<string[]>
    mkdir(path: string): Promise<void>
    rmdir(path: string): Promise<void>
    rm(path: string, options?: { recursive?: boolean }): Promise<void>
    stat(path: string): Promise<GitStat>
    lstat(path: string): Promise<GitStat>
    readlink(path: string): Promise<string>
    symlink(target: string, path: string): Promise<void>
    chmod(path: string, mode: number): Promise<void>
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

export function gitFs(fs: FileSystem): GitFs {
  return {
    promises: {
      readFile: async (path, options) => {
        const bytes = await fs.read(path)
        return encodingOf(options) === undefined ? bytes : decoder.decode(bytes)
      },
      writeFile: async (path, content, options) => {
        const mode = typeof options === 'object' ? options.mode : undefined
        await fs.write(
          path,
          typeof content === 'string' ? encoder.encode(content) : content,
          mode === undefined ? {} : { mode },
        )
      },
      unlink: async (path) => fs.remove(path),
      readdir: async (path) => fs.list(path).map(({ name }) => name),
      mkdir: async (path) => fs.makeDirectory(path),
      rmdir: async (path) => fs.remove(path),
      rm: async (path, options = {}) => {
        try {
          fs.remove(path, { recursive: options.recursive ?? false })
        } catch (error) {
          if (!isFileError(error, 'ENOENT')) throw error
        }
      },
      stat: async (path) => gitStat(fs.stat(path)),
      lstat: async (path) => gitStat(fs.lstat(path)),
      readlink: async (path) => fs.readLink(path),
      symlink: async (target, path) => fs.symlink(target, path),
      chmod: async (path, mode) => fs.chmod(path, mode),
    },
  }
}

function encodingOf(options: Encoding): string | undefined {
  return typeof options === 'string' ? options : options?.encoding
}

function gitStat({ kind, mode, sizeBytes, mtimeMs, inode }: FileStat): GitStat {
  const format = kind === 'file' ? S_IFREG : kind === 'directory' ? S_IFDIR : S_IFLNK
  return {
    type: kind === 'file' ? 'file' : kind === 'directory' ? 'dir' : 'symlink',
    mode: format | mode,
    size: sizeBytes,
    ino: inode,
    mtimeMs,
    // The tree keeps no time of change of its own.
    ctimeMs: mtimeMs,
    uid: 0,
    gid: 0,
    dev: 1,
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'directory',
    isSymbolicLink: () => kind === 'symlink',
  }
}
