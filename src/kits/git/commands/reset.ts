import { type Arguments, parseArguments } from '../arguments.ts'
import { applyChanges, changesBetween, obstaclesTo } from '../checkout.ts'
import { endMerge } from '../commits.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isIntended, NO_STAT } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { subjectOf } from '../message-parts.ts'
import { restorePaths } from '../restoring.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { abbreviate, commitId, revision } from '../revisions.ts'
import { changeKind, stagedChanges, unstagedChanges } from '../status.ts'
import { overwrite } from '../switching.ts'

export async function reset(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('reset', ['soft', 'mixed', 'hard', 'keep', 'merge', 'quiet|q'], args)
  options.assertOne('soft', 'mixed', 'hard', 'keep', 'merge')
  const repo = git.repo()
  const { revisions, paths } = await splitRevisions(git, options, { needsPaths: false })
  const words = revisions[0] ?? 'HEAD'
  if (paths.length > 0) return resetPaths(git, { options, source: revisions[0] ?? null, paths })
  const head = await repo.refs.head()
  if (head.oid === null && words !== 'HEAD') throw fatal(`Failed to resolve '${words}' as a valid ref.`)
  const oid = head.oid === null ? null : await commitId(repo, words)
  const tree = oid === null ? null : (await repo.commit(oid)).tree
  if (options.has('soft')) {
    if ((await repo.index()).unmergedPaths().length > 0) throw fatal('Cannot do a soft reset in the middle of a merge.')
  } else if (options.has('hard')) {
    await overwrite(git, tree)
  } else if (options.has('keep')) {
    await resetKeeping(git, { tree, words })
  } else if (options.has('merge')) {
    await resetMerged(git, { tree, words })
  } else {
    await resetIndex(git, tree, () => true)
  }
  if (oid !== null) await moveBranch(git, { ref: head.ref, before: head.oid, oid, words })
  endMerge(repo)
  if (['quiet', 'soft', 'keep', 'merge'].some((name) => options.has(name))) return 0
  if (!options.has('hard')) await listUnstaged(git)
  else if (oid !== null)
    git.line(`HEAD is now at ${await abbreviate(repo, oid)} ${subjectOf((await repo.commit(oid)).message)}`)
  return 0
}

async function moveBranch(
  git: Invocation,
  { ref, before, oid, words }: { ref: string | null; before: string | null; oid: string; words: string },
): Promise<void> {
  const { refs } = git.repo()
  const by = await git.signature('committer')
  if (before !== null) await refs.change('ORIG_HEAD', { oid: before, by, message: '' })
  await refs.change(ref ?? 'HEAD', { oid, by, message: `reset: moving to ${words}` })
}

/** Sets the index to the tree, for paths that pass the filter; its data about unchanged files is kept. */
async function resetIndex(git: Invocation, tree: string | null, filter: (path: string) => boolean): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  for (const path of index.unmergedPaths()) if (filter(path)) index.remove(path)
  for (const entry of [...index.entries]) if (isIntended(entry) && filter(entry.path)) index.remove(entry.path)
  for (const { path, before } of await stagedChanges(repo, tree)) {
    if (!filter(path)) continue
    if (before) index.put({ path, ...before, ...NO_STAT })
    else index.remove(path)
  }
  await repo.saveIndex(index)
}

type Target = { tree: string | null; words: string }

/** Uncommitted changes are kept, and the reset is refused if they are in the way. */
async function resetKeeping(git: Invocation, { tree, words }: Target): Promise<void> {
  const repo = git.repo()
  if ((await repo.index()).unmergedPaths().length > 0) throw fatal('Cannot do a keep reset in the middle of a merge.')
  const from = await repo.headTree()
  const changes = await changesBetween(repo, from, tree)
  const { modified, untracked } = await obstaclesTo(repo, from, changes)
  const [inTheWay] = [...modified, ...untracked]
  if (inTheWay !== undefined) {
    const isStaged = (await stagedChanges(repo, from)).some(({ path }) => path === inTheWay)
    throw notReset(inTheWay, words, isStaged ? 'would be overwritten by merge' : 'not uptodate')
  }
  await applyChanges(repo, changes)
  await repo.saveIndex(await repo.index())
  await resetIndex(git, tree, () => true)
}

/** Staged changes are discarded; unstaged ones are kept, and the reset is refused if a file has both. */
async function resetMerged(git: Invocation, { tree, words }: Target): Promise<void> {
  const repo = git.repo()
  const unmerged = (await repo.index()).unmergedPaths()
  const paths = new Set([...unmerged, ...(await stagedChanges(repo, tree)).map(({ path }) => path)])
  const unstaged = (await unstagedChanges(repo)).find(({ path }) => paths.has(path) && !unmerged.includes(path))
  if (unstaged) throw notReset(unstaged.path, words)
  await overwrite(git, tree, (path) => paths.has(path))
}

function notReset(path: string, words: string, why = 'not uptodate'): GitFailure {
  return new GitFailure(
    `error: Entry '${path}' ${why}. Cannot merge.\nfatal: Could not reset index file to revision '${words}'.`,
    128,
  )
}

type Paths = { options: Arguments; source: string | null; paths: string[] }

async function resetPaths(git: Invocation, { options, source, paths }: Paths): Promise<number> {
  const kind = ['soft', 'hard', 'merge', 'keep'].find((name) => options.has(name))
  if (kind !== undefined) throw fatal(`Cannot do ${kind} reset with paths.`)
  if (options.has('mixed')) git.err("warning: --mixed with paths is deprecated; use 'git reset -- <paths>' instead.")
  const repo = git.repo()
  const head = await repo.headTree()
  const tree = source === null ? head : (await repo.commit(await commitId(repo, source))).tree
  const pathspec = git.pathspec(paths)
  await resetIndex(git, tree, (path) => pathspec.matches(path))
  if (!options.has('quiet')) await listUnstaged(git)
  return 0
}

async function listUnstaged(git: Invocation): Promise<void> {
  const changes = await unstagedChanges(git.repo())
  if (changes.length > 0) git.line('Unstaged changes after reset:')
  for (const change of changes) git.line(`${changeKind(change)}\t${git.repo().quoted(change.path)}`)
}

export async function restore(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments(
    'restore',
    ['staged|S', 'worktree|W', 'source|s=', 'quiet|q', 'ours', 'theirs', 'progress', 'no-progress'],
    args,
  )
  if (options.rest.length === 0) throw fatal('you must specify path(s) to restore')
  const toIndex = options.has('staged')
  if (toIndex && (options.has('ours') || options.has('theirs')))
    throw fatal("'--ours' or '--theirs' cannot be used with --staged")
  const source = options.value('source')
  if (source !== null && (await revision(git.repo(), source)) === null) throw fatal(`could not resolve ${source}`)
  await restorePaths(git, {
    paths: options.rest,
    source: source ?? (toIndex ? 'HEAD' : null),
    toIndex,
    toWorktree: options.has('worktree') || !toIndex,
    side: options.has('ours') ? 2 : options.has('theirs') ? 3 : null,
    removes: true,
  })
  return 0
}
