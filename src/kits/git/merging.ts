// Merges another commit into the current branch.

import { lstatAt } from '../../workspace/stat.ts'
import { utf8 } from './bytes.ts'
import {
  applyChanges,
  changesBetween,
  type Obstacles,
  obstaclesTo,
  obstacleText,
  refuseObstacles,
  type TreeDelta,
  writeFile,
} from './checkout.ts'
import { indexTree, makeCommit } from './commits.ts'
import { changeSummary, diffstat } from './diffstat.ts'
import { failed, fatal, GitFailure } from './failure.ts'
import { mergeBases } from './history.ts'
import { NO_STAT } from './index-file.ts'
import type { Invocation } from './invocation.ts'
import type { MergeStrategy } from './merge-options.ts'
import type { MergeStyle } from './merge-text.ts'
import { type Conflict, mergeTrees, type TreeMerge } from './merge-trees.ts'
import { withRenames } from './renames.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'
import { treeChanges } from './status.ts'
import { takeAway } from './worktree.ts'

export interface MergeRequest {
  oid: string
  /** The name given by the user. */
  name: string
  message: string
  fastForward: 'allowed' | 'only' | 'never'
  commits: boolean
  squash: boolean
  quiet: boolean
  showsStat: boolean
  unrelated: boolean
  /** With `ours` the result is our side unchanged, whatever the other one contains. */
  strategy?: MergeStrategy
  /** A message was given, which a fast-forward does not use. */
  hasMessage?: boolean
  style?: MergeStyle
}

export async function merge(git: Invocation, request: MergeRequest): Promise<number> {
  const repo = git.repo()
  const head = await repo.refs.head()
  if (head.oid === null) return becomeFirst(git, request)
  const bases = await mergeBases(repo, head.oid, request.oid)
  if (bases.includes(request.oid)) {
    if (!request.quiet) git.line(`Already up to date.${request.squash ? ' (nothing to squash)' : ''}`)
    return 0
  }
  if (bases.length === 0 && !request.unrelated) throw fatal('refusing to merge unrelated histories')
  const isAhead = bases.includes(head.oid)
  if (isAhead && request.fastForward !== 'never' && request.strategy !== 'ours')
    return fastForward(git, head.oid, request)
  if (request.fastForward === 'only') throw fatal('Not possible to fast-forward, aborting.')
  return threeWay(git, request, { ours: head.oid, base: bases[0] ?? null })
}

export function unmergedRefusal(doing: string): GitFailure {
  return new GitFailure(
    `error: ${doing} is not possible because you have unmerged files.\n` +
      "hint: Fix them up in the work tree, and then use 'git add/rm <file>'\n" +
      'hint: as appropriate to mark resolution and make a commit.\nfatal: Exiting because of an unresolved conflict.',
    128,
  )
}

export async function refuseUnfinished(git: Invocation): Promise<void> {
  const repo = git.repo()
  if ((await repo.index()).unmergedPaths().length > 0) throw unmergedRefusal('Merging')
  if ((await repo.refs.resolve('MERGE_HEAD')) !== null) {
    throw fatal('You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.')
  }
}

/** On a branch without commits there is nothing to merge with. */
async function becomeFirst(git: Invocation, { oid }: MergeRequest): Promise<number> {
  const repo = git.repo()
  const changes = await changesBetween(repo, null, (await repo.commit(oid)).tree)
  refuseObstacles(await obstaclesTo(repo, null, changes), 'merge')
  await applyChanges(repo, changes)
  await repo.saveIndex(await repo.index())
  const { ref } = await repo.refs.head()
  await repo.refs.change(ref ?? 'HEAD', { oid, by: await git.signature('committer'), message: 'initial pull' })
  return 0
}

async function fastForward(git: Invocation, from: string, request: MergeRequest): Promise<number> {
  const repo = git.repo()
  const [before, after] = [(await repo.commit(from)).tree, (await repo.commit(request.oid)).tree]
  if (!request.quiet) git.line(`Updating ${await abbreviate(repo, from)}..${await abbreviate(repo, request.oid)}`)
  const changes = await changesBetween(repo, before, after)
  const obstacles = await obstaclesTo(repo, before, changes)
  // It is refused before merging: the exit code is that of an error, not of a failed strategy.
  if (obstacles.modified.length + obstacles.untracked.length > 0)
    throw new GitFailure(obstacleText(obstacles, 'merge'), 1)
  await applyChanges(repo, changes)
  await repo.saveIndex(await repo.index())
  if (!request.quiet) git.line(`Fast-forward${request.hasMessage ? ' (no commit created; -m option ignored)' : ''}`)
  if (request.squash) {
    await repo.fs.write(`${repo.gitDir}/SQUASH_MSG`, utf8(request.message))
    git.line('Squash commit -- not updating HEAD')
  } else {
    await moveBranch(git, request, from)
  }
  if (!request.quiet && request.showsStat) await showDifference(git, before, after)
  return 0
}

async function moveBranch(git: Invocation, { oid, name }: MergeRequest, before: string): Promise<void> {
  const { refs } = git.repo()
  const by = await git.signature('committer')
  await refs.change('ORIG_HEAD', { oid: before, by, message: '' })
  await refs.change((await refs.head()).ref ?? 'HEAD', {
    oid,
    by,
    message: `${git.logged(`merge ${name}`)}: Fast-forward`,
  })
}

async function threeWay(
  git: Invocation,
  request: MergeRequest,
  { ours, base }: { ours: string; base: string | null },
): Promise<number> {
  const repo = git.repo()
  const tree = (await repo.commit(ours)).tree
  const trees = { ours: tree, theirs: request.strategy === 'ours' ? tree : (await repo.commit(request.oid)).tree }
  await refuseStaged(git, trees.ours)
  const baseTree = base === null ? null : (await repo.commit(base)).tree
  const labels = {
    ours: 'HEAD',
    theirs: request.name,
    base: base === null ? 'empty tree' : await abbreviate(repo, base),
  }
  const result = await joinTrees(git, { base: baseTree, ...trees, labels: { ...request.style, ...labels } })
  if (request.strategy === 'recursive') tellRemoved(git, result.changes)
  for (const message of result.messages) git.line(message)
  const isClean = result.conflicts.length === 0
  if (isClean && request.commits && !request.squash) return commitMerge(git, request, { ours, oursTree: trees.ours })
  await leaveOpen(git, request, { ours, conflicts: result.conflicts })
  if (!isClean && request.squash) git.line('Squash commit -- not updating HEAD')
  if (!isClean) {
    git.line('Automatic merge failed; fix conflicts and then commit the result.')
    return 1
  }
  if (request.squash) git.line('Squash commit -- not updating HEAD')
  git.err('Automatic merge went well; stopped before committing as requested')
  return 0
}

/** The older strategy reports each deleted file, from the last to the first. */
function tellRemoved(git: Invocation, changes: TreeDelta): void {
  const removed = [...changes].filter(([, state]) => state === null).map(([path]) => path)
  for (const path of removed.sort().reverse()) git.line(`Removing ${path}`)
}

async function commitMerge(
  git: Invocation,
  request: MergeRequest,
  { ours, oursTree }: { ours: string; oursTree: string },
): Promise<number> {
  const tree = await indexTree(git.repo())
  const said = `Merge made by the '${request.strategy ?? 'ort'}' strategy.`
  await makeCommit(git, {
    tree,
    parents: [ours, request.oid],
    message: request.message,
    action: git.logged(`merge ${request.name}`),
    said,
  })
  if (request.quiet) return 0
  git.line(said)
  if (request.showsStat) await showDifference(git, oursTree, tree)
  return 0
}

/** A merge requires an index without staged changes. */
async function refuseStaged(git: Invocation, tree: string): Promise<void> {
  if ((await indexTree(git.repo())) === tree) return
  const changes = await treeChanges(git.repo(), tree, await indexTree(git.repo()))
  // The changes are stashed and restored, which removes folders without files.
  const repo = git.repo()
  for (const { path } of (await repo.index()).entries) {
    if (!lstatAt(repo.fs, `${repo.root}/${path}`)) takeAway(repo.fs, repo.root, path)
  }
  throw failed(
    'Your local changes to the following files would be overwritten by merge:\n' +
      `  ${changes.map(({ path }) => path).join(' ')}\nMerge with strategy ort failed.`,
    2,
  )
}

export interface Joining {
  base: string | null
  ours: string
  theirs: string
  labels: TreeMerge
  /** The error for obstacles. */
  refuse?: (obstacles: Obstacles) => GitFailure
}

/** Merges into index and working tree; conflicts are left there with markers, and unmerged in the index. */
export async function joinTrees(git: Invocation, { base, ours, theirs, labels, refuse = refuseJoining }: Joining) {
  const repo = git.repo()
  const result = await mergeTrees(repo, [base, ours, theirs], labels)
  const written: TreeDelta = new Map([
    ...result.changes,
    ...result.conflicts.map(({ path, shown }) => [path, shown] as const),
  ])
  const obstacles = await obstaclesTo(repo, ours, written)
  if (obstacles.modified.length + obstacles.untracked.length > 0) throw refuse(obstacles)
  await applyChanges(repo, result.changes)
  for (const conflict of result.conflicts) await leaveConflict(repo, conflict)
  await repo.saveIndex(await repo.index())
  return result
}

function refuseJoining(obstacles: Obstacles): GitFailure {
  return new GitFailure(`${obstacleText(obstacles, 'merge')}\nMerge with strategy ort failed.`, 2)
}

async function leaveConflict(repo: Repository, { path, base, ours, theirs, shown }: Conflict): Promise<void> {
  const index = await repo.index()
  if (shown) await writeFile(repo, path, shown)
  else if (ours) takeAway(repo.fs, repo.root, path)
  index.remove(path)
  for (const [i, state] of [base, ours, theirs].entries()) {
    if (state) index.set({ path, ...state, ...NO_STAT, stage: i + 1, extendedFlags: 0 })
  }
}

/** Stores the state of the merge, for the commit that finishes it. */
async function leaveOpen(
  git: Invocation,
  request: MergeRequest,
  { ours, conflicts }: { ours: string; conflicts: readonly Conflict[] },
): Promise<void> {
  const repo = git.repo()
  const write = (name: string, text: string) => repo.fs.write(`${repo.gitDir}/${name}`, utf8(text))
  const list = conflicts.length === 0 ? '' : `\n# Conflicts:\n${conflicts.map(({ path }) => `#\t${path}\n`).join('')}`
  if (request.squash) {
    await write('MERGE_MSG', request.message)
    return
  }
  await write('MERGE_HEAD', `${request.oid}\n`)
  await write('MERGE_MODE', request.fastForward === 'never' ? 'no-ff' : '')
  await write('MERGE_MSG', request.message + list)
  await repo.refs.change('ORIG_HEAD', { oid: ours, by: await git.signature('committer'), message: '' })
}

async function showDifference(git: Invocation, before: string, after: string): Promise<void> {
  const repo = git.repo()
  const changes = await withRenames(repo, await treeChanges(repo, before, after))
  git.out(await diffstat(repo, changes))
  git.out(changeSummary(repo, changes))
}
