// A node is a row; a directory's entries are the rows that name it as parent, so moving a folder of any size is one
// update. Contents are in rows of their own: listing, renaming and stat never touch them.
//
// A SQLite row holds at most 2 MB, and a file may be larger. The contents of a file are, in this order, its object in
// R2 (if it has one) and its chunks. A small file is one chunk. A large one is written to R2 as a whole; bytes that are
// appended later are kept in chunks until there are enough of them for a new object.

export const ROOT_INODE = 1
/** The parent of files that have no path yet. */
export const NOWHERE = -1

export interface NodeRow {
  inode: number
  parent: number
  name: string
  kind: 'file' | 'directory' | 'symlink'
  mode: number
  mtime: number
  size: number
  target: string | null
  object: string | null
  revision: number
}

export interface ChunkRow {
  seq: number
  bytes: ArrayBuffer
}
