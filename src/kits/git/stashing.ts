// Creates and applies stashes: uncommitted changes become commits, and are restored from them.

import { lstatAt } from '../../workspace/stat.ts'
import { applyChanges, obstaclesTo, obstacleText, writeFile } from './checkout.ts'
import { indexTree, storeCommit } from './commits.ts'
import { failed } from './failure.ts'
import { statFields } from './index-file.ts'
import type { Invocation } from './invocation.ts'
import { mergeTrees } from './merge-trees.ts'
import { joinTrees } from './merging.ts'
import { subjectOf } from './message-parts.ts'
import { type Commit, type FileState, formatSignature, NULL_ID, type Signature } from './objects.ts'
import { abbreviate } from './revisions.ts'
import { writeTree } from './tree.ts'
import { modeOf, storedAt, takeAway } from './worktree.ts'

export const STASH_REF = 'refs/stash'

/** Puts the commit on top of the list of stashes. */
export async function pushStash(
  git: Invocation,
  { oid, by, message }: { oid: string; by: Signature; message: string },
): Promise<void> {
  const { refs } = git.repo()
  const entries = await refs.log(STASH_REF)
  const before = await refs.resolve(STASH_REF)
  await refs.change(STASH_REF, { oid, by, message })
  await refs.setLog(STASH_REF, [
    { before: before ?? NULL_ID, after: oid, by: formatSignature(by), message },
    ...entries,
  ])
}

export interface StashContents {
  by: Signature
  head: { oid: string; ref: string | null }
  /** The tree of the index. */
  staged: string
  unstaged: readonly string[]
  untracked: readonly string[]
  /** The user's message, if there is one. */
  message: string | null
}

/** The stash commit, with the index and the untracked files as its parents. */
export async function storeStash(
  git: Invocation,
  { by, head, staged, unstaged, untracked, message: own }: StashContents,
): Promise<{ oid: string; message: string }> {
  const repo = git.repo()
  const branch = head.ref?.replace(/^refs\/heads\//, '') ?? '(no branch)'
  const at = `${branch}: ${await abbreviate(repo, head.oid)} ${subjectOf((await repo.commit(head.oid)).message)}`
  const message = own === null ? `WIP on ${at}` : `On ${branch}: ${own}`
  const commit = { author: await git.signature('author'), committer: by }
  const parents = [
    head.oid,
    await storeCommit(repo, { ...commit, tree: staged, parents: [head.oid], message: `index on ${at}\n` }),
  ]
  if (untracked.length > 0) {
    const tree = await writeTree(repo, await storedFiles(git, untracked))
    parents.push(await storeCommit(repo, { ...commit, tree, parents: [], message: `untracked files on ${at}\n` }))
  }
  const tree = await worktreeTree(git, unstaged)
  return { oid: await storeCommit(repo, { ...commit, tree, parents, message }), message }
}

async function storedFiles(git: Invocation, paths: readonly string[]): Promise<({ path: string } & FileState)[]> {
  const { objects, root } = git.repo()
  const files: ({ path: string } & FileState)[] = []
  for (const path of paths) {
    const stat = lstatAt(git.fs, `${root}/${path}`)
    const mode = stat && modeOf(stat)
    if (!stat || mode === null) continue
    files.push({ path, mode, oid: await objects.write('blob', await storedAt(git.repo(), path, stat)) })
  }
  return files
}

/** The tree of tracked files from the working tree. */
async function worktreeTree(git: Invocation, changed: readonly string[]): Promise<string> {
  const files = new Map<string, { path: string } & FileState>()
  for (const { path, mode, oid } of (await git.repo().index()).entries) files.set(path, { path, mode, oid })
  for (const path of changed) files.delete(path)
  for (const file of await storedFiles(git, changed)) files.set(file.path, file)
  return writeTree(git.repo(), files.values())
}

/** `isSilent` suppresses the messages of the merge. */
type Bringing = { index: boolean; quiet: boolean; isSilent?: boolean }

/** Returns whether it was restored without conflicts. */
export async function bringBack(git: Invocation, saved: Commit, how: Bringing): Promise<boolean> {
  const repo = git.repo()
  const [base = '', savedIndex = ''] = saved.parents
  const baseTree = (await repo.commit(base)).tree
  const ours = await indexTree(repo)
  const labels = { ours: 'Updated upstream', theirs: 'Stashed changes' }
  const trial = await mergeTrees(repo, [baseTree, ours, saved.tree], labels)
  const obstacles = await obstaclesTo(repo, ours, trial.changes)
  if (obstacles.modified.length + obstacles.untracked.length > 0 && trial.conflicts.length === 0) {
    if (!how.isSilent) git.err(obstacleText(obstacles, 'merge'))
    return false
  }
  if (trial.conflicts.length > 0) {
    const { messages } = await joinTrees(git, { base: baseTree, ours, theirs: saved.tree, labels })
    if (!how.isSilent) for (const message of messages) git.line(message)
    return false
  }
  if (!how.isSilent) for (const message of trial.messages) git.line(message)
  if (saved.tree === baseTree && !how.quiet) git.line('Already up to date.')
  if (how.index)
    await restoreIndex(git, { changes: trial.changes, baseTree, ours, savedTree: (await repo.commit(savedIndex)).tree })
  else await restoreWorktree(git, trial.changes)
  return true
}

/** Changes are left unstaged; new files are staged, because they would be untracked otherwise. */
async function restoreWorktree(git: Invocation, changes: ReadonlyMap<string, FileState | null>): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  for (const [path, state] of changes) {
    if (!state) {
      takeAway(git.fs, repo.root, path)
      continue
    }
    await writeFile(repo, path, state)
    const stat = lstatAt(git.fs, `${repo.root}/${path}`)
    if (!index.get(path) && stat) index.put({ path, ...state, ...statFields(stat) })
  }
  await repo.saveIndex(index)
}

type StashTrees = { changes: ReadonlyMap<string, FileState | null>; baseTree: string; ours: string; savedTree: string }

async function restoreIndex(git: Invocation, { changes, baseTree, ours, savedTree }: StashTrees): Promise<void> {
  const repo = git.repo()
  const staged = await mergeTrees(repo, [baseTree, ours, savedTree], { ours: 'HEAD', theirs: 'stash' })
  if (staged.conflicts.length > 0) throw failed('conflicts in index. Try without --index.')
  await applyChanges(repo, staged.changes)
  for (const [path, state] of changes) {
    if (state) await writeFile(repo, path, state)
    else takeAway(git.fs, repo.root, path)
  }
  await repo.saveIndex(await repo.index())
}
