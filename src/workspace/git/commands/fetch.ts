import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { isTrue } from '../config-file.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { merge } from '../merging.ts'
import { isRefName } from '../refs.ts'
import { parseAddress } from '../remote-address.ts'
import { abbreviate, upstreamOf } from '../revisions.ts'
import { assertComplete, fetchFrom, listRemoteRefs } from '../transfers.ts'
import { intoBranch } from './merge.ts'
import { addressOf, remoteNames, usualRemote } from './remote.ts'

const FETCH_OPTIONS = [
  'all',
  'prune|p',
  'tags|t',
  'no-tags',
  'depth=',
  'unshallow',
  'quiet|q',
  'verbose|v',
  'force|f',
  'progress',
  'no-progress',
  'deepen=',
  'update-head-ok',
]
/** As many commits as there are. */
const EVERYTHING = 0x7fffffff

export async function fetchCommand(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('fetch', FETCH_OPTIONS, args)
  const [given, ...specs] = options.rest
  if (options.has('all')) {
    for (const name of await remoteNames(git)) await fetchRemote(git, { options, given: name, specs: [] })
    return 0
  }
  await fetchRemote(git, { options, given: given ?? (await defaultRemote(git)), specs })
  return 0
}

async function defaultRemote(git: Invocation): Promise<string> {
  const { ref } = await git.repo().refs.head()
  const upstream = ref === null ? null : await upstreamOf(git.repo(), ref.replace(/^refs\/heads\//, ''))
  return upstream && upstream.remote !== '.' ? upstream.remote : usualRemote(git)
}

type Wish = { options: Arguments; given: string; specs: string[] }

/** What was fetched, in the order of the wishes: `FETCH_HEAD`. */
interface FetchedHead {
  oid: string
  branch: string
  url: string
}

async function fetchRemote(git: Invocation, { options, given, specs }: Wish): Promise<FetchedHead[]> {
  const repo = git.repo()
  const { remote, url } = await addressOf(git, given, 'fetch')
  const before = await repo.refs.list('refs/')
  const wanted = specs.length > 0 ? specs : await configuredBranches(git, remote)
  const depth = options.has('unshallow') ? EVERYTHING : options.has('depth') ? Number(options.value('depth')) : null
  if (depth !== null && !(depth >= 1)) throw fatal(`depth ${options.value('depth')} is not a positive number`)
  const heads: FetchedHead[] = []
  const shown = parseAddress(url).url
  for (const spec of wanted) {
    const [source = '', goal] = spec.replace(/^\+/, '').split(':')
    const ref = source === '*' ? null : source.replace(/^refs\/heads\//, '')
    const { oid, pruned, isBranch } = await fetchFrom(repo, {
      remotes: git.remotes,
      signal: git.signal,
      remote: remote === '' ? 'FETCHED' : remote,
      url,
      ref,
      depth,
      tags: options.has('tags'),
      prune: options.has('prune') && ref === null,
    })
    if (oid === null) continue
    await assertComplete(repo, oid)
    // A clone of one branch knows one branch; what was asked for by name is kept as well, to be checked out.
    if (remote !== '' && ref !== null && ref !== 'HEAD' && isBranch)
      await noteBranch(git, `refs/remotes/${remote}/${ref}`, oid)
    heads.push({ oid, branch: ref ?? 'HEAD', url: shown })
    if (goal) await updateLocal(git, { goal, oid, force: spec.startsWith('+') || options.has('force') })
    for (const name of pruned) git.err(` - [deleted]         (none)     -> ${remote}/${name.split('/').at(-1)}`)
  }
  if (remote === '') await forget(git, 'refs/remotes/FETCHED/')
  await noteHeads(git, heads)
  if (!options.has('quiet')) await report(git, { before, url: shown, remote })
  return heads
}

/** The branches that the configuration names for the remote; `*` for all. */
async function configuredBranches(git: Invocation, remote: string): Promise<string[]> {
  const specs = (await git.repo().config()).getAll(`remote.${remote}.fetch`)
  const branches = specs.map((spec) => /^\+?refs\/heads\/([^:]+):/.exec(spec)?.[1]).filter((name) => name !== undefined)
  if (remote === '') return ['HEAD']
  return branches.length === 0 || branches.includes('*') ? ['*'] : branches
}

async function updateLocal(
  git: Invocation,
  { goal, oid, force }: { goal: string; oid: string; force: boolean },
): Promise<void> {
  const repo = git.repo()
  const ref = goal.startsWith('refs/') ? goal : `refs/heads/${goal}`
  if (!isRefName(ref)) throw fatal(`invalid refspec '${goal}'`)
  const before = await repo.refs.resolve(ref)
  if ((await repo.refs.head()).ref === ref)
    throw fatal(`refusing to fetch into branch '${ref}' checked out at '${repo.root}'`)
  if (before !== null && !force && !(await isAncestor(repo, before, oid)))
    throw new GitFailure(` ! [rejected]        ${goal} (non-fast-forward)`, 1)
  if (before !== oid) await repo.refs.change(ref, { oid, by: await git.signature('committer'), message: 'fetch' })
}

async function noteBranch(git: Invocation, ref: string, oid: string): Promise<void> {
  const { refs } = git.repo()
  if ((await refs.resolve(ref)) !== oid)
    await refs.change(ref, { oid, by: await git.signature('committer'), message: 'fetch' })
}

async function forget(git: Invocation, prefix: string): Promise<void> {
  const by = await git.signature('committer')
  const { refs } = git.repo()
  for (const name of (await refs.list(prefix)).keys()) await refs.change(name, { oid: null, by, message: '' })
}

async function noteHeads(git: Invocation, heads: readonly FetchedHead[]): Promise<void> {
  const lines = heads.map(
    ({ oid, branch, url }) => `${oid}\t\t${branch === 'HEAD' ? '' : `branch '${branch}' of `}${url}\n`,
  )
  await git.fs.write(`${git.repo().gitDir}/FETCH_HEAD`, utf8(lines.join('')))
}

type Before = { before: ReadonlyMap<string, string>; url: string; remote: string }

async function report(git: Invocation, { before, url, remote }: Before): Promise<void> {
  const repo = git.repo()
  const lines: string[] = []
  for (const [name, oid] of await repo.refs.list('refs/')) {
    const old = before.get(name)
    const isTag = name.startsWith('refs/tags/')
    if (old === oid || name.endsWith('/HEAD') || (!isTag && !name.startsWith(`refs/remotes/${remote}/`))) continue
    const short = name.replace(isTag ? 'refs/tags/' : `refs/remotes/${remote}/`, '')
    const goal = isTag ? short : `${remote}/${short}`
    if (old === undefined)
      lines.push(` * ${(isTag ? '[new tag]' : '[new branch]').padEnd(17)} ${short.padEnd(10)} -> ${goal}`)
    else {
      const isForward = await isAncestor(repo, old, oid).catch(() => false)
      const ids = `${await abbreviate(repo, old)}${isForward ? '..' : '...'}${await abbreviate(repo, oid)}`
      lines.push(
        ` ${isForward ? ' ' : '+'} ${ids.padEnd(17)} ${short.padEnd(10)} -> ${goal}${isForward ? '' : '  (forced update)'}`,
      )
    }
  }
  if (lines.length > 0) git.err([`From ${url}`, ...lines].join('\n'))
}

const PULL_OPTIONS = [
  'ff-only',
  'no-rebase',
  'no-ff',
  'ff',
  'quiet|q',
  'no-edit',
  'edit|e',
  'verbose|v',
  'prune|p',
  'tags|t',
  'depth=',
  'unshallow',
  'all',
  'allow-unrelated-histories',
  'no-commit',
  'squash',
  'force|f',
  'autostash',
  'progress',
  'no-tags',
  'rebase|r?',
  'stat',
  'no-stat',
]

export async function pull(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('pull', PULL_OPTIONS, args)
  const repo = git.repo()
  if (options.has('rebase') && options.value('rebase') !== 'false')
    throw new GitFailure('git pull: rebasing is not available here; merge with git pull --no-rebase', 1)
  if ((await repo.refs.resolve('MERGE_HEAD')) !== null)
    throw fatal('You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.')
  const head = await repo.refs.head()
  const branch = head.ref?.replace(/^refs\/heads\//, '') ?? null
  const [given, spec] = options.rest
  const upstream = branch === null ? null : await upstreamOf(repo, branch)
  const remote = given ?? (upstream?.remote !== '.' ? upstream?.remote : undefined) ?? (await usualRemote(git))
  const wanted = spec ?? (upstream && upstream.remote === remote ? upstream.branch.replace(/^refs\/heads\//, '') : null)
  if (wanted === null && (given === undefined || (await remoteNames(git)).includes(given)))
    throw noUpstream(branch, await remoteNames(git))
  const fetching = parseArguments('fetch', FETCH_OPTIONS, fetchArguments(options))
  const [fetched] = await fetchRemote(git, { options: fetching, given: remote, specs: [wanted ?? 'HEAD'] })
  if (!fetched) throw fatal("couldn't find remote ref HEAD")
  const isForward = head.oid === null || (await isAncestor(repo, head.oid, fetched.oid))
  const isBehind = head.oid !== null && (await isAncestor(repo, fetched.oid, head.oid))
  if (!isForward && !isBehind) await refuseUndecided(git, options)
  return merge(git, {
    oid: fetched.oid,
    name: wanted ?? 'HEAD',
    message: `Merge ${wanted === null ? '' : `branch '${wanted}' of `}${fetched.url}${await intoBranch(git)}\n`,
    fastForward:
      options.has('ff-only') || (await git.setting('pull.ff')) === 'only'
        ? 'only'
        : options.has('no-ff')
          ? 'never'
          : 'allowed',
    commits: !options.has('no-commit'),
    squash: options.has('squash'),
    quiet: options.has('quiet'),
    showsStat: !options.has('no-stat'),
    unrelated: options.has('allow-unrelated-histories'),
  })
}

function fetchArguments(options: Arguments): string[] {
  const flags = ['quiet', 'prune', 'tags', 'unshallow', 'force']
    .filter((name) => options.has(name))
    .map((name) => `--${name}`)
  return options.has('depth') ? [...flags, `--depth=${options.value('depth')}`] : flags
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

/** Both sides have commits of their own: which way to go is the user's to say. */
async function refuseUndecided(git: Invocation, options: Arguments): Promise<void> {
  if (['no-rebase', 'ff-only', 'no-ff', 'ff', 'rebase', 'squash'].some((name) => options.has(name))) return
  const [rebase, ff] = [await git.setting('pull.rebase'), await git.setting('pull.ff')]
  if (rebase !== null && isTrue(rebase))
    throw new GitFailure('git pull: rebasing is not available here; merge with git pull --no-rebase', 1)
  if (rebase !== null || ff !== null) return
  throw new GitFailure(
    'hint: You have divergent branches and need to specify how to reconcile them.\nhint: You can do so by running one of the following commands sometime before\n' +
      'hint: your next pull:\nhint: \nhint:   git config pull.rebase false  # merge\nhint:   git config pull.ff only       # fast-forward only\n' +
      'fatal: Need to specify how to reconcile divergent branches.',
    128,
  )
}

export async function lsRemote(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('ls-remote', ['heads|h', 'tags|t', 'quiet|q', 'exit-code', 'refs', 'get-url'], args)
  const [given, ...patterns] = options.rest
  const url =
    given !== undefined && /:\/\//.test(given)
      ? given
      : (await addressOf(git, given ?? (await defaultRemote(git)), 'fetch')).url
  let found = 0
  for (const { ref, oid } of await listRemoteRefs({ remotes: git.remotes, signal: git.signal, url, fs: git.fs })) {
    if (
      (options.has('heads') && !ref.startsWith('refs/heads/')) ||
      (options.has('tags') && !ref.startsWith('refs/tags/'))
    )
      continue
    if (patterns.length > 0 && !patterns.some((pattern) => ref === pattern || ref.endsWith(`/${pattern}`))) continue
    found++
    git.line(`${oid}\t${ref}`)
  }
  return options.has('exit-code') && found === 0 ? 2 : 0
}
