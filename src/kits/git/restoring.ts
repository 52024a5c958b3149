// Restores files from a tree or the index.

import type { FileStat } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import { writeFile } from './checkout.ts'
import { failed } from './failure.ts'
import { type GitIndex, type IndexEntry, NO_STAT, statFields } from './index-file.ts'
import type { Invocation } from './invocation.ts'
import { type FileState, sameState } from './objects.ts'
import { commitId, revision } from './revisions.ts'
import { currentState, walkWorktree } from './status.ts'
import { flatTree } from './tree.ts'
import { takeAway } from './worktree.ts'

export interface Restoration {
  paths: readonly string[]
  /** Null for the index. */
  source: string | null
  toIndex: boolean
  toWorktree: boolean
  /** The side of an unmerged path to use. */
  side?: 2 | 3 | null
  /** Files that are not in the source are removed. */
  removes?: boolean
}

/** Returns the number of changed files. */
export async function restorePaths(git: Invocation, wanted: Restoration): Promise<number> {
  const repo = git.repo()
  const index = await repo.index()
  const pathspec = git.pathspec(wanted.paths)
  const files = await sourceFiles(git, wanted)
  const known = new Set([...files.keys(), ...index.entries.map(({ path }) => path)])
  const chosen = [...known].filter(
    (path) => pathspec.matches(path) && (files.has(path) || wanted.removes || wanted.toIndex),
  )
  const [missing] = pathspec.unmatched()
  if (missing !== undefined) throw failed(`pathspec '${missing}' did not match any file(s) known to git`)
  if (wanted.source === null && wanted.side === null) await refuseUnmerged(git, chosen)
  const { present } = await walkWorktree(repo, { untracked: 'no' })
  let count = 0
  for (const path of chosen) {
    const pause = repo.pace()
    if (pause) await pause
    const state = files.get(path) ?? null
    if (!state && wanted.source !== null && !wanted.removes) continue
    const entry = index.get(path)
    const isWritten = wanted.toWorktree && (await restoreFile(git, { path, state, entry, stat: present.get(path) }))
    const isStaged = wanted.toIndex && !(entry && sameState(entry, state))
    if (isStaged && state) index.put({ path, ...state, ...NO_STAT })
    else if (isStaged) index.remove(path)
    if (isWritten) rememberFile(git, index, path, state)
    if (isWritten || isStaged) count++
  }
  await repo.saveIndex(index)
  return count
}

type Restoring = { path: string; state: FileState | null; entry: IndexEntry | null; stat: FileStat | undefined }

/** False if the file already has the wanted state. */
async function restoreFile(git: Invocation, { path, state, entry, stat }: Restoring): Promise<boolean> {
  const repo = git.repo()
  if (entry && sameState(await currentState(repo, entry, stat), state)) return false
  if (state) await writeFile(repo, path, state)
  else takeAway(git.fs, repo.root, path)
  return true
}

/**
 * Stores the metadata of the written file in the index if it has the same contents, so that the file need not be read
 * again.
 */
function rememberFile(git: Invocation, index: GitIndex, path: string, state: FileState | null): void {
  const entry = index.get(path)
  const stat = lstatAt(git.fs, `${git.repo().root}/${path}`)
  if (entry && stat && sameState(entry, state)) index.set({ ...entry, ...statFields(stat) })
}

async function sourceFiles(git: Invocation, { source, side }: Restoration): Promise<Map<string, FileState>> {
  const repo = git.repo()
  if (source !== null) {
    const oid = (await revision(repo, source)) ?? (await commitId(repo, source))
    return flatTree(repo, await repo.peel(oid, 'tree'))
  }
  const entries = (await repo.index()).entries.filter(({ stage }) => stage === 0 || stage === side)
  return new Map(entries.map(({ path, mode, oid }) => [path, { mode, oid }]))
}

async function refuseUnmerged(git: Invocation, chosen: readonly string[]): Promise<void> {
  const unmerged = new Set((await git.repo().index()).unmergedPaths())
  const found = chosen.find((path) => unmerged.has(path))
  if (found !== undefined) throw failed(`path '${found}' is unmerged`)
}
