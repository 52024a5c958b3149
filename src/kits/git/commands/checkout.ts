import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { branchRef, makeBranch } from '../branches.ts'
import { failed, fatal, type GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { subjectOf } from '../message-parts.ts'
import { restorePaths } from '../restoring.ts'
import { abbreviate, commitId, fullRefName, previousBranch, startPoint } from '../revisions.ts'
import { bringTree, leaveBehind, listLocalChanges, switchTo } from '../switching.ts'

const CHECKOUT_OPTIONS = [
  'b=',
  'B=',
  'force|f',
  'quiet|q',
  'track|t?',
  'no-track',
  'detach|d',
  'orphan=',
  'ours|2',
  'theirs|3',
  'progress',
  'no-progress',
  'guess',
  'no-guess',
]

export async function checkout(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('checkout', CHECKOUT_OPTIONS, args)
  const [word, ...more] = options.plain
  const how = { quiet: options.has('quiet'), force: options.has('force') }
  const created = options.value('b') ?? options.value('B')
  const isNew = created !== null || options.has('orphan')
  if (options.has('no-track') && !isNew) throw fatal('missing branch name; try -b')
  if (options.paths) refuseForPaths(options, isNew)
  if (options.has('orphan')) {
    if (word !== undefined) throw fatal('checkout --orphan with a start point is not available here')
    return startOrphan(git, options.value('orphan') ?? '', { ...how, isEmptied: false })
  }
  if (created !== null) {
    return createAndSwitch(git, {
      ...how,
      name: created,
      start: word ?? null,
      reset: options.has('B'),
      track: trackOf(options),
    })
  }
  if (options.paths) return checkoutPaths(git, { options, source: word ?? null, paths: options.paths })
  if (word === undefined) {
    refuseSides(options)
    return switchToWord(git, 'HEAD', { ...how, detach: options.has('detach') })
  }
  const names = await branchOrCommit(git, word)
  if (more.length > 0 || (names === null && (await isPath(git, word))) || /^[.:*]/.test(word)) {
    const source = names === null ? null : word
    return checkoutPaths(git, { options, source, paths: source === null ? options.plain : more })
  }
  refuseSides(options)
  if (names === null && !options.has('no-guess') && (await followRemote(git, word, how))) return 0
  if (names === null) throw failed(`pathspec '${word}' did not match any file(s) known to git`)
  if (options.has('track')) return createTracking(git, word, how)
  return switchToWord(git, word, { ...how, detach: options.has('detach') })
}

/** Creates a local branch with the name that the followed one has at its remote. */
function createTracking(git: Invocation, word: string, how: SwitchOptions): Promise<number> {
  const name = word.replace(/^(refs\/remotes\/)?[^/]+\//, '')
  return createAndSwitch(git, { ...how, name, start: word, reset: false, track: true })
}

/** Options for a branch or a commit cannot be combined with paths. */
function refuseForPaths(options: Arguments, isNew: boolean): void {
  const [path = ''] = options.paths ?? []
  if (isNew && options.plain.length === 0) {
    const name = options.value('b') ?? options.value('B') ?? options.value('orphan')
    throw fatal(`'${path}' is not a commit and a branch '${name}' cannot be created from it`)
  }
  if (options.has('detach')) throw fatal(`git checkout: --detach does not take a path argument '${path}'`)
  if (options.has('track') && !isNew) throw fatal('--track needs a branch name')
}

/** A side exists only for a file with an unfinished merge. */
function refuseSides(options: Arguments): void {
  if (options.has('ours') || options.has('theirs'))
    throw fatal("'--ours/--theirs' cannot be used with switching branches")
}

const SWITCH_OPTIONS = [
  'create|c=',
  'force-create|C=',
  'detach|d',
  'quiet|q',
  'force|f|discard-changes',
  'track|t?',
  'no-track',
  'orphan=',
  'guess',
  'no-guess',
]

export async function switchBranch(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('switch', SWITCH_OPTIONS, args)
  const how = { quiet: options.has('quiet'), force: options.has('force') }
  const [word] = options.rest
  if (options.has('orphan')) {
    if (word !== undefined) throw fatal('switch --orphan with a start point is not available here')
    return startOrphan(git, options.value('orphan') ?? '', { ...how, isEmptied: true })
  }
  const created = options.value('create') ?? options.value('force-create')
  if (options.has('no-track') && created === null) throw fatal('missing branch name; try -c')
  if (created !== null) {
    return createAndSwitch(git, {
      ...how,
      name: created,
      start: word ?? null,
      reset: options.has('force-create'),
      track: trackOf(options),
    })
  }
  if (options.rest.length > 1) throw fatal('only one reference expected')
  if (word === undefined && options.has('detach')) return switchToWord(git, 'HEAD', { ...how, detach: true })
  if (word === undefined) throw fatal('missing branch or commit argument')
  const found = await branchOrCommit(git, word)
  if (found === null && !options.has('detach') && !options.has('no-guess') && (await followRemote(git, word, how)))
    return 0
  if (found === null) throw fatal(`invalid reference: ${word}`)
  if (options.has('track')) return createTracking(git, word, how)
  if (found.ref === null && !options.has('detach')) throw await branchExpected(git, word)
  return switchToWord(git, word, { ...how, detach: options.has('detach') })
}

async function branchExpected(git: Invocation, word: string): Promise<GitFailure> {
  return fatal(
    `a branch is expected, got ${await kindOf(git, word)} '${word}'\n` +
      'hint: If you want to detach HEAD at the commit, try again with the --detach option.',
  )
}

async function kindOf(git: Invocation, word: string): Promise<'tag' | 'remote branch' | 'commit'> {
  const ref = await fullRefName(git.repo(), word)
  if (ref?.startsWith('refs/tags/')) return 'tag'
  return ref?.startsWith('refs/remotes/') ? 'remote branch' : 'commit'
}

/** A file that exists, or a tracked one that was removed. */
async function isPath(git: Invocation, word: string): Promise<boolean> {
  if (lstatAt(git.fs, git.resolve(word))) return true
  const { root } = git.repo()
  const full = git.resolve(word)
  if (!full.startsWith(`${root === '/' ? '' : root}/`)) return false
  const path = full.slice(root === '/' ? 1 : root.length + 1)
  return (await git.repo().index()).entries.some((entry) => entry.path === path || entry.path.startsWith(`${path}/`))
}

function trackOf(options: Arguments): boolean | undefined {
  return options.has('no-track') ? false : options.has('track') ? true : undefined
}

type SwitchOptions = { quiet: boolean; force: boolean }

/** The meaning of a word for a checkout: a local branch, or any commit. */
async function branchOrCommit(
  git: Invocation,
  word: string,
): Promise<{ ref: string | null; oid: string | null; name: string } | null> {
  const repo = git.repo()
  const name = (await previousBranch(repo, word)) ?? word
  const branch = await repo.refs.resolve(`refs/heads/${name}`)
  if (branch !== null) return { ref: `refs/heads/${name}`, oid: branch, name }
  const head = await repo.refs.head()
  if (head.ref === `refs/heads/${name}`) return { ref: head.ref, oid: null, name }
  const oid = await startPoint(repo, name)
  return oid === null ? null : { ref: null, oid, name }
}

async function switchToWord(git: Invocation, word: string, how: SwitchOptions & { detach: boolean }): Promise<number> {
  const found = await branchOrCommit(git, word)
  if (!found) throw fatal(`invalid reference: ${word}`)
  if (word === 'HEAD' && !how.detach) {
    const head = await git.repo().refs.head()
    await switchTo(git, { ...head, name: 'HEAD', isNew: false, ...how, quiet: true })
    if (!how.quiet && !how.force) await listLocalChanges(git)
    return 0
  }
  await switchTo(git, { ...found, ref: how.detach ? null : found.ref, isNew: false, isAsked: how.detach, ...how })
  return 0
}

type Creation = SwitchOptions & { name: string; start: string | null; reset: boolean; track: boolean | undefined }

async function createAndSwitch(git: Invocation, { name, reset, track, ...how }: Creation): Promise<number> {
  const start = how.start === '-' ? '@{-1}' : how.start
  const repo = git.repo()
  const ref = branchRef(name)
  const head = await repo.refs.head()
  if (head.oid === null && start === null) {
    await repo.refs.moveHead({ ref }, await git.signature('committer'), '')
    if (!how.quiet) git.err(`Switched to a new branch '${name}'`)
    return 0
  }
  const existed = (await repo.refs.resolve(ref)) !== null
  if (existed && !reset) throw fatal(`a branch named '${name}' already exists`)
  const oid = await startPoint(repo, start ?? 'HEAD').catch(() => null)
  if (oid === null) throw fatal(`'${start}' is not a commit and a branch '${name}' cannot be created from it`)
  // The branch is created only after the tree was checked out.
  await bringTree(git, { oid, force: how.force })
  await makeBranch(git, { name, start, force: reset, isNext: true, track, quiet: how.quiet })
  const from = head.ref?.replace(/^refs\/heads\//, '') ?? head.oid ?? ''
  await repo.refs.moveHead({ ref }, await git.signature('committer'), `checkout: moving from ${from} to ${name}`)
  await leaveBehind(git, { name, quiet: how.quiet })
  if ((start !== null || reset) && !how.quiet && !how.force) await listLocalChanges(git)
  const said = existed ? (head.ref === ref ? 'Reset' : 'Switched to and reset') : 'Switched to a new'
  if (!how.quiet) git.err(`${said} branch '${name}'`)
  return 0
}

/** If exactly one remote has a branch with this name, a local branch is created that follows it. */
async function followRemote(git: Invocation, word: string, how: SwitchOptions): Promise<boolean> {
  const refs = await git.repo().refs.list('refs/remotes/')
  const matches = [...refs.keys()].filter((ref) => ref.replace(/^refs\/remotes\/[^/]+\//, '') === word)
  const [only] = matches
  if (only === undefined || matches.length > 1) return false
  await createAndSwitch(git, {
    ...how,
    name: word,
    start: only,
    reset: false,
    track: true,
  })
  return true
}

/** The files of the previous branch are kept by a checkout, and removed by a switch. */
async function startOrphan(
  git: Invocation,
  name: string,
  { quiet, force, isEmptied }: SwitchOptions & { isEmptied: boolean },
): Promise<number> {
  const ref = branchRef(name)
  if ((await git.repo().refs.resolve(ref)) !== null) throw fatal(`a branch named '${name}' already exists`)
  const { repo, head } = { repo: git.repo(), head: await git.repo().refs.head() }
  if (isEmptied) await bringTree(git, { oid: null, force })
  if (!isEmptied && !quiet && !force && head.oid !== null) await listLocalChanges(git)
  await repo.refs.setSymbolic('HEAD', ref)
  if (isEmptied && head.ref === null && head.oid !== null && !quiet)
    git.err(
      `Previous HEAD position was ${await abbreviate(repo, head.oid)} ${subjectOf((await repo.commit(head.oid)).message)}`,
    )
  if (!quiet) git.err(`Switched to a new branch '${name}'`)
  return 0
}

type Paths = { options: Arguments; source: string | null; paths: readonly string[] }

async function checkoutPaths(git: Invocation, { options, source, paths }: Paths): Promise<number> {
  const repo = git.repo()
  if (paths.length === 0 && source !== null)
    return switchToWord(git, source, { quiet: options.has('quiet'), force: options.has('force'), detach: false })
  const side = options.has('ours') ? 2 : options.has('theirs') ? 3 : null
  const count = await restorePaths(git, { paths, source, toIndex: source !== null, toWorktree: true, side })
  // With `--` no hint is needed.
  if (options.has('quiet') || options.paths) return 0
  const from =
    source === null ? 'the index' : await abbreviate(repo, await repo.peel(await commitId(repo, source), 'tree'))
  git.err(`Updated ${count} path${count === 1 ? '' : 's'} from ${from}`)
  return 0
}
