// `--autostash`: uncommitted changes are stored before an operation on the tree, and restored after it.

import { indexTree } from './commits.ts'
import type { Invocation } from './invocation.ts'
import { abbreviate } from './revisions.ts'
import { bringBack, pushStash, storeStash } from './stashing.ts'
import { unstagedChanges } from './status.ts'
import { overwrite } from './switching.ts'

const MESSAGE = 'autostash'

/** Null if there are no changes. */
export async function createAutostash(git: Invocation): Promise<string | null> {
  const repo = git.repo()
  const head = await repo.refs.head()
  if (head.oid === null) return null
  const headTree = (await repo.commit(head.oid)).tree
  const staged = await indexTree(repo)
  const unstaged = (await unstagedChanges(repo)).map(({ path }) => path)
  if (staged === headTree && unstaged.length === 0) return null
  const { oid } = await storeStash(git, {
    by: await git.signature('committer'),
    head: { oid: head.oid, ref: head.ref },
    staged,
    unstaged,
    untracked: [],
    message: MESSAGE,
  })
  git.line(`Created autostash: ${await abbreviate(repo, oid)}`)
  await overwrite(git, headTree)
  return oid
}

/** If restoring fails, the changes go to the list of stashes. */
export async function applyAutostash(git: Invocation, oid: string): Promise<void> {
  const repo = git.repo()
  if (await bringBack(git, await repo.commit(oid), { index: false, quiet: true, isSilent: true })) {
    git.err('Applied autostash.')
    return
  }
  git.err('Applying autostash resulted in conflicts.')
  await keepAutostash(git, oid)
}

export async function keepAutostash(git: Invocation, oid: string): Promise<void> {
  await pushStash(git, { oid, by: await git.signature('committer'), message: MESSAGE })
  git.err('Your changes are safe in the stash.\nYou can run "git stash pop" or "git stash drop" at any time.')
}
