// The messages if a commit would be empty.

import type { Invocation } from './invocation.ts'
import { relativeTo } from './pathspec.ts'
import { StateFolder } from './sequencer/state-files.ts'
import { gatherStatus, longStatus } from './status-report.ts'

export async function sayNothingToCommit(git: Invocation): Promise<number> {
  const report = await gatherStatus(git, { untracked: 'normal' })
  git.out(longStatus(report, (path) => git.repo().quoted(relativeTo(git.repo(), git.cwd, path)), true))
  return 1
}

/** For a picked commit without changes. */
export async function sayEmptyPick(git: Invocation, isPick = true): Promise<number> {
  await sayNothingToCommit(git)
  if (!isPick) return 1
  const command = new StateFolder(git.repo(), 'rebase-merge').exists ? 'rebase' : 'cherry-pick'
  git.err(
    'The previous cherry-pick is now empty, possibly due to conflict resolution.\n' +
      'If you wish to commit it anyway, use:\n\n    git commit --allow-empty\n\n' +
      `Otherwise, please use 'git ${command} --skip'`,
  )
  return 1
}
