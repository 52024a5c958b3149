// A fetch, followed by a merge or a rebase onto the fetched commit.

import { type Arguments, parseArguments } from '../arguments.ts'
import { applyAutostash, createAutostash } from '../autostash.ts'
import { isTrue } from '../config-file.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { assertStrategy, mergeWishes } from '../merge-options.ts'
import { type MergeRequest, merge, refuseUnfinished } from '../merging.ts'
import { remoteNames, usualRemote } from '../named-remotes.ts'
import { upstreamOf } from '../revisions.ts'
import { FETCH_OPTIONS, type FetchedHead, fetchRemote } from './fetch.ts'
import { intoBranch } from './merge.ts'
import { rebase, refuseChanges, wantsAutostash } from './rebase.ts'

const PULL_OPTIONS = [
  'ff-only',
  'no-rebase',
  'no-ff',
  'ff',
  'quiet|q',
  'no-edit',
  'verbose|v',
  'prune|p',
  'tags|t',
  'depth=',
  'unshallow',
  'allow-unrelated-histories',
  'no-commit',
  'squash',
  'force|f',
  'progress',
  'no-tags',
  'rebase|r?',
  'stat',
  'no-stat',
  'strategy|s=',
  'strategy-option|X=',
  'autostash',
  'no-autostash',
]

export async function pull(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('pull', PULL_OPTIONS, args)
  const repo = git.repo()
  const rebases = await wantsRebase(git, options)
  assertStrategy(options.value('strategy'))
  const stashes = rebases && (await wantsAutostash(git, options))
  if (!rebases && options.has('autostash')) throw fatal('--autostash without --rebase is not available here')
  if (rebases && !stashes) await refuseChanges(git, 'pull with rebase')
  await refuseOpenMerge(git)
  const head = await repo.refs.head()
  const branch = head.ref?.replace(/^refs\/heads\//, '') ?? null
  const [given, ...specs] = options.rest
  const upstream = branch === null ? null : await upstreamOf(repo, branch)
  const remote = given ?? (upstream?.remote !== '.' ? upstream?.remote : undefined) ?? (await usualRemote(git))
  const isFollowed = upstream !== null && upstream.remote === remote
  if (specs.length === 0 && !isFollowed && (given === undefined || (await remoteNames(git)).includes(given)))
    throw noUpstream(branch, await remoteNames(git))
  const fetching = parseArguments('fetch', FETCH_OPTIONS, fetchArguments(options))
  const action = git.logged(['pull', ...args].join(' '))
  git.reflogAction = action
  const [fetched, ...more] = await fetchRemote(git, { options: fetching, given: remote, specs, action })
  if (!fetched) throw notFetched(upstream?.branch ?? 'HEAD')
  if (more.length > 0) throw fatal('pull of more than one branch at once is not available here')
  const isForward = head.oid === null || (await isAncestor(repo, head.oid, fetched.oid))
  const isBehind = head.oid !== null && (await isAncestor(repo, fetched.oid, head.oid))
  if (rebases && !isForward)
    return rebase(git, [...rebaseArguments(options), ...(stashes ? ['--autostash'] : []), fetched.oid])
  if (!isForward && !isBehind) await refuseUndecided(git, options)
  await refuseUnfinished(git)
  const autostash = stashes && !isBehind ? await createAutostash(git) : null
  const exitCode = await merge(git, await mergeRequest(git, options, fetched))
  if (autostash !== null) await applyAutostash(git, autostash)
  return exitCode
}

async function mergeRequest(git: Invocation, options: Arguments, fetched: FetchedHead): Promise<MergeRequest> {
  return {
    oid: fetched.oid,
    name: fetched.source.replace(/^refs\/(heads|tags)\//, ''),
    message: `Merge ${fetched.described}${await intoBranch(git)}\n`,
    fastForward: await fastForwardMode(git, options),
    ...(await mergeWishes(git, options)),
  }
}

async function fastForwardMode(git: Invocation, options: Arguments): Promise<'only' | 'never' | 'allowed'> {
  if (options.has('ff-only') || (await git.setting('pull.ff')) === 'only') return 'only'
  return options.has('no-ff') ? 'never' : 'allowed'
}

async function refuseOpenMerge(git: Invocation): Promise<void> {
  if ((await git.repo().refs.resolve('MERGE_HEAD')) === null) return
  throw fatal('You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.')
}

async function wantsRebase(git: Invocation, options: Arguments): Promise<boolean> {
  if (options.latest('rebase', 'no-rebase') === 'no-rebase') return false
  const wanted = options.has('rebase') ? (options.value('rebase') ?? 'true') : await git.setting('pull.rebase')
  if (wanted === null || wanted === '') return options.has('rebase')
  if (!/^(true|false|yes|no|on|off|0|1)$/.test(wanted))
    throw fatal(`pull with --rebase=${wanted} is not available here`)
  return isTrue(wanted)
}

function rebaseArguments(options: Arguments): string[] {
  const strategy = options.has('strategy') ? [`--strategy=${options.value('strategy')}`] : []
  const chosen = options.all('strategy-option').map((option) => `--strategy-option=${option}`)
  return [...(options.has('quiet') ? ['--quiet'] : []), ...strategy, ...chosen]
}

function fetchArguments(options: Arguments): string[] {
  const flags = ['quiet', 'verbose', 'prune', 'tags', 'no-tags', 'unshallow', 'force']
    .filter((name) => options.has(name))
    .map((name) => `--${name}`)
  return options.has('depth') ? [...flags, `--depth=${options.value('depth')}`] : flags
}

function notFetched(ref: string): GitFailure {
  const words = `Your configuration specifies to merge with the ref '${ref}'\nfrom the remote, but no such ref was fetched.`
  return new GitFailure(words, 1)
}

function noUpstream(branch: string | null, remotes: readonly string[]): GitFailure {
  const remote = remotes.length === 1 ? remotes[0] : '<remote>'
  if (branch === null)
    return new GitFailure(
      'You are not currently on a branch.\nPlease specify which branch you want to merge with.\nSee git-pull(1) for details.\n\n    git pull <remote> <branch>\n',
      1,
    )
  return new GitFailure(
    'There is no tracking information for the current branch.\nPlease specify which branch you want to merge with.\nSee git-pull(1) for details.\n\n' +
      `    git pull <remote> <branch>\n\nIf you wish to set tracking information for this branch you can do so with:\n\n` +
      `    git branch --set-upstream-to=${remote}/<branch> ${branch}\n`,
    1,
  )
}

/** If both sides have their own commits, the user must choose how to combine them. */
async function refuseUndecided(git: Invocation, options: Arguments): Promise<void> {
  if (['no-rebase', 'ff-only', 'no-ff', 'ff', 'rebase'].some((name) => options.has(name))) return
  const [rebase, ff] = [await git.setting('pull.rebase'), await git.setting('pull.ff')]
  if (rebase !== null || ff !== null) return
  throw new GitFailure(DIVERGENT, 128)
}

const DIVERGENT = `hint: You have divergent branches and need to specify how to reconcile them.
hint: You can do so by running one of the following commands sometime before
hint: your next pull:
hint: 
hint:   git config pull.rebase false  # merge
hint:   git config pull.rebase true   # rebase
hint:   git config pull.ff only       # fast-forward only
hint: 
hint: You can replace "git config" with "git config --global" to set a default
hint: preference for all repositories. You can also pass --rebase, --no-rebase,
hint: or --ff-only on the command line to override the configured default per
hint: invocation.
fatal: Need to specify how to reconcile divergent branches.`
