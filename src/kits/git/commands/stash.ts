import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { applyChanges, obstaclesTo, obstacleText, writeFile } from '../checkout.ts'
import { indexTree, storeCommit } from '../commits.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { isIntended, statFields } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { mergeTrees } from '../merge-trees.ts'
import { joinTrees } from '../merging.ts'
import { subjectOf } from '../message-parts.ts'
import { type Commit, type FileState, formatSignature, NULL_ID, type Signature } from '../objects.ts'
import { relativeTo } from '../pathspec.ts'
import type { Repository } from '../repository.ts'
import { abbreviate } from '../revisions.ts'
import { CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
import { treeChanges, unstagedChanges, walkWorktree } from '../status.ts'
import { gatherStatus, longStatus } from '../status-report.ts'
import { logReset, overwrite } from '../switching.ts'
import { flatTree, writeTree } from '../tree.ts'
import { modeOf, storedAt, takeAway } from '../worktree.ts'
import { checkout } from './checkout.ts'
import { log } from './log.ts'

const REF = 'refs/stash'

export async function stash(git: Invocation, args: string[]): Promise<number> {
  const [action = 'push', ...rest] = args
  switch (action) {
    case 'push':
    case 'save':
      return push(
        git,
        action === 'save' && rest.length > 0 && !rest[0]?.startsWith('-') ? ['-m', rest.join(' ')] : rest,
      )
    case 'pop':
    case 'apply':
      return apply(git, rest, action === 'pop')
    case 'list':
      return list(git, rest)
    case 'show':
      return show(git, rest)
    case 'branch':
      return branchFrom(git, rest)
    case 'drop':
      return dropCommand(git, rest)
    case 'clear':
      await git.repo().refs.change(REF, { oid: null, by: await git.signature('committer'), message: '' })
      return 0
    default:
      if (action.startsWith('-')) return push(git, args)
      throw new GitFailure(`git stash ${action}: not available here`, 1)
  }
}

async function push(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments(
    'stash push',
    ['message|m=', 'include-untracked|u', 'quiet|q', 'keep-index|k', 'no-keep-index', 'all|a'],
    args,
  )
  const repo = git.repo()
  const pathspec = git.pathspec(options.rest)
  const head = await repo.refs.head()
  if (head.oid === null) throw new GitFailure('You do not have the initial commit yet', 1)
  if ((await repo.index()).unmergedPaths().length > 0) throw failed('could not write index')
  const headTree = (await repo.commit(head.oid)).tree
  const index = await repo.index()
  const intended = index.entries.find(isIntended)
  if (intended)
    throw failed(`Entry '${intended.path}' not uptodate. Cannot merge.\nCannot save the current worktree state`)
  const staged = await indexTree(repo)
  const unstaged = (await unstagedChanges(repo)).filter(({ path }) => pathspec.matches(path))
  const isStaged = (await treeChanges(repo, headTree, staged)).some(({ path }) => pathspec.matches(path))
  for (const { path } of index.entries) pathspec.matches(path)
  const untracked = (await untrackedFiles(repo, options)).filter((path) => pathspec.matches(path))
  const [missing] = pathspec.unmatched()
  if (missing !== undefined)
    throw failed(
      `pathspec ':(,prefix:0)${missing}' did not match any file(s) known to git\nDid you forget to 'git add'?`,
    )
  if (!isStaged && unstaged.length === 0 && untracked.length === 0) {
    if (!options.has('quiet')) git.line('No local changes to save')
    return 0
  }
  const by = await git.signature('committer')
  const { oid, message } = await storeStash(git, {
    by,
    head: { oid: head.oid, ref: head.ref },
    staged,
    unstaged: unstaged.map(({ path }) => path),
    untracked,
    message: options.value('message'),
  })
  const entries = await repo.refs.log(REF)
  const before = await repo.refs.resolve(REF)
  await repo.refs.change(REF, { oid, by, message })
  await repo.refs.setLog(REF, [{ before: before ?? NULL_ID, after: oid, by: formatSignature(by), message }, ...entries])
  for (const path of untracked) takeAway(git.fs, repo.root, path)
  await overwrite(git, options.has('keep-index') ? staged : headTree, (path) => pathspec.matches(path))
  // With paths, what changed is taken back as a patch; without them the whole is reset.
  if (pathspec.isEmpty) await logReset(git)
  if (!options.has('quiet')) git.line(`Saved working directory and index state ${message}`)
  return 0
}

interface StashContents {
  by: Signature
  head: { oid: string; ref: string | null }
  /** The tree of the index. */
  staged: string
  unstaged: readonly string[]
  untracked: readonly string[]
  /** The user's own message, if there is one. */
  message: string | null
}

/** The commit of the stash, with the index and the untracked files as its parents. */
async function storeStash(
  git: Invocation,
  { by, head, staged, unstaged, untracked, message: own }: StashContents,
): Promise<{ oid: string; message: string }> {
  const repo = git.repo()
  const branch = head.ref?.replace(/^refs\/heads\//, '') ?? '(no branch)'
  const at = `${branch}: ${await abbreviate(repo, head.oid)} ${subjectOf((await repo.commit(head.oid)).message)}`
  const message = own === null ? `WIP on ${at}` : `On ${branch}: ${own}`
  const commit = { author: await git.signature('author'), committer: by }
  const parents = [
    head.oid,
    await storeCommit(repo, { ...commit, tree: staged, parents: [head.oid], message: `index on ${at}\n` }),
  ]
  if (untracked.length > 0) {
    const tree = await writeTree(repo, await storedFiles(git, untracked))
    parents.push(await storeCommit(repo, { ...commit, tree, parents: [], message: `untracked files on ${at}\n` }))
  }
  const tree = await worktreeTree(git, unstaged)
  return { oid: await storeCommit(repo, { ...commit, tree, parents, message }), message }
}

/** Those that the options name; none without them. */
async function untrackedFiles(repo: Repository, options: Arguments): Promise<string[]> {
  const withIgnored = options.has('all')
  if (!withIgnored && !options.has('include-untracked')) return []
  const walked = await walkWorktree(repo, { untracked: 'all', ignored: withIgnored })
  return [...walked.untracked, ...walked.ignored].filter((path) => !path.endsWith('/'))
}

async function storedFiles(git: Invocation, paths: readonly string[]): Promise<({ path: string } & FileState)[]> {
  const { objects, root } = git.repo()
  const files: ({ path: string } & FileState)[] = []
  for (const path of paths) {
    const stat = lstatAt(git.fs, `${root}/${path}`)
    const mode = stat && modeOf(stat)
    if (!stat || mode === null) continue
    files.push({ path, mode, oid: await objects.write('blob', await storedAt(git.repo(), path, stat)) })
  }
  return files
}

/** The tree of tracked files as they stand in the working tree. */
async function worktreeTree(git: Invocation, changed: readonly string[]): Promise<string> {
  const files = new Map<string, { path: string } & FileState>()
  for (const { path, mode, oid } of (await git.repo().index()).entries) files.set(path, { path, mode, oid })
  for (const path of changed) files.delete(path)
  for (const file of await storedFiles(git, changed)) files.set(file.path, file)
  return writeTree(git.repo(), files.values())
}

/** `name` is as git calls it when it tells that it is gone. */
type Entry = { at: number; oid: string; name: string }

async function entryAt(git: Invocation, given: string | undefined): Promise<Entry> {
  const log = await git.repo().refs.log(REF)
  if (given === undefined && log.length === 0) throw new GitFailure('No stash entries found.', 1)
  const name = given === undefined || /^\d+$/.test(given) ? `${REF}@{${given ?? 0}}` : given
  const at = /^(?:refs\/)?stash(?:@\{(\d+)\})?$/.exec(name)
  const entry = at ? log[Number(at[1] ?? 0)] : undefined
  if (at?.[1] !== undefined && !entry && log.length > 0)
    throw fatal(`log for '${name.replace(/@.*/, '')}' only has ${log.length} entries`)
  if (!at || !entry) throw failed(`${name} is not a valid reference`)
  return { at: Number(at[1] ?? 0), oid: entry.after, name }
}

async function apply(git: Invocation, args: string[], drops: boolean): Promise<number> {
  const options = parseArguments(`stash ${drops ? 'pop' : 'apply'}`, ['index', 'quiet|q'], args)
  const repo = git.repo()
  const entry = await entryAt(git, options.rest[0])
  const saved = await repo.commit(entry.oid)
  if ((await repo.index()).unmergedPaths().length > 0) throw fatal('cannot apply a stash in the middle of a merge')
  const how = { index: options.has('index'), quiet: options.has('quiet') }
  let isWhole = await bringBack(git, saved, how)
  if (!isWhole && how.index) git.err('Index was not unstashed.')
  const [, , untracked] = saved.parents
  // Files that were untracked come back even where the rest did not.
  if (untracked !== undefined && !(await restoreUntracked(git, (await repo.commit(untracked)).tree))) isWhole = false
  await sayStatus(git, how.quiet)
  if (!drops) return isWhole ? 0 : 1
  if (isWhole) await drop(git, { ...entry, quiet: how.quiet })
  else git.line('The stash entry is kept in case you need it again.')
  return isWhole ? 0 : 1
}

/** Whether it came back without conflicts. */
async function bringBack(git: Invocation, saved: Commit, how: { index: boolean; quiet: boolean }): Promise<boolean> {
  const repo = git.repo()
  const [base = '', savedIndex = ''] = saved.parents
  const baseTree = (await repo.commit(base)).tree
  const ours = await indexTree(repo)
  const labels = { ours: 'Updated upstream', theirs: 'Stashed changes' }
  const trial = await mergeTrees(repo, [baseTree, ours, saved.tree], labels)
  const obstacles = await obstaclesTo(repo, ours, trial.changes)
  if (obstacles.modified.length + obstacles.untracked.length > 0 && trial.conflicts.length === 0) {
    git.err(obstacleText(obstacles, 'merge'))
    return false
  }
  if (trial.conflicts.length > 0) {
    const { messages } = await joinTrees(git, { base: baseTree, ours, theirs: saved.tree, labels })
    for (const message of messages) git.line(message)
    return false
  }
  for (const message of trial.messages) git.line(message)
  if (saved.tree === baseTree && !how.quiet) git.line('Already up to date.')
  if (how.index)
    await restoreIndex(git, { changes: trial.changes, baseTree, ours, savedTree: (await repo.commit(savedIndex)).tree })
  else await restoreWorktree(git, trial.changes)
  return true
}

/** Files that were untracked come back as they were; whether none of them had another one in its place. */
async function restoreUntracked(git: Invocation, tree: string): Promise<boolean> {
  const repo = git.repo()
  let isWhole = true
  for (const [path, state] of await flatTree(repo, tree)) {
    if (!lstatAt(git.fs, `${repo.root}/${path}`)) await writeFile(repo, path, state)
    else {
      git.err(`${path} already exists, no checkout`)
      isWhole = false
    }
  }
  if (!isWhole) git.err('error: could not restore untracked files from stash')
  return isWhole
}

/** Changes are left to be staged again; new files are staged, as they would be untracked otherwise. */
async function restoreWorktree(git: Invocation, changes: ReadonlyMap<string, FileState | null>): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  for (const [path, state] of changes) {
    if (!state) {
      takeAway(git.fs, repo.root, path)
      continue
    }
    await writeFile(repo, path, state)
    const stat = lstatAt(git.fs, `${repo.root}/${path}`)
    if (!index.get(path) && stat) index.put({ path, ...state, ...statFields(stat) })
  }
  await repo.saveIndex(index)
}

type Both = { changes: ReadonlyMap<string, FileState | null>; baseTree: string; ours: string; savedTree: string }

async function restoreIndex(git: Invocation, { changes, baseTree, ours, savedTree }: Both): Promise<void> {
  const repo = git.repo()
  const staged = await mergeTrees(repo, [baseTree, ours, savedTree], { ours: 'HEAD', theirs: 'stash' })
  if (staged.conflicts.length > 0) throw failed('conflicts in index. Try without --index.')
  await applyChanges(repo, staged.changes)
  for (const [path, state] of changes) {
    if (state) await writeFile(repo, path, state)
    else takeAway(git.fs, repo.root, path)
  }
  await repo.saveIndex(await repo.index())
}

/** A new branch where the stash was made, with what it holds. */
async function branchFrom(git: Invocation, args: string[]): Promise<number> {
  const { rest } = parseArguments('stash branch', [], args)
  const [name, given] = rest
  if (name === undefined) throw new GitFailure('No branch name specified', 1)
  const { oid } = await entryAt(git, given)
  const [base = ''] = (await git.repo().commit(oid)).parents
  const exitCode = await checkout(git, ['-b', name, base])
  return exitCode === 0 ? apply(git, ['--index', ...(given === undefined ? [] : [given])], true) : exitCode
}

async function sayStatus(git: Invocation, quiet: boolean): Promise<void> {
  if (quiet) return
  const report = await gatherStatus(git, { untracked: 'normal' })
  git.out(longStatus(report, (path) => git.repo().quoted(relativeTo(git.repo(), git.cwd, path))))
}

/** The log of the ref, which can be asked for in all the ways of a log. */
async function list(git: Invocation, args: string[]): Promise<number> {
  if ((await git.repo().refs.resolve(REF)) === null) return 0
  return log(git, ['--format=%gd: %gs', '-g', '--first-parent', ...args, REF, '--'])
}

async function show(git: Invocation, args: string[]): Promise<number> {
  const known = [...CHANGE_OPTIONS.filter((option) => option !== 'patch|p|u'), 'patch|p', 'include-untracked|u']
  const options = parseArguments('stash show', known, args)
  const repo = git.repo()
  const saved = await repo.commit((await entryAt(git, options.rest[0])).oid)
  const base = await repo.commit(saved.parents[0] ?? '')
  if (args.every((arg) => !arg.startsWith('-') || /^(-u|--include-untracked)$/.test(arg))) options.add('stat', '')
  const changes = await treeChanges(repo, base.tree, saved.tree)
  const untracked = options.has('include-untracked') ? saved.parents[2] : undefined
  if (untracked !== undefined) changes.push(...(await treeChanges(repo, null, (await repo.commit(untracked)).tree)))
  git.out(await showChanges(git, changes, options))
  return 0
}

async function dropCommand(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('stash drop', ['quiet|q'], args)
  await drop(git, { ...(await entryAt(git, options.rest[0])), quiet: options.has('quiet') })
  return 0
}

async function drop(git: Invocation, { at, oid, name, quiet }: Entry & { quiet: boolean }): Promise<void> {
  const { refs } = git.repo()
  const log = await refs.log(REF)
  log.splice(at, 1)
  const by = await git.signature('committer')
  const [newest] = log
  await refs.change(REF, { oid: newest?.after ?? null, by, message: '' })
  if (newest) await refs.setLog(REF, log)
  if (!quiet) git.line(`Dropped ${name} (${oid})`)
}
