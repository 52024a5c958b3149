// The stored state of the repositories in the workspace, so that the cost of a list of changes depends only on the
// number of changes: the tree that each repository is compared with, and the paths that were written since the last
// comparison. All of it can be rebuilt from the files.

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
