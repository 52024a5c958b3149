import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { isTrue } from '../config-file.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { PlannedRef } from '../fetch-plan.ts'
import { describedSource } from '../fetch-report.ts'
import { fetchOrdered } from '../fetching.ts'
import type { Invocation } from '../invocation.ts'
import { addressOf, remoteNames, usualRemote } from '../named-remotes.ts'
import { parseRefspec } from '../refspecs.ts'
import { shownAddress } from '../remote-address.ts'
import { upstreamOf } from '../revisions.ts'
import { listRemoteRefs } from '../transfers.ts'
import { EVERYTHING } from '../upload-pack.ts'

export const FETCH_OPTIONS = [
  'all',
  'multiple',
  'prune|p',
  'no-prune',
  'tags|t',
  'no-tags',
  'depth=',
  'unshallow',
  'quiet|q',
  'verbose|v',
  'force|f',
  'progress',
  'no-progress',
  'update-head-ok|u',
]

export async function fetchCommand(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('fetch', FETCH_OPTIONS, args)
  const [given, ...specs] = options.rest
  if (options.has('all') && given !== undefined) throw fatal('fetch --all does not take a repository argument')
  const action = ['fetch', ...args].join(' ')
  if (options.has('all') || options.has('multiple')) {
    const named = options.rest.length > 0 ? options.rest : [await defaultRemote(git)]
    const names = options.has('all') ? await remoteNames(git) : named
    for (const name of names) {
      if ((names.length > 1 || options.rest.length > 0) && !options.has('quiet')) git.line(`Fetching ${name}`)
      await fetchRemote(git, { options, given: name, specs: [], action })
    }
    return 0
  }
  await fetchRemote(git, { options, given: given ?? (await defaultRemote(git)), specs, action })
  return 0
}

async function defaultRemote(git: Invocation): Promise<string> {
  const { ref } = await git.repo().refs.head()
  const upstream = ref === null ? null : await upstreamOf(git.repo(), ref.replace(/^refs\/heads\//, ''))
  return upstream && upstream.remote !== '.' ? upstream.remote : usualRemote(git)
}

type Wish = { options: Arguments; given: string; specs: readonly string[]; action: string }

/** A fetched ref for merging, as described in the merge message. */
export interface FetchedHead {
  oid: string
  source: string
  described: string
}

export async function fetchRemote(git: Invocation, { options, given, specs, action }: Wish): Promise<FetchedHead[]> {
  const repo = git.repo()
  const { remote, url } = await addressOf(git, given, 'fetch')
  const configured = remote === '' ? [] : (await repo.config()).getAll(`remote.${remote}.fetch`).map(parseRefspec)
  const wanted = tagsNamed(specs).map(parseRefspec)
  const tagOption = remote === '' ? null : await git.setting(`remote.${remote}.tagOpt`)
  const allTags = options.has('tags') || (tagOption === '--tags' && !options.has('no-tags'))
  const isNoted = (wanted.length > 0 ? wanted : configured).some(({ goal }) => goal !== null)
  const found = await fetchOrdered(git, {
    wish: { given: wanted, configured, merged: await mergedFrom(git, remote), allTags },
    url,
    depth: await depthFor(git, options),
    followsTags: isNoted && !allTags && !options.has('no-tags') && tagOption !== '--no-tags',
    prunes: await isPruning(git, options, remote),
    force: options.has('force'),
    quiet: options.has('quiet'),
    verbose: options.has('verbose'),
    movesHead: options.has('update-head-ok'),
    action,
  })
  const shown = shownAddress(url)
  await noteHeads(git, found, shown)
  return found
    .filter(({ use }) => use === 'merge')
    .map((ref) => ({ oid: ref.oid, source: ref.source, described: `${describedSource(ref)}${shown}` }))
}

/** `tag <name>` is short for a refspec from the tag to itself. */
function tagsNamed(specs: readonly string[]): string[] {
  return specs.flatMap((spec, i) => {
    if (spec === 'tag' && specs[i + 1] !== undefined) return []
    return specs[i - 1] === 'tag' ? [`refs/tags/${spec}:refs/tags/${spec}`] : [spec]
  })
}

/** The upstream of the current branch, if it is at this remote. */
async function mergedFrom(git: Invocation, remote: string): Promise<string[]> {
  const { ref } = await git.repo().refs.head()
  const branch = ref?.replace(/^refs\/heads\//, '')
  const config = await git.repo().config()
  if (remote === '' || branch === undefined || config.get(`branch.${branch}.remote`) !== remote) return []
  return config.getAll(`branch.${branch}.merge`)
}

async function isPruning(git: Invocation, options: Arguments, remote: string): Promise<boolean> {
  if (options.has('prune') || options.has('no-prune')) return options.has('prune') && !options.has('no-prune')
  const own = remote === '' ? null : await git.setting(`remote.${remote}.prune`)
  return isTrue(own ?? (await git.setting('fetch.prune')))
}

/** Null for the existing history and everything new. */
async function depthFor(git: Invocation, options: Arguments): Promise<number | null> {
  const isShallow = (await git.repo().shallow()).size > 0
  if (options.has('unshallow')) {
    if (!isShallow) throw fatal('--unshallow on a complete repository does not make sense')
    return EVERYTHING
  }
  const given = options.value('depth')
  if (given === null) return null
  if (!/^[1-9]\d*$/.test(given)) throw fatal(`depth ${given} is not a positive number`)
  return Number(given)
}

async function noteHeads(git: Invocation, found: readonly PlannedRef[], url: string): Promise<void> {
  const lines = found.map(
    (ref) => `${ref.oid}\t${ref.use === 'merge' ? '' : 'not-for-merge'}\t${describedSource(ref)}${url}\n`,
  )
  await git.fs.write(`${git.repo().gitDir}/FETCH_HEAD`, utf8(lines.join('')))
}

export async function lsRemote(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('ls-remote', ['heads|h', 'tags|t', 'quiet|q', 'exit-code', 'refs', 'get-url'], args)
  // As the only argument it means help, like for every command.
  if (args.length === 1 && args[0] === '-h')
    throw new GitFailure(
      'usage: git ls-remote [--heads] [--tags] [--refs] [-q | --quiet] [<repository> [<refs>...]]',
      129,
    )
  const [given, ...patterns] = options.rest
  const url: string =
    given !== undefined && /:\/\//.test(given)
      ? given
      : (await addressOf(git, given ?? (await defaultRemote(git)), 'fetch')).url
  if (options.has('get-url')) {
    git.line(url)
    return 0
  }
  let found = 0
  for (const { ref, oid } of await listRemoteRefs({ ...git.transfers(), url })) {
    if (
      (options.has('heads') && !ref.startsWith('refs/heads/')) ||
      (options.has('tags') && !ref.startsWith('refs/tags/')) ||
      (options.has('refs') && (ref === 'HEAD' || ref.endsWith('^{}')))
    )
      continue
    if (patterns.length > 0 && !patterns.some((pattern) => ref === pattern || ref.endsWith(`/${pattern}`))) continue
    found++
    git.line(`${oid}\t${ref}`)
  }
  return options.has('exit-code') && found === 0 ? 2 : 0
}
