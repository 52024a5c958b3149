// Moves HEAD, together with the working tree.

import { applyChanges, changesBetween, obstaclesTo, refuseObstacles } from './checkout.ts'
import { endMerge } from './commits.ts'
import { isTrue } from './config-file.ts'
import { failed } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { subjectOf } from './message-parts.ts'
import { sameState } from './objects.ts'
import { abbreviate, upstreamOf } from './revisions.ts'
import { forgetSeries, stoppedAction, storedSeries } from './sequencer/series-state.ts'
import { changeKind, type PathFilter, stagedChanges, unstagedChanges } from './status.ts'
import { trackingText, upstreaming } from './status-report.ts'
import { flatTree } from './tree.ts'

export interface SwitchGoal {
  /** A full branch name, or null to detach HEAD. */
  ref: string | null
  /** Null for a branch without commits. */
  oid: string | null
  /** The name given by the user. */
  name: string
  isNew: boolean
  force?: boolean
  quiet?: boolean
  /** Without a requested branch, no advice about it is needed. */
  isAsked?: boolean
}

export async function switchTo(git: Invocation, goal: SwitchGoal): Promise<void> {
  const repo = git.repo()
  const before = await repo.refs.head()
  const isSame = before.ref === goal.ref && goal.ref !== null && before.oid === goal.oid
  await bringTree(git, goal)
  const by = await git.signature('committer')
  const from = before.ref?.replace(/^refs\/heads\//, '') ?? before.oid ?? ''
  if (!(isSame && goal.name === 'HEAD')) {
    const to = goal.ref === null ? { oid: goal.oid ?? '' } : { ref: goal.ref }
    await repo.refs.moveHead(to, by, `checkout: moving from ${from} to ${goal.name}`)
  }
  await leaveBehind(git, goal)
  if (!goal.quiet) await report(git, { goal, before, isSame })
}

/** The state of a stopped merge, pick or revert is removed. */
export async function leaveBehind(git: Invocation, { quiet, name }: Pick<SwitchGoal, 'quiet' | 'name'>): Promise<void> {
  const repo = git.repo()
  if (name === 'HEAD') return
  const stopped = stoppedAction(repo)
  if (stopped !== null && !quiet)
    git.err(`warning: cancelling a ${stopped === 'pick' ? 'cherry picking' : 'revert'} in progress`)
  if (stopped !== null && (await storedSeries(repo)) === null) forgetSeries(repo)
  endMerge(repo)
}

async function refuseUnmerged(git: Invocation): Promise<void> {
  const unmerged = (await git.repo().index()).unmergedPaths()
  if (unmerged.length === 0) return
  for (const path of unmerged) git.out(`${path}: needs merge\n`)
  throw failed('you need to resolve your current index first')
}

/** Changes index and working tree from HEAD to the commit. Local changes that do not conflict are kept. */
export async function bringTree(
  git: Invocation,
  { oid, force = false }: Pick<SwitchGoal, 'oid' | 'force'>,
): Promise<void> {
  const repo = git.repo()
  const to = oid === null ? null : (await repo.commit(oid)).tree
  if (force) return overwrite(git, to)
  await refuseUnmerged(git)
  const from = await repo.headTree()
  if (from === to) return
  const changes = await changesBetween(repo, from, to)
  refuseObstacles(await obstaclesTo(repo, from, changes), 'checkout')
  const index = await repo.index()
  // A file that already has the new state in the index is not changed in the working tree.
  const needed = [...changes].filter(([path, state]) => {
    const entry = index.get(path)
    return !(entry && sameState(entry, state))
  })
  await applyChanges(repo, new Map(needed))
  await repo.saveIndex(index)
}

/** Sets index and working tree to the tree, for paths that pass the filter. Untracked files stay. */
export async function overwrite(git: Invocation, tree: string | null, filter: PathFilter = () => true): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  const files = await flatTree(repo, tree)
  const changes = new Map<string, { mode: number; oid: string } | null>()
  const assumed = index.entries.filter(({ isAssumed }) => isAssumed)
  const changed = new Set((await unstagedChanges(repo, filter, { looksAtAll: true })).map(({ path }) => path))
  for (const { path, stage, mode, oid } of index.entries) {
    const wanted = files.get(path) ?? null
    if (!filter(path)) continue
    if (stage > 0 || changed.has(path) || !sameState({ mode, oid }, wanted)) changes.set(path, wanted)
  }
  for (const [path, state] of files) if (!index.get(path) && filter(path)) changes.set(path, state)
  await applyChanges(repo, changes)
  for (const { path, oid } of assumed) {
    const entry = index.get(path)
    if (entry?.oid === oid) index.set({ ...entry, isAssumed: true })
  }
  await repo.saveIndex(index)
}

/**
 * Resets the changes of a merge or a pick: paths that are unmerged, staged or different in the other tree are set to
 * that tree. Other changes of the working tree stay.
 */
export async function resetMerge(git: Invocation, tree: string | null): Promise<void> {
  const repo = git.repo()
  const paths = new Set((await repo.index()).unmergedPaths())
  for (const { path } of await stagedChanges(repo, tree)) paths.add(path)
  await overwrite(git, tree, (path) => paths.has(path))
}

/** HEAD does not move, and its log gets an entry about the reset. */
export async function logReset(git: Invocation): Promise<void> {
  const { refs } = git.repo()
  const { ref, oid } = await refs.head()
  if (oid === null) return
  const by = await git.signature('committer')
  await refs.change('ORIG_HEAD', { oid, by, message: '' })
  await refs.change(ref ?? 'HEAD', { oid, by, message: 'reset: moving to HEAD' })
}

type OldHead = { ref: string | null; oid: string | null }

async function report(
  git: Invocation,
  { goal, before, isSame }: { goal: SwitchGoal; before: OldHead; isSame: boolean },
): Promise<void> {
  const repo = git.repo()
  const subject = async (oid: string) => `${await abbreviate(repo, oid)} ${subjectOf((await repo.commit(oid)).message)}`
  if (before.ref === null && before.oid !== null && before.oid !== goal.oid)
    git.err(`Previous HEAD position was ${await subject(before.oid)}`)
  if (!goal.isNew && !goal.force) await listLocalChanges(git)
  if (goal.ref === null) {
    const advises = isTrue((await git.setting('advice.detachedHead')) ?? 'true')
    if (before.ref !== null && !goal.isAsked && advises) git.err(detachedAdvice(goal.name))
    git.err(`HEAD is now at ${await subject(goal.oid ?? '')}`)
    return
  }
  const branch = goal.ref.replace(/^refs\/heads\//, '')
  git.err(isSame ? `Already on '${branch}'` : `Switched to ${goal.isNew ? 'a new branch' : 'branch'} '${branch}'`)
  const following = goal.isNew ? null : await upstreaming(git, branch)
  if (following && (await upstreamOf(repo, branch))) git.out(trackingText(following))
}

export async function listLocalChanges(git: Invocation): Promise<void> {
  const repo = git.repo()
  const changes = new Map<string, string>()
  for (const change of await stagedChanges(repo, await repo.headTree())) changes.set(change.path, changeKind(change))
  for (const change of await unstagedChanges(repo))
    changes.set(change.path, changes.get(change.path) ?? changeKind(change))
  for (const path of [...changes.keys()].sort()) git.line(`${changes.get(path)}\t${git.repo().quoted(path)}`)
}

export function detachedAdvice(name: string): string {
  return `Note: switching to '${name}'.

You are in 'detached HEAD' state. You can look around, make experimental
changes and commit them, and you can discard any commits you make in this
state without impacting any branches by switching back to a branch.

If you want to create a new branch to retain commits you create, you may
do so (now or later) by using -c with the switch command. Example:

  git switch -c <new-branch-name>

Or undo this operation with:

  git switch -

Turn off this advice by setting config variable advice.detachedHead to false

`
}
