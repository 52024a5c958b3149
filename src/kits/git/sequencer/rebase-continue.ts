// Continues a stopped rebase: finishes the current commit, or skips it.

import { reportCommit } from '../commit-report.ts'
import { endMerge, indexTree, makeCommit } from '../commits.ts'
import { failed, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { removeIfThere } from '../ref-files.ts'
import { unstagedChanges } from '../status.ts'
import { overwrite } from '../switching.ts'
import { endFixups, meltedMessage } from './fixups.ts'
import { edited, runRebase } from './rebase-run.ts'
import type { RebaseState } from './rebase-state.ts'

export async function continueRebase(git: Invocation, state: RebaseState): Promise<number> {
  const repo = git.repo()
  const unmerged = (await repo.index()).unmergedPaths()
  if (unmerged.length > 0) {
    for (const path of unmerged) git.line(`${path}: needs merge`)
    git.line('You must edit all merge conflicts and then\nmark them as resolved using git add')
    return 1
  }
  if ((await unstagedChanges(repo)).length > 0) {
    git.line('You must edit all merge conflicts and then\nmark them as resolved using git add')
    return 1
  }
  await commitStaged(git, state)
  removeIfThere(repo.fs, `${repo.gitDir}/REBASE_HEAD`)
  endMerge(repo)
  return runRebase(git, state)
}

/** Changes staged during the stop become the current commit, or part of the previous one. */
async function commitStaged(git: Invocation, state: RebaseState): Promise<void> {
  const repo = git.repo()
  const head = await repo.refs.head()
  const oid = head.oid ?? ''
  const before = await repo.commit(oid)
  const tree = await indexTree(repo)
  const amend = await state.read('amend')
  const isMelting = amend !== null && state.has('current-fixups')
  if (tree === before.tree && !isMelting) return
  if (amend !== null && amend !== oid)
    throw new GitFailure(
      'error: \nYou have uncommitted changes in your working tree. Please, commit them\n' +
        "first and then run 'git rebase --continue' again.",
      1,
    )
  const author = amend === null ? await state.author() : before.author
  if (author === null) throw failed('you have staged changes in your working tree')
  const message = await messageFor(git, state, { isMelting, proposed: amend === null ? null : before.message })
  const made = await makeCommit(git, {
    tree,
    parents: amend === null ? [oid] : before.parents,
    message,
    author,
    action: 'rebase (continue)',
  })
  await reportCommit(git, { ...made, branch: null, isAmended: amend !== null, showsDate: amend !== null })
}

async function messageFor(
  git: Invocation,
  state: RebaseState,
  { isMelting, proposed }: { isMelting: boolean; proposed: string | null },
): Promise<string> {
  const next = (await state.steps())[0]?.verb
  const isLast = next !== 'squash' && next !== 'fixup'
  if (isMelting) {
    if (!isLast) return (await state.text('message-squash')) ?? ''
    const plain = await meltedMessage(state)
    const isEdited = !state.has('message-fixup')
    endFixups(state)
    return isEdited ? edited(git, plain) : plain
  }
  return edited(git, proposed ?? (await state.text('message')) ?? '')
}

/** Skips the commit at which it stopped. */
export async function skipStep(git: Invocation, state: RebaseState): Promise<number> {
  const repo = git.repo()
  await overwrite(git, await repo.headTree())
  state.drop('amend')
  removeIfThere(repo.fs, `${repo.gitDir}/REBASE_HEAD`)
  endMerge(repo)
  return runRebase(git, state)
}
