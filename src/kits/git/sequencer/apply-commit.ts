// Repeats the change of a commit, or reverts it: a merge whose base is the commit's parent, or the commit itself.

import { utf8 } from '../bytes.ts'
import { type Obstacles, obstacleText } from '../checkout.ts'
import { indexTree } from '../commits.ts'
import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import type { MergeStyle } from '../merge-text.ts'
import { joinTrees } from '../merging.ts'
import { subjectOf } from '../message-parts.ts'
import type { Commit } from '../objects.ts'
import { abbreviate } from '../revisions.ts'

export type Action = 'pick' | 'revert'

export interface Application {
  oid: string
  action: Action
  /** For a merge commit, the parent it is compared with. */
  mainline?: number | null
  style: MergeStyle
  /** The last message if it cannot start. */
  failure?: string
  /** Whether it only reports conflicts. */
  isTerse?: boolean
}

/** True if there was no conflict. Index and working tree contain the result; nothing is committed. */
export async function applyCommit(git: Invocation, application: Application): Promise<boolean> {
  const repo = git.repo()
  const { oid, action, style, failure, isTerse = false } = application
  const commit = await repo.commit(oid)
  const parent = parentFor(application, commit)
  const parentTree = parent === null ? null : (await repo.commit(parent)).tree
  const label = `${await abbreviate(repo, oid)} (${subjectOf(commit.message)})`
  const before = parent === null ? '(empty tree)' : `parent of ${label}`
  const isPick = action === 'pick'
  const result = await joinTrees(git, {
    base: isPick ? parentTree : commit.tree,
    ours: await indexTree(repo),
    theirs: (isPick ? commit.tree : parentTree) ?? (await repo.objects.write('tree', utf8(''))),
    labels: {
      ...style,
      ours: 'HEAD',
      theirs: isPick ? label : before,
      base: isPick ? before : label,
    },
    refuse: (obstacles) => refusal(obstacles, failure),
  })
  const isClean = result.conflicts.length === 0
  if (!isClean || !isTerse) for (const message of result.messages) git.line(message)
  return isClean
}

function refusal(obstacles: Obstacles, failure: string | undefined): GitFailure {
  const text = obstacleText(obstacles, 'merge')
  return new GitFailure(failure === undefined ? text : `${text}\n${failure}`, failure === undefined ? 1 : 128)
}

function parentFor({ oid, mainline = null, failure }: Application, { parents }: Commit): string | null {
  const refuse = (words: string) => new GitFailure([`error: ${words}`, failure ?? ''].join('\n').trimEnd(), 128)
  if (mainline === null) {
    if (parents.length > 1) throw refuse(`commit ${oid} is a merge but no -m option was given.`)
    return parents[0] ?? null
  }
  if (parents.length < 2 && mainline > 1) throw refuse(`commit ${oid} does not have parent ${mainline}`)
  if (parents.length === 0) throw refuse(`mainline was specified but commit ${oid} is not a merge.`)
  const parent = parents[mainline - 1]
  if (parent === undefined) throw refuse(`commit ${oid} does not have parent ${mainline}`)
  return parent
}

/** The message of the revert commit. */
export async function revertMessage(git: Invocation, oid: string, mainline: number | null): Promise<string> {
  const commit = await git.repo().commit(oid)
  const against = mainline !== null && commit.parents.length > 1 ? commit.parents[mainline - 1] : undefined
  const end = against === undefined ? '' : `, reversing\nchanges made to ${against}`
  return `Revert "${subjectOf(commit.message)}"\n\nThis reverts commit ${oid}${end}.\n`
}

/** Git's proposed message for a commit after a conflict. */
export async function withConflicts(git: Invocation, message: string): Promise<string> {
  const paths = (await git.repo().index()).unmergedPaths()
  if (paths.length === 0) return message
  return `${message.replace(/\n*$/, '\n')}\n# Conflicts:\n${paths.map((path) => `#\t${path}\n`).join('')}`
}
