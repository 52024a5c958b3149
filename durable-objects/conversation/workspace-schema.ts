// A node is a row; a directory's entries are the rows that name it as parent, so moving a folder of any size is one
// update. Contents are rows of their own: listing, renaming and stat never touch them.
//
// A SQLite row holds at most 2 MB, and a file may be larger. What a file holds is, in this order, its object in R2 (if
// it has one) and its chunks. A small file is one chunk; a large one is written to R2 whole, and what is appended to it
// afterwards gathers in chunks until there is enough of it to be worth a new object.

export const WORKSPACE_SCHEMA = `
CREATE TABLE workspace_nodes (
  inode INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL, -- 0 for the root alone, -1 for files that are stored and have no place yet
  name TEXT NOT NULL,
  kind TEXT NOT NULL, -- file, directory or symlink
  mode INTEGER NOT NULL,
  mtime INTEGER NOT NULL, -- epoch ms
  size INTEGER NOT NULL,
  target TEXT, -- of a symlink
  object TEXT, -- R2 key of the first part of the contents
  revision INTEGER NOT NULL DEFAULT 0, -- grows when the contents are replaced, not when they are appended to
  UNIQUE (parent, name)
);
CREATE TABLE workspace_chunks (
  inode INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (inode, seq)
) WITHOUT ROWID;
-- R2 keys that no node refers to: announced before they are written, or left behind. Whatever is here may be deleted.
CREATE TABLE workspace_garbage (key TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO workspace_nodes (inode, parent, name, kind, mode, mtime, size) VALUES
  (1, 0, '', 'directory', 493, unixepoch() * 1000, 0),
  (2, 1, 'workspace', 'directory', 493, unixepoch() * 1000, 0),
  (3, 1, 'tmp', 'directory', 493, unixepoch() * 1000, 0),
  (4, 1, 'home', 'directory', 493, unixepoch() * 1000, 0),
  (5, 4, 'user', 'directory', 493, unixepoch() * 1000, 0);
`

/** What large files keep beside the object's own database. */
export const SPILLED_INDEX = 'CREATE INDEX spilled_files ON workspace_nodes (size) WHERE object IS NOT NULL;'

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
