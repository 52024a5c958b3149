// Creates commits.

import { isIntended } from './index-file.ts'
import type { Invocation } from './invocation.ts'
import { type Commit, formatCommit, type Signature } from './objects.ts'
import { removeIfThere } from './ref-files.ts'
import type { Repository } from './repository.ts'
import { writeTree } from './tree.ts'

/** The tree of the staged files. */
export async function indexTree(repo: Repository): Promise<string> {
  return writeTree(
    repo,
    (await repo.index()).entries.filter((entry) => entry.stage === 0 && !isIntended(entry)),
  )
}

export async function storeCommit(repo: Repository, commit: Commit): Promise<string> {
  return repo.objects.write('commit', formatCommit(commit))
}

export interface NewCommit {
  tree: string
  parents: string[]
  message: string
  author?: Signature
  /** The action in the reflog: `commit`, `commit (amend)`, `merge x`. */
  action: string
  /** The text in the reflog; the first line of the commit's message by default. */
  said?: string
}

/** Stores the commit and moves the current branch to it. */
export async function makeCommit(git: Invocation, made: NewCommit): Promise<{ oid: string; commit: Commit }> {
  const repo = git.repo()
  const { tree, parents, message, action, said = message.split('\n', 1)[0] ?? '' } = made
  const committer = await git.signature('committer')
  const commit: Commit = { tree, parents, author: made.author ?? (await git.signature('author')), committer, message }
  const oid = await storeCommit(repo, commit)
  const { ref } = await repo.refs.head()
  await repo.refs.change(ref ?? 'HEAD', { oid, by: committer, message: `${action}: ${said}` })
  endMerge(repo)
  return { oid, commit }
}

const MERGE_FILES = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'AUTO_MERGE',
] as const

/** Removes the state of an unfinished merge. */
export function endMerge(repo: Repository): void {
  for (const name of MERGE_FILES) removeIfThere(repo.fs, `${repo.gitDir}/${name}`)
}
