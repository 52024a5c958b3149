// The stops of a rebase: the stored state, and the messages.

import type { Invocation } from '../invocation.ts'
import { patchOf } from '../patch.ts'
import { withRenames } from '../renames.ts'
import { abbreviate } from '../revisions.ts'
import { treeChanges } from '../status.ts'
import { withConflicts } from './apply-commit.ts'
import { CLEAR_LINE } from './rebase-end.ts'
import type { RebaseState } from './rebase-state.ts'
import { writeGitFile } from './state-files.ts'

interface Stop {
  step: { oid: string; subject: string }
  /** The intended commit message. */
  message: string
  /** The current HEAD. */
  head: string
  /** The previous commit is amended instead of creating a new one. */
  isMelted: boolean
}

export async function stopAtConflict(
  git: Invocation,
  state: RebaseState,
  { step, message, head, isMelted }: Stop,
): Promise<number> {
  const repo = git.repo()
  const commit = await repo.commit(step.oid)
  await noteStop(git, state, step.oid)
  await state.saveAuthor(isMelted ? (await repo.commit(head)).author : commit.author)
  await state.write('message', isMelted ? message : `${message.replace(/\n*$/, '\n')}\n`)
  await writeGitFile(repo, 'MERGE_MSG', await withConflicts(git, message))
  await writeGitFile(repo, 'REBASE_HEAD', `${step.oid}\n`)
  if (isMelted) await state.write('amend', `${head}\n`)
  const name = `${await abbreviate(repo, step.oid)}... ${step.subject}`
  git.err(
    `error: could not apply ${name}\n` +
      'hint: Resolve all conflicts manually, mark them as resolved with\n' +
      'hint: "git add/rm <conflicted_files>", then run "git rebase --continue".\n' +
      'hint: You can instead skip this commit: run "git rebase --skip".\n' +
      'hint: To abort and get back to the state before "git rebase", run "git rebase --abort".\n' +
      `Could not apply ${name}`,
  )
  return 1
}

export async function stopForEditing(
  git: Invocation,
  state: RebaseState,
  { oid, subject }: { oid: string; subject: string },
): Promise<number> {
  const repo = git.repo()
  const head = (await repo.refs.head()).oid ?? ''
  await noteStop(git, state, oid)
  await state.write('amend', `${head}\n`)
  await writeGitFile(repo, 'REBASE_HEAD', `${oid}\n`)
  git.err(
    `${state.has('quiet') ? '' : CLEAR_LINE}Stopped at ${await abbreviate(repo, oid)}...  ${subject}\n` +
      'You can amend the commit now, with\n\n  git commit --amend \n\n' +
      'Once you are satisfied with your changes, run\n\n  git rebase --continue\n',
  )
  return 0
}

async function noteStop(git: Invocation, state: RebaseState, oid: string): Promise<void> {
  const repo = git.repo()
  const commit = await repo.commit(oid)
  const before = commit.parents[0] === undefined ? null : (await repo.commit(commit.parents[0])).tree
  let patch = ''
  for (const change of await withRenames(repo, await treeChanges(repo, before, commit.tree)))
    patch += await patchOf(repo, change, { context: 3 })
  await state.write('patch', patch)
  await state.write('stopped-sha', `${oid}\n`)
}
