// Picks or reverts commits one after another, and stops at the first one that needs the user.

import { reportCommit } from '../commit-report.ts'
import { endMerge, indexTree, makeCommit } from '../commits.ts'
import { editFile } from '../editor.ts'
import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { tidyMessage } from '../message-cleanup.ts'
import { subjectOf } from '../message-parts.ts'
import { sayEmptyPick } from '../nothing-to-commit.ts'
import { abbreviate } from '../revisions.ts'
import { bringTree } from '../switching.ts'
import { originLine, signOffLine, withTrailer } from '../trailers.ts'
import { applyCommit, revertMessage, withConflicts } from './apply-commit.ts'
import { COMMANDS, HEADS, type SeriesOptions, saveSeries, seriesFolder } from './series-state.ts'
import { writeGitFile } from './state-files.ts'

export interface Series {
  options: SeriesOptions
  oids: readonly string[]
  /** HEAD before the first of them; null if there is only one. */
  start: string | null
}

/** Returns the exit code: 1 if it stopped. */
export async function runSeries(git: Invocation, { options, oids, start }: Series): Promise<number> {
  for (const [i, oid] of oids.entries()) {
    if (start !== null) await saveSeries(git, { options, oids: oids.slice(i), start })
    const pause = git.pace()
    if (pause) await pause
    if (!(await runOne(git, oid, options))) return 1
  }
  seriesFolder(git.repo()).remove()
  return 0
}

/** False if it stopped. */
async function runOne(git: Invocation, oid: string, options: SeriesOptions): Promise<boolean> {
  const repo = git.repo()
  const { action, mainline, style } = options
  const failure = `fatal: ${COMMANDS[action]} failed`
  const head = await repo.refs.head()
  await refuseChanges(git, options)
  const commit = await repo.commit(oid)
  if (options.fastForwards && commit.parents[0] === head.oid && action === 'pick' && commit.parents.length === 1)
    return fastForward(git, oid)
  const isClean = await applyCommit(git, { oid, action, mainline, style, failure })
  const message = await withConflicts(git, await messageOf(git, oid, options))
  if (!isClean) {
    if (options.commits || action === 'revert') await writeGitFile(repo, HEADS[action], `${oid}\n`)
    await writeGitFile(repo, 'MERGE_MSG', message)
    git.err(`error: could not ${action === 'pick' ? 'apply' : 'revert'} ${await named(git, oid)}`)
    git.err(advice(options))
    return false
  }
  if (!options.commits) {
    if (action === 'revert') await writeGitFile(repo, HEADS.revert, `${oid}\n`)
    await writeGitFile(repo, 'MERGE_MSG', message)
    return true
  }
  return concludeOne(git, { oid, message, options })
}

async function named(git: Invocation, oid: string): Promise<string> {
  const repo = git.repo()
  return `${await abbreviate(repo, oid)}... ${subjectOf((await repo.commit(oid)).message)}`
}

async function concludeOne(
  git: Invocation,
  { oid, message, options }: { oid: string; message: string; options: SeriesOptions },
): Promise<boolean> {
  const repo = git.repo()
  const { action } = options
  const head = await repo.refs.head()
  const [original, tree] = [await repo.commit(oid), await indexTree(repo)]
  const parents = head.oid === null ? [] : [head.oid]
  if (head.oid !== null && tree === (await repo.commit(head.oid)).tree) {
    const [before] = original.parents
    const wasEmpty = before !== undefined && (await repo.commit(before)).tree === original.tree
    if (!options.keepsRedundant && !(wasEmpty && options.allowsEmpty)) {
      if (action === 'pick') await writeGitFile(repo, HEADS.pick, `${oid}\n`)
      if (action === 'pick') await writeGitFile(repo, 'MERGE_MSG', message)
      await sayEmptyPick(git, action === 'pick')
      return false
    }
  }
  const edited = options.edits ? await editedMessage(git, message) : message
  const made = await makeCommit(git, {
    tree,
    parents,
    message: edited,
    action: COMMANDS[action],
    ...(action === 'pick' && { author: original.author }),
  })
  await reportCommit(git, { ...made, branch: head.ref, isAmended: false, showsDate: !options.edits })
  return true
}

async function editedMessage(git: Invocation, message: string): Promise<string> {
  await writeGitFile(git.repo(), 'COMMIT_EDITMSG', message)
  const edited = tidyMessage(await editFile(git, `${git.repo().gitDir}/COMMIT_EDITMSG`, 'message'), 'strip')
  if (edited === '') throw new GitFailure('Aborting commit due to empty commit message.', 1)
  return edited
}

/** A commit whose parent is HEAD is used unchanged. */
async function fastForward(git: Invocation, oid: string): Promise<boolean> {
  const repo = git.repo()
  await bringTree(git, { oid })
  const { ref } = await repo.refs.head()
  await repo.refs.change(ref ?? 'HEAD', {
    oid,
    by: await git.signature('committer'),
    message: 'cherry-pick: fast-forward',
  })
  endMerge(repo)
  return true
}

async function refuseChanges(git: Invocation, { action, commits }: SeriesOptions): Promise<void> {
  const repo = git.repo()
  const name = COMMANDS[action]
  const unmerged = (await repo.index()).entries.filter(({ stage }) => stage > 0)
  if (unmerged.length > 0 && commits) throw unmergedRefusal(name)
  if (unmerged.length > 0) {
    const lines = unmerged.map(({ path, oid }) => `${path}: unmerged (${oid})\n`).join('')
    throw new GitFailure(`${lines}error: your index file is unmerged.\nfatal: ${name} failed`, 128)
  }
  if (!commits) return
  const tree = await repo.headTree()
  if (tree === null || tree === (await indexTree(repo))) return
  throw new GitFailure(
    `error: your local changes would be overwritten by ${name}.\n` +
      `hint: commit your changes or stash them to proceed.\nfatal: ${name} failed`,
    128,
  )
}

function unmergedRefusal(name: 'cherry-pick' | 'revert'): GitFailure {
  const verb = name === 'revert' ? 'Reverting' : 'Cherry-picking'
  return new GitFailure(
    `error: ${verb} is not possible because you have unmerged files.\n` +
      "hint: Fix them up in the work tree, and then use 'git add/rm <file>'\n" +
      `hint: as appropriate to mark resolution and make a commit.\nfatal: ${name} failed`,
    128,
  )
}

async function messageOf(git: Invocation, oid: string, options: SeriesOptions): Promise<string> {
  const isPick = options.action === 'pick'
  let message = isPick ? (await git.repo().commit(oid)).message : await revertMessage(git, oid, options.mainline)
  if (isPick && options.tellsOrigin) message = withTrailer(message, originLine(oid))
  if (options.signsOff) message = withTrailer(message, await signOffLine(git))
  return message
}

function advice({ action, commits }: SeriesOptions): string {
  if (!commits) {
    return "hint: after resolving the conflicts, mark the corrected paths\nhint: with 'git add <paths>' or 'git rm <paths>'"
  }
  const name = COMMANDS[action]
  return [
    'After resolving the conflicts, mark them with',
    '"git add/rm <pathspec>", then run',
    `"git ${name} --continue".`,
    `You can instead skip this commit with "git ${name} --skip".`,
    `To abort and get back to the state before "git ${name}",`,
    `run "git ${name} --abort".`,
  ]
    .map((line) => `hint: ${line}`)
    .join('\n')
}
