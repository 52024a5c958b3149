import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { byteOrder } from '../bytes.ts'
import { writeFile } from '../checkout.ts'
import { indexTree } from '../commits.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { isIntended } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { parseCommit } from '../objects.ts'
import { type Pathspec, relativeTo } from '../pathspec.ts'
import type { Repository } from '../repository.ts'
import { revision } from '../revisions.ts'
import { CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
import { bringBack, pushStash, STASH_REF, storeStash } from '../stashing.ts'
import { treeChanges, unstagedChanges, walkWorktree } from '../status.ts'
import { gatherStatus, longStatus } from '../status-report.ts'
import { logReset, overwrite } from '../switching.ts'
import { flatTree } from '../tree.ts'
import { takeAway } from '../worktree.ts'
import { checkout } from './checkout.ts'
import { log } from './log.ts'

export async function stash(git: Invocation, args: string[]): Promise<number> {
  const [action = 'push', ...rest] = args
  switch (action) {
    case 'push':
    case 'save':
      return push(git, action === 'save' ? savedAs(rest) : rest)
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
      if (rest.length > 0) throw failed('git stash clear with arguments is unimplemented')
      await git.repo().refs.change(STASH_REF, { oid: null, by: await git.signature('committer'), message: '' })
      return 0
    default:
      if (action.startsWith('-')) return push(git, args)
      throw new GitFailure(`git stash ${action}: not available here`, 128)
  }
}

/** The arguments of `git stash save` that are not options are its message. */
function savedAs(args: readonly string[]): string[] {
  const { plain, paths } = parseArguments('stash save', PUSH_OPTIONS, args)
  const words = [...plain, ...(paths ?? [])]
  const options = args.slice(0, paths === null ? undefined : args.indexOf('--')).filter((arg) => !plain.includes(arg))
  return words.length === 0 ? options : [...options, '-m', words.join(' ')]
}

const PUSH_OPTIONS = ['message|m=', 'include-untracked|u', 'quiet|q', 'keep-index|k', 'no-keep-index', 'all|a']

async function push(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('stash push', PUSH_OPTIONS, args)
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
  refuseUnmatched(pathspec)
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
  await pushStash(git, { oid, by, message })
  for (const path of untracked) takeAway(git.fs, repo.root, path)
  await overwrite(git, options.has('keep-index') ? staged : headTree, (path) => pathspec.matches(path))
  // With paths, the changes are reverted as a patch; without them, everything is reset.
  if (pathspec.isEmpty) await logReset(git)
  if (!options.has('quiet')) git.line(`Saved working directory and index state ${message}`)
  return 0
}

function refuseUnmatched(pathspec: Pathspec): void {
  const [missing] = pathspec.unmatched()
  if (missing === undefined) return
  throw failed(`pathspec ':(,prefix:0)${missing}' did not match any file(s) known to git\nDid you forget to 'git add'?`)
}

/** The files that the options select; none without them. */
async function untrackedFiles(repo: Repository, options: Arguments): Promise<string[]> {
  const withIgnored = options.has('all')
  if (!withIgnored && !options.has('include-untracked')) return []
  const walked = await walkWorktree(repo, { untracked: 'all', ignored: withIgnored })
  return [...walked.untracked, ...walked.ignored]
    .flatMap((path) => (path.endsWith('/') ? filesBelow(repo, path) : [path]))
    .sort(byteOrder)
}

/** A folder with only ignored contents stands for its files; another repository in it is not included. */
function filesBelow(repo: Repository, folder: string): string[] {
  const entries = repo.fs.list(`${repo.root}/${folder}`)
  if (entries.some(({ name }) => name === '.git')) return []
  return entries.flatMap(({ name, kind }) =>
    kind === 'directory' ? filesBelow(repo, `${folder}${name}/`) : [`${folder}${name}`],
  )
}

/** `name` is git's name of it, for the message after it was dropped. */
type Entry = { at: number; oid: string; name: string }

async function entryAt(git: Invocation, given: string | undefined): Promise<Entry> {
  const log = await git.repo().refs.log(STASH_REF)
  if (given === undefined && log.length === 0) throw new GitFailure('No stash entries found.', 1)
  const name = given === undefined || /^\d+$/.test(given) ? `${STASH_REF}@{${given ?? 0}}` : given
  const at = /^(?:refs\/)?stash(?:@\{(\d+)\})?$/.exec(name)
  const entry = at ? log[Number(at[1] ?? 0)] : undefined
  if (at?.[1] !== undefined && !entry && log.length > 0)
    throw fatal(`log for '${name.replace(/@.*/, '')}' only has ${log.length} entries`)
  if (!at || !entry) throw failed(`${name} is not a valid reference`)
  return { at: Number(at[1] ?? 0), oid: entry.after, name }
}

/** An entry of the list, or any commit with the structure of a stash. */
async function stashNamed(git: Invocation, given: string | undefined): Promise<Entry> {
  if (given === undefined || /^\d+$|^(refs\/)?stash\b/.test(given)) return entryAt(git, given)
  const oid = await revision(git.repo(), given)
  if (oid === null) throw failed(`${given} is not a valid reference`)
  const { type, bytes } = await git.repo().objects.read(oid)
  if (type !== 'commit' || parseCommit(bytes).parents.length < 2) throw fatal(`'${given}' is not a stash-like commit`)
  return { at: -1, oid, name: given }
}

async function apply(git: Invocation, args: string[], drops: boolean): Promise<number> {
  const options = parseArguments(`stash ${drops ? 'pop' : 'apply'}`, ['index', 'quiet|q'], args)
  const repo = git.repo()
  const entry = drops ? await entryAt(git, options.rest[0]) : await stashNamed(git, options.rest[0])
  const saved = await repo.commit(entry.oid)
  if ((await repo.index()).unmergedPaths().length > 0) throw fatal('cannot apply a stash in the middle of a merge')
  const how = { index: options.has('index'), quiet: options.has('quiet') }
  let isWhole = await bringBack(git, saved, how)
  if (!isWhole && how.index) git.err('Index was not unstashed.')
  const [, , untracked] = saved.parents
  // Untracked files are restored even if the rest failed.
  if (untracked !== undefined && !(await restoreUntracked(git, (await repo.commit(untracked)).tree))) isWhole = false
  await sayStatus(git, how.quiet)
  if (!drops) return isWhole ? 0 : 1
  if (isWhole) await drop(git, { ...entry, quiet: how.quiet })
  else git.line('The stash entry is kept in case you need it again.')
  return isWhole ? 0 : 1
}

/** Restores untracked files; returns whether none of the paths was in use. */
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

/** Creates a branch at the stash's base commit, with the stash's changes. */
async function branchFrom(git: Invocation, args: string[]): Promise<number> {
  const { rest } = parseArguments('stash branch', [], args)
  const [name, given] = rest
  if (name === undefined) throw new GitFailure('No branch name specified', 1)
  const { oid } = await entryAt(git, given)
  const [base = ''] = (await git.repo().commit(oid)).parents
  try {
    await checkout(git, ['-b', name, base])
  } catch (error) {
    if (error instanceof GitFailure) throw new GitFailure(error.message, 1, { cause: error })
    throw error
  }
  return apply(git, ['--index', ...(given === undefined ? [] : [given])], true)
}

async function sayStatus(git: Invocation, quiet: boolean): Promise<void> {
  if (quiet) return
  const report = await gatherStatus(git, { untracked: 'normal' })
  git.out(longStatus(report, (path) => git.repo().quoted(relativeTo(git.repo(), git.cwd, path))))
}

/** The log of the ref, with all options of a log. */
async function list(git: Invocation, args: string[]): Promise<number> {
  if ((await git.repo().refs.resolve(STASH_REF)) === null) return 0
  return log(git, ['--format=%gd: %gs', '-g', '--first-parent', ...args, STASH_REF, '--'])
}

async function show(git: Invocation, args: string[]): Promise<number> {
  const known = [...CHANGE_OPTIONS.filter((option) => option !== 'patch|p|u'), 'patch|p', 'include-untracked|u']
  const options = parseArguments('stash show', known, args)
  const repo = git.repo()
  const saved = await repo.commit((await stashNamed(git, options.rest[0])).oid)
  const base = await repo.commit(saved.parents[0] ?? '')
  if (args.every((arg) => !arg.startsWith('-') || /^(-u|--include-untracked)$/.test(arg))) options.add('stat', '')
  const changes = await treeChanges(repo, base.tree, saved.tree)
  const untracked = options.has('include-untracked') ? saved.parents[2] : undefined
  if (untracked !== undefined) changes.push(...(await treeChanges(repo, null, (await repo.commit(untracked)).tree)))
  changes.sort((a, b) => byteOrder(a.path, b.path))
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
  const log = await refs.log(STASH_REF)
  log.splice(at, 1)
  const by = await git.signature('committer')
  const [newest] = log
  await refs.change(STASH_REF, { oid: newest?.after ?? null, by, message: '' })
  if (newest) await refs.setLog(STASH_REF, log)
  if (!quiet) git.line(`Dropped ${name} (${oid})`)
}
