// Executes the steps of a rebase one after another, until all are done or one needs the user.

import { reportCommit } from '../commit-report.ts'
import { indexTree, makeCommit } from '../commits.ts'
import { editFile, editorFor } from '../editor.ts'
import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { tidyMessage } from '../message-cleanup.ts'
import { subjectOf } from '../message-parts.ts'
import type { Commit, Signature } from '../objects.ts'
import { abbreviate } from '../revisions.ts'
import { bringTree } from '../switching.ts'
import { applyCommit } from './apply-commit.ts'
import { endFixups, meltedMessage, meltMessage } from './fixups.ts'
import { CLEAR_LINE, finishRebase } from './rebase-end.ts'
import type { RebaseState } from './rebase-state.ts'
import { stopAtConflict, stopForEditing } from './rebase-stops.ts'
import { writeGitFile } from './state-files.ts'
import type { Step } from './todo.ts'

type CommitStep = Extract<Step, { oid: string }>

/** Returns the exit code: 1 if it stopped because of a problem. */
export async function runRebase(git: Invocation, state: RebaseState, { fastForwards = true } = {}): Promise<number> {
  const isQuiet = state.has('quiet')
  for (let steps = await state.steps(); steps.length > 0; steps = await state.steps()) {
    const [step, ...rest] = steps
    if (!step) break
    const pause = git.pace()
    if (pause) await pause
    await state.advance(step, rest)
    state.drop('amend', 'stopped-sha', 'author-script', 'message', 'patch')
    if (!isQuiet && step.verb !== 'noop') git.err(`Rebasing ${await state.progress()}\r`)
    const stopped = await take(git, state, { step, rest, fastForwards })
    if (stopped !== null) return stopped
  }
  await finishRebase(git, state)
  return 0
}

type Taking = { step: Step; rest: readonly Step[]; fastForwards: boolean }

/** Null to continue, or the exit code. */
async function take(git: Invocation, state: RebaseState, { step, ...more }: Taking): Promise<number | null> {
  if (step.verb === 'break') {
    const { oid } = await git.repo().refs.head()
    git.err(`${state.has('quiet') ? '' : CLEAR_LINE}Stopped at ${await named(git, oid ?? '')}`)
    return 0
  }
  if (step.verb === 'exec') return runCommand(git, step.command, state.has('quiet'))
  return 'oid' in step && step.verb !== 'drop' ? takeCommit(git, state, { step, ...more }) : null
}

async function named(git: Invocation, oid: string): Promise<string> {
  return `${await abbreviate(git.repo(), oid)} (${subjectOf((await git.repo().commit(oid)).message)})`
}

async function runCommand(git: Invocation, command: string, isQuiet: boolean): Promise<number | null> {
  git.err(`${isQuiet ? '' : CLEAR_LINE}Executing: ${command}`)
  if (!git.execute) throw new GitFailure(`error: cannot run '${command}' outside of a shell`, 1)
  const { stdout, stderr, exitCode } = await git.execute(command, git.repo().root)
  git.out(stdout)
  git.err(stderr)
  git.repo().forgetIndex()
  if (exitCode === 0) return null
  git.err(
    `warning: execution failed: ${command}\nYou can fix the problem, and then run\n\n  git rebase --continue\n\n\n`,
  )
  return 1
}

async function takeCommit(
  git: Invocation,
  state: RebaseState,
  { step, rest, fastForwards }: Taking & { step: CommitStep },
): Promise<number | null> {
  const repo = git.repo()
  const head = (await repo.refs.head()).oid ?? ''
  const commit = await repo.commit(step.oid)
  const isMelted = step.verb === 'squash' || step.verb === 'fixup'
  const base = await state.parentsOn(head)
  const isInPlace = fastForwards && !isMelted && commit.parents.join() === base.join()
  if (isInPlace) await fastForward(git, step)
  else {
    const melting = isMelted ? await meltWith(git, state, { step, head, commit }) : null
    const isClean = await applied(git, state, { step, rest })
    if (!isClean)
      return stopAtConflict(git, state, { step, message: melting?.message ?? commit.message, head, isMelted })
    const isFirst = base.length === 0
    const isEmptied = !isFirst && (await indexTree(repo)) === (await repo.commit(head)).tree
    if (isEmptied && !isMelted && !(await wasEmpty(git, commit))) {
      git.err(`dropping ${step.oid} ${step.subject} -- patch contents already upstream`)
      return null
    }
    await conclude(git, state, { step, commit, rest, melting })
  }
  if (step.verb === 'edit') return stopForEditing(git, state, step)
  if (step.verb === 'reword') await reword(git)
  return null
}

/** Throws, after undoing the step, if there are obstacles. */
async function applied(
  git: Invocation,
  state: RebaseState,
  { step, rest }: { step: CommitStep; rest: readonly Step[] },
) {
  try {
    return await applyCommit(git, { oid: step.oid, action: 'pick', style: await state.style(), isTerse: true })
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    await state.takeBack(step, rest)
    const todo = '.git/rebase-merge/git-rebase-todo'
    throw new GitFailure(
      `${error.message}\nhint: Could not execute the todo command\nhint: \nhint:     ${step.verb} ${step.oid} ${step.subject}\nhint: \n` +
        'hint: It has been rescheduled; To edit the command before continuing, please\n' +
        `hint: edit the todo list first:\nhint: \nhint:     git rebase --edit-todo\nhint:     git rebase --continue\n` +
        `error: could not apply ${step.oid}; the list is in ${todo}`,
      1,
    )
  }
}

async function wasEmpty(git: Invocation, { parents, tree }: Commit): Promise<boolean> {
  const [parent] = parents
  return parent !== undefined && (await git.repo().commit(parent)).tree === tree
}

async function fastForward(git: Invocation, { oid }: CommitStep): Promise<void> {
  const { refs } = git.repo()
  await bringTree(git, { oid })
  await refs.change('HEAD', {
    oid,
    by: await git.signature('committer'),
    message: 'rebase: fast-forward',
  })
}

type Melting = { message: string; isEdited: boolean; author: Signature; parents: string[] }

async function meltWith(
  git: Invocation,
  state: RebaseState,
  { step, head, commit }: { step: CommitStep; head: string; commit: Commit },
): Promise<Melting> {
  const before = await git.repo().commit(head)
  const verb = step.verb === 'squash' ? 'squash' : 'fixup'
  // The prefix of a squashed commit's subject is not part of the message.
  const added = commit.message.replace(/^(?:(?:squash|fixup)! )/, verb === 'squash' ? '# $&' : '$&')
  const keeps = step.keepsMessage ?? false
  const melted = await meltMessage(state, { own: before.message, added, verb, keeps })
  return { ...melted, author: before.author, parents: before.parents }
}

type Concluding = { step: CommitStep; commit: Commit; rest: readonly Step[]; melting: Melting | null }

async function conclude(git: Invocation, state: RebaseState, concluding: Concluding): Promise<void> {
  const { step, commit, rest, melting } = concluding
  const repo = git.repo()
  const head = (await repo.refs.head()).oid ?? ''
  const isLast = rest[0]?.verb !== 'squash' && rest[0]?.verb !== 'fixup'
  const isEdited = melting !== null && isLast && melting.isEdited
  let message = melting?.message ?? commit.message
  if (isEdited) message = await edited(git, message)
  else if (melting && isLast) message = await meltedMessage(state)
  if (melting && isLast) endFixups(state)
  const made = await makeCommit(git, {
    tree: await indexTree(repo),
    parents: melting?.parents ?? (await state.parentsOn(head)),
    message,
    author: melting?.author ?? commit.author,
    action: `${git.logged('rebase')} (${step.verb})`,
  })
  if (isEdited) await reportCommit(git, { ...made, branch: null, isAmended: true, showsDate: true })
}

/** The commit exists with its message; it is replaced by another one. */
async function reword(git: Invocation): Promise<void> {
  const commit = await git.repo().commit((await git.repo().refs.head()).oid ?? '')
  const message = await edited(git, commit.message)
  const made = await makeCommit(git, { ...commit, message, action: `${git.logged('rebase')} (reword)` })
  await reportCommit(git, { ...made, branch: null, isAmended: true, showsDate: true })
}

/** Without an editor the proposed message is used. */
export async function edited(git: Invocation, message: string): Promise<string> {
  if ((await editorFor(git, 'message')) === null) return tidyMessage(message, 'strip')
  await writeGitFile(git.repo(), 'COMMIT_EDITMSG', message)
  const text = tidyMessage(await editFile(git, `${git.repo().gitDir}/COMMIT_EDITMSG`, 'message'), 'strip')
  if (text === '') throw new GitFailure('Aborting commit due to empty commit message.', 1)
  return text
}
