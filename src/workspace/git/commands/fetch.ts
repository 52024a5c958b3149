import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { isRefName } from '../refs.ts'
import { parseAddress } from '../remote-address.ts'
import { abbreviate, upstreamOf } from '../revisions.ts'
import { fetchFrom, isForward, listRemoteRefs, type TagWish } from '../transfers.ts'
import { EVERYTHING } from '../upload-pack.ts'
import { addressOf, remoteNames, usualRemote } from './remote.ts'

export const FETCH_OPTIONS = [
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

export async function fetchRemote(git: Invocation, { options, given, specs }: Wish): Promise<FetchedHead[]> {
  const repo = git.repo()
  const { remote, url } = await addressOf(git, given, 'fetch')
  const before = await repo.refs.list('refs/')
  const configured = specs.length > 0 ? specs : await configuredBranches(git, remote)
  const wanted = configured.map(parsedSpec)
  const force = options.has('force')
  const { found, pruned, keptTags } = await fetchFrom(repo, {
    remotes: git.remotes,
    signal: git.signal,
    remote,
    url,
    names: configured.includes('*') ? null : wanted.map(({ source }) => source),
    depth: await depthFor(git, options),
    tags: await tagsFor(git, options, remote),
    prune: options.has('prune'),
    force,
    by: await git.signature('committer'),
  })
  const shown = parseAddress(url).url
  const heads: FetchedHead[] = []
  for (const [i, { ref, oid }] of found.entries()) {
    const spec = wanted[i]
    const branch = ref?.replace(/^refs\/(heads|tags)\//, '') ?? 'HEAD'
    heads.push({ oid, branch: spec?.source === 'HEAD' ? 'HEAD' : branch, url: shown })
    if (spec?.goal) await updateLocal(git, { goal: spec.goal, oid, force: spec.force || force })
  }
  await noteHeads(git, heads)
  if (!options.has('quiet')) await report(git, { before, url: shown, remote, pruned, keptTags })
  if (keptTags.length > 0) throw new GitFailure('', 1)
  return heads
}

function parsedSpec(spec: string): { source: string; goal: string | undefined; force: boolean } {
  const [source = '', goal] = spec.replace(/^\+/, '').split(':')
  return { source: source === '' ? 'HEAD' : source, goal, force: spec.startsWith('+') }
}

/** Null for whatever is there already and what follows. */
async function depthFor(git: Invocation, options: Arguments): Promise<number | null> {
  const isShallow = (await git.repo().shallow()).size > 0
  if (options.has('unshallow')) {
    if (!isShallow) throw fatal("--unshallow on a complete repository doesn't make sense")
    return EVERYTHING
  }
  const given = options.value('depth')
  if (given === null) return null
  if (!/^[1-9]\d*$/.test(given)) throw fatal(`depth ${given} is not a positive number`)
  return Number(given)
}

async function tagsFor(git: Invocation, options: Arguments, remote: string): Promise<TagWish> {
  if (options.has('tags')) return 'all'
  const isOff = options.has('no-tags') || (await git.setting(`remote.${remote}.tagOpt`)) === '--no-tags'
  return isOff || remote === '' ? 'none' : 'followed'
}

/** The branches that the configuration names for the remote; `*` for all. */
async function configuredBranches(git: Invocation, remote: string): Promise<string[]> {
  const specs = (await git.repo().config()).getAll(`remote.${remote}.fetch`)
  const branches = specs.map((spec) => /^\+?refs\/heads\/([^:]+):/.exec(spec)?.[1]).filter((name) => name !== undefined)
  if (remote === '') return ['HEAD']
  return branches.length === 0 || branches.includes('*') ? ['*'] : branches.map((name) => `refs/heads/${name}`)
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

async function noteHeads(git: Invocation, heads: readonly FetchedHead[]): Promise<void> {
  const lines = heads.map(
    ({ oid, branch, url }) => `${oid}\t\t${branch === 'HEAD' ? '' : `branch '${branch}' of `}${url}\n`,
  )
  await git.fs.write(`${git.repo().gitDir}/FETCH_HEAD`, utf8(lines.join('')))
}

type Before = {
  before: ReadonlyMap<string, string>
  url: string
  remote: string
  pruned: readonly string[]
  keptTags: readonly string[]
}

async function report(git: Invocation, { before, url, remote, pruned, keptTags }: Before): Promise<void> {
  const repo = git.repo()
  const lines = pruned.map((name) => ` - [deleted]         (none)     -> ${name.replace('refs/remotes/', '')}`)
  for (const [name, oid] of await repo.refs.list('refs/')) {
    const old = before.get(name)
    const isTag = name.startsWith('refs/tags/')
    if (old === oid || name.endsWith('/HEAD') || (!isTag && !name.startsWith(`refs/remotes/${remote}/`))) continue
    const short = name.replace(isTag ? 'refs/tags/' : `refs/remotes/${remote}/`, '')
    const goal = isTag ? short : `${remote}/${short}`
    if (old === undefined)
      lines.push(` * ${(isTag ? '[new tag]' : '[new branch]').padEnd(17)} ${short.padEnd(10)} -> ${goal}`)
    else {
      const isOnward = await isForward(repo, old, oid)
      const ids = `${await abbreviate(repo, old)}${isOnward ? '..' : '...'}${await abbreviate(repo, oid)}`
      lines.push(
        ` ${isOnward ? ' ' : '+'} ${ids.padEnd(17)} ${short.padEnd(10)} -> ${goal}${isOnward ? '' : '  (forced update)'}`,
      )
    }
  }
  for (const ref of keptTags) {
    const name = ref.replace('refs/tags/', '')
    lines.push(` ! ${'[rejected]'.padEnd(17)} ${name.padEnd(10)} -> ${name}  (would clobber existing tag)`)
  }
  if (lines.length > 0) git.err([`From ${url}`, ...lines].join('\n'))
}

export async function lsRemote(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('ls-remote', ['heads|h', 'tags|t', 'quiet|q', 'exit-code', 'refs', 'get-url'], args)
  const [given, ...patterns] = options.rest
  const url =
    given !== undefined && /:\/\//.test(given)
      ? given
      : (await addressOf(git, given ?? (await defaultRemote(git)), 'fetch')).url
  let found = 0
  for (const { ref, oid } of await listRemoteRefs({ remotes: git.remotes, signal: git.signal, url })) {
    if (
      (options.has('heads') && !ref.startsWith('refs/heads/')) ||
      (options.has('tags') && !ref.startsWith('refs/tags/')) ||
      (options.has('refs') && ref.endsWith('^{}'))
    )
      continue
    if (patterns.length > 0 && !patterns.some((pattern) => ref === pattern || ref.endsWith(`/${pattern}`))) continue
    found++
    git.line(`${oid}\t${ref}`)
  }
  return options.has('exit-code') && found === 0 ? 2 : 0
}
