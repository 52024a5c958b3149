// Open folders. A program in the sandbox may replace any folder of the workspace by a link at any time; a path that was
// checked and then used could lead out of the tree. So everything here is named relative to an open folder, one name at
// a time, and no link is followed: `/proc/self/fd/N/name` is Linux's equivalent of openat(N, name).

import { type BigIntStats, chmodSync, closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../log.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
/** Linux: a handle of the folder itself that needs no read permission. Node has no constant for it. */
const O_PATH = 0o10000000
const IS_LINUX = platform() === 'linux'

export class Folder {
  readonly #fd: number
  readonly #path: string
  #isOpen = true

  private constructor(fd: number, path: string) {
    this.#fd = fd
    this.#path = IS_LINUX ? `/proc/self/fd/${fd}` : path
  }

  /** The root must belong to the runner: its path is followed. */
  static root(path: string): Folder {
    return new Folder(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path)
  }

  /** The path of an entry of this folder; '' is the folder itself. */
  at(name: string): string {
    return name === '' ? this.#path : `${this.#path}/${name}`
  }

  /** Throws `ENOTDIR` or `ELOOP` if it is not a folder. */
  open(name: string): Folder {
    const path = this.at(name)
    try {
      return new Folder(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), join(this.#path, name))
    } catch (error) {
      if (!isCode(error, 'EACCES')) throw error
      makeUsable(path)
      return new Folder(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), join(this.#path, name))
    }
  }

  stat(name: string): BigIntStats | null {
    return lstatSync(this.at(name), { bigint: true, throwIfNoEntry: false }) ?? null
  }

  /**
   * Makes it the current folder of this process, for many short names: the path through `/proc` takes twice as long.
   * Only in synchronous code, which restores the previous one.
   */
  enter(): void {
    process.chdir(this.#path)
  }

  mkdir(name: string): void {
    mkdirSync(this.at(name), 0o700)
  }

  get mode(): number {
    return fstatSync(this.#fd).mode & 0o777
  }

  /** Of the open folder itself, whatever its name refers to now. */
  chmod(mode: number): void {
    chmodSync(IS_LINUX ? `${this.#path}/.` : this.#path, mode)
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#fd)
    this.#isOpen = false
  }
}

/** A folder whose owner may not enter it, `chmod 0`: the owner's permission is restored. */
function makeUsable(path: string): void {
  if (!IS_LINUX) return
  const fd = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    chmodSync(`/proc/self/fd/${fd}`, (fstatSync(fd).mode & 0o777) | 0o700)
  } finally {
    closeSync(fd)
  }
}

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** The disk is full or fails: not an error of the runner, which must continue. */
export function isDiskFailure(error: unknown): boolean {
  return isCode(error, 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS')
}

/** The same for the runner's own files, whose folder may have been deleted. */
export function cannotWrite(error: unknown): boolean {
  return isDiskFailure(error) || isCode(error, 'ENOENT')
}

/** The message if nothing was executed because of it. */
export function diskFull(error: unknown): string {
  return `The disk of the runner takes nothing more (${messageOf(error)}), so nothing of this was run. Make room on its machine, or stop this runner and go on with another one.`
}

/** Opens the folder with these names below the root, without following a link; the caller closes it. */
export function openBelow(root: string, names: readonly string[]): Folder {
  const folder = Folder.root(root)
  if (names.length === 0) return folder
  try {
    return openFrom(folder, names)
  } finally {
    folder.close()
  }
}

/** The same below an open folder, which stays open. `names`: at least one. */
export function openFrom(top: Folder, names: readonly string[]): Folder {
  let folder = top
  for (const name of names) {
    const outer = folder
    try {
      folder = outer.open(name)
    } finally {
      if (outer !== top) outer.close()
    }
  }
  return folder
}
