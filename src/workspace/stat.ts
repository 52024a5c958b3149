// The node at a path, for callers that treat a path that cannot be followed like one that does not exist.

import { type FileStat, type FileSystem, isFileError } from './file-system.ts'

/** A link is followed. */
export function statAt(fs: FileSystem, path: string): FileStat | null {
  return unlessFileError(() => fs.stat(path))
}

/** A link is not followed. */
export function lstatAt(fs: FileSystem, path: string): FileStat | null {
  return unlessFileError(() => fs.lstat(path))
}

/** The kind of the node; a link is not followed. */
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
