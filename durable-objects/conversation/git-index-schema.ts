// What is known of the repositories in the workspace, kept so that "what changed" costs as much as there is that
// changed. Two things are remembered: the tree that each repository is compared with, and the paths that were touched
// since they were compared last. Everything here can be made again from the files.

export const GIT_INDEX_SCHEMA = `
CREATE TABLE git_repositories (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE, -- the top of its working tree
  base_key TEXT, -- what the choice of the base depended on
  base_tree TEXT, -- the tree whose files are in git_base_files; null when they are not known
  index_stamp TEXT, -- which state of git's index file git_index_differences tells about
  exclude_stamp TEXT -- which state of the exclude file the changes know
);
CREATE TABLE git_base_files (
  repository INTEGER NOT NULL,
  path TEXT NOT NULL,
  mode INTEGER NOT NULL,
  oid TEXT NOT NULL,
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
-- Where git's index names other paths than the base: these are tracked although the base lacks them, or the reverse.
CREATE TABLE git_index_differences (
  repository INTEGER NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL, -- added, removed or unmerged
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
CREATE TABLE git_touched (
  repository INTEGER NOT NULL, -- 0 for the search for repositories itself
  path TEXT NOT NULL,
  scope INTEGER NOT NULL, -- 0 the path alone, 1 also what is untracked below it, 2 everything below it
  revision INTEGER NOT NULL, -- grows with each touch, so that one that comes during the comparison is seen
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
CREATE TABLE git_changes (
  repository INTEGER NOT NULL,
  path TEXT NOT NULL,
  letters TEXT NOT NULL, -- mostly one; D and A for a file that is tracked no more but still there
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
INSERT INTO git_touched VALUES (0, '', 2, 1);
`

export interface RepositoryRow {
  id: number
  path: string
  base_key: string | null
  base_tree: string | null
  index_stamp: string | null
  exclude_stamp: string | null
}

export const SCOPE = { path: 0, untracked: 1, everything: 2 } as const

export interface TouchedRow {
  path: string
  scope: number
  revision: number
}

export interface BaseRow {
  path: string
  mode: number
  oid: string
}

export type IndexDifference = 'added' | 'removed' | 'unmerged'
