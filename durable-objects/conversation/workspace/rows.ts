// A node is a row; a directory's entries are the rows that name it as parent, so moving a folder of any size is one
// update. Contents are rows of their own: listing, renaming and stat never touch them.
//
// A SQLite row holds at most 2 MB, and a file may be larger. What a file holds is, in this order, its object in R2 (if
// it has one) and its chunks. A small file is one chunk; a large one is written to R2 whole, and what is appended to it
// afterwards gathers in chunks until there is enough of it to be worth a new object.

export const ROOT_INODE = 1
/** The parent of files that have no place yet. */
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
