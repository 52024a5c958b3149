// The interface of a file tree: absolute POSIX paths under one virtual root. Metadata (nodes) is read synchronously;
// contents may be in remote storage, so they are promises. Failures that a user can cause are `FileSystemError`s with
// the codes and messages of POSIX, because shells, git and users know those.

export type FileKind = 'file' | 'directory' | 'symlink'

export interface FileStat {
  kind: FileKind
  /** Permission bits only, at most 0o7777. */
  mode: number
  sizeBytes: number
  mtimeMs: number
  inode: number
  /** Of a device, which only the shell adds to the tree: its major and minor number. Its kind is `file`. */
  device?: readonly [major: number, minor: number]
}

export interface DirectoryEntry {
  name: string
  kind: FileKind
}

export interface FileSystem {
  /** Whether a file, directory or link exists at the path; links are followed. */
  exists(path: string): boolean
  /** The node that the path leads to; links are followed. */
  stat(path: string): FileStat
  /** The node at the path itself; a link is not followed. */
  lstat(path: string): FileStat
  /** The entries of a directory, sorted by name. */
  list(path: string): DirectoryEntry[]
  /** The same path without any symbolic link or `..`. */
  realPath(path: string): string
  readLink(path: string): string
  makeDirectory(path: string, options?: { recursive?: boolean }): void
  /** Removes a file, a link (never its target) or a directory, which must be empty unless `recursive`. */
  remove(path: string, options?: { recursive?: boolean }): void
  /** Moves it in one step, replacing a file or an empty directory of the same kind. */
  rename(from: string, to: string): void
  symlink(target: string, path: string): void
  chmod(path: string, mode: number): void
  utimes(path: string, mtimeMs: number): void
  read(path: string): Promise<Uint8Array>
  /** Creates or replaces a file in one step; `mode` is used only for a new one. */
  write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void>
  append(path: string, bytes: Uint8Array): Promise<void>
  /**
   * The entries of a directory in the order of their names, in batches; each batch is read when it is requested. Much
   * faster than listing a directory and reading each entry. With `pack`, small files are returned compressed if the
   * tree can store them so.
   */
  scan(path: string, pack?: Pack): Iterable<ScannedEntry[]>
  /** The current contents in parts. A part may be overwritten when the next one is requested. */
  readParts(path: string): AsyncIterable<Uint8Array>
  /** Stores the bytes without changing the tree yet; only a few MiB of a file are in memory, whatever its size. */
  stage(parts: AsyncIterable<Uint8Array>): Promise<StagedContents>
}

export interface ScannedEntry {
  name: string
  stat: FileStat
  /**
   * The contents of a file of up to `SCANNED_BYTES`, or the target of a link; otherwise null. Also null if `packed` has
   * the deflated contents.
   */
  bytes: Uint8Array | null
  packed?: PackedFile | undefined
}

/** How an archive stores a file: a raw deflated stream, or null if that would not be smaller than the file. */
export interface PackedFile {
  crc: number
  sizeBytes: number
  deflated: Uint8Array | null
}

export type Pack = (name: string, bytes: Uint8Array) => PackedFile

export const SCANNED_BYTES = 256 * 1024

/** Stored contents that are not a file yet. The caller must place or release them. */
export interface StagedContents {
  readonly sizeBytes: number
  /** Creates or replaces a file in one step; `mode` is used only for a new one. If it throws, nothing has changed. */
  place(path: string, mode?: number): void
  /** Has no effect after they were placed. */
  release(): void
}

export interface WorkspaceLimits {
  maxFileBytes: number
  maxTotalBytes: number
  /** Directories and links are included. */
  maxFiles: number
}

/** A file is read into memory whole, in addition to everything else in an isolate of 128 MB. */
export const DEFAULT_WORKSPACE_LIMITS: WorkspaceLimits = {
  maxFileBytes: 32 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  maxFiles: 100_000,
}

const MESSAGES = {
  EACCES: 'permission denied',
  EBUSY: 'resource busy or locked',
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links encountered',
  ENAMETOOLONG: 'name too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EROFS: 'read-only file system',
} as const

export type FileErrorCode = keyof typeof MESSAGES

export class FileSystemError extends Error {
  override readonly name = 'FileSystemError'
  readonly code: FileErrorCode
  readonly path: string

  constructor(code: FileErrorCode, path: string, options?: ErrorOptions & { detail?: string }) {
    super(`${code}: ${MESSAGES[code]}${options?.detail ? ` (${options.detail})` : ''}, '${path}'`, options)
    this.code = code
    this.path = path
  }
}

/** Whether the error is a file error, of this code if one is given. */
export function isFileError(error: unknown, code?: FileErrorCode): error is FileSystemError {
  return error instanceof FileSystemError && (code === undefined || error.code === code)
}

export const MAX_PATH_BYTES = 4096
export const MAX_NAME_BYTES = 255
/** The same limit as in Linux. */
export const MAX_LINKS_FOLLOWED = 40

export const DIRECTORY_MODE = 0o755
export const FILE_MODE = 0o644
export const LINK_MODE = 0o777
export const MODE_BITS = 0o7777

/** Like mount points: their contents can change, but they cannot be removed, moved or replaced. */
const FIXED_DIRECTORIES: ReadonlySet<string> = new Set(['/', '/workspace'])

/** Throws EBUSY for a directory that cannot be moved. */
export function assertMovable(realPath: string): void {
  if (FIXED_DIRECTORIES.has(realPath)) throw new FileSystemError('EBUSY', realPath)
}

/** The names in an absolute path, without empty ones and `.`; the caller resolves `..`. */
export function pathNames(path: string): string[] {
  if (!path.startsWith('/')) throw new FileSystemError('EINVAL', path, { detail: 'not an absolute path' })
  return targetNames(path, path)
}

/** The names in a path that may be relative, such as the target of the link at `linkPath`. */
export function targetNames(target: string, linkPath: string): string[] {
  if (target === '') throw new FileSystemError('ENOENT', linkPath)
  // A lone surrogate has no UTF-8 form: storage would replace it, so that two different names would become equal.
  if (target.includes('\0') || !target.isWellFormed()) throw new FileSystemError('EINVAL', linkPath)
  if (byteLength(target) > MAX_PATH_BYTES) throw new FileSystemError('ENAMETOOLONG', `${linkPath.slice(0, 64)}…`)
  const names = target.split('/').filter((name) => name !== '' && name !== '.')
  for (const name of names) {
    if (byteLength(name) > MAX_NAME_BYTES) throw new FileSystemError('ENAMETOOLONG', `${name.slice(0, 64)}…`)
  }
  return names
}

/**
 * The mtime for a change: the current time, but never the time that the file already has. Programs that compare times
 * to find changes, such as git, must see two writes within one millisecond. A time far in the future is not used as the
 * base.
 */
export function nextMtime(previousMs: number): number {
  const now = Date.now()
  return previousMs >= now && previousMs < now + 1000 ? previousMs + 1 : now
}

const encoder = new TextEncoder()

/** The length in UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength
}

// New contents for a file, as written by programs that create a new file and rename it over the old one. So the
// permissions of the folder apply, not those of the file.

/** The mode is kept unless another one is given. */
export async function replaceContents(
  fs: FileSystem,
  path: string,
  { bytes, mode }: { bytes: Uint8Array; mode?: number | undefined },
): Promise<void> {
  try {
    await fs.write(path, bytes, mode === undefined ? {} : { mode })
  } catch (error) {
    if (!isFileError(error, 'EACCES') || !fs.exists(path)) throw error
    const kept = mode ?? fs.stat(path).mode
    fs.remove(path)
    await fs.write(path, bytes, { mode: kept })
    fs.chmod(path, kept)
  }
}
