// What stands at a path, for callers to whom a path that cannot be followed is the same as one where nothing stands.

import { type FileStat, type FileSystem, isFileError } from './file-system.ts'

/** A link is followed. */
export function statAt(fs: FileSystem, path: string): FileStat | null {
  return unlessFileError(() => fs.stat(path))
}

/** A link is itself. */
export function lstatAt(fs: FileSystem, path: string): FileStat | null {
  return unlessFileError(() => fs.lstat(path))
}

/** A link is a link. */
export function kindAt(fs: FileSystem, path: string): FileStat['kind'] | null {
  return lstatAt(fs, path)?.kind ?? null
}

function unlessFileError(look: () => FileStat): FileStat | null {
  try {
    return look()
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}
