// The message after a commit.

import { showDate } from './dates.ts'
import { changeSummary, shortstat } from './diffstat.ts'
import type { Invocation } from './invocation.ts'
import { subjectOf } from './message-parts.ts'
import { type Commit, MODE } from './objects.ts'
import { withRenames } from './renames.ts'
import { abbreviate } from './revisions.ts'
import { treeChanges } from './status.ts'

export interface NewCommit {
  oid: string
  commit: Commit
  /** The branch of the commit; null if HEAD is detached. */
  branch: string | null
  isAmended: boolean
  showsDate: boolean
}

export async function reportCommit(
  git: Invocation,
  { oid, commit: made, branch, isAmended, showsDate }: NewCommit,
): Promise<void> {
  const repo = git.repo()
  const name = branch === null ? 'detached HEAD' : branch.replace(/^refs\/heads\//, '')
  const root = made.parents.length === 0 && !isAmended ? ' (root-commit)' : ''
  git.line(`[${name}${root} ${await abbreviate(repo, oid)}] ${subjectOf(made.message)}`)
  const { author, committer } = made
  if (author.name !== committer.name || author.email !== committer.email)
    git.line(` Author: ${author.name} <${author.email}>`)
  if (showsDate) git.line(` Date: ${showDate(author, 'default')}`)
  if (made.parents.length > 1) return
  const before = made.parents[0] === undefined ? null : (await repo.commit(made.parents[0])).tree
  const changes = await withRenames(repo, await treeChanges(repo, before, made.tree))
  const files = changes.filter(({ after, before: old }) => (after ?? old)?.mode !== MODE.tree)
  git.out(await shortstat(repo, files))
  git.out(changeSummary(git.repo(), files))
}
