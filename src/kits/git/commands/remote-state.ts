// The state of a remote, compared with the local data: `git remote show`, `update`, `prune` and `set-head`.

import type { Advertisement } from '../advertisement.ts'
import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import { staleRefs } from '../fetching.ts'
import type { Invocation } from '../invocation.ts'
import { goalOf, parseRefspec, type Refspec } from '../refspecs.ts'
import { isForward, openTransport } from '../transfers.ts'

async function known(
  git: Invocation,
  name: string,
): Promise<{ url: string; specs: Refspec[]; advertisement: Advertisement }> {
  const config = await git.repo().config()
  const url = config.get(`remote.${name}.url`) ?? name
  const specs = config.getAll(`remote.${name}.fetch`).map(parseRefspec)
  return { url, specs, advertisement: await openTransport(git.transfers(), url).advertised('git-upload-pack') }
}

export async function showRemote(git: Invocation, args: readonly string[]): Promise<number> {
  const options = parseArguments('remote show', [], args)
  for (const name of options.rest) git.out(await shownRemote(git, name))
  return 0
}

async function shownRemote(git: Invocation, name: string): Promise<string> {
  const { url, specs, advertisement } = await known(git, name)
  const config = await git.repo().config()
  const pushUrls = config.getAll(`remote.${name}.pushurl`)
  const head = advertisement.head?.replace(/^refs\/heads\//, '') ?? '(unknown)'
  const lines = [`* remote ${name}`, `  Fetch URL: ${url}`]
  for (const pushUrl of pushUrls.length > 0 ? pushUrls : [url]) lines.push(`  Push  URL: ${pushUrl}`)
  lines.push(`  HEAD branch: ${advertisement.refs.has('HEAD') ? head : '(unknown)'}`)
  lines.push(...(await branchSection(git, { specs, advertisement, name })))
  lines.push(...(await pullSection(git, name)))
  lines.push(...(await pushSection(git, advertisement)))
  return `${lines.join('\n')}\n`
}

type RemoteRefs = { specs: readonly Refspec[]; advertisement: Advertisement; name: string }

async function branchSection(git: Invocation, { specs, advertisement, name }: RemoteRefs): Promise<string[]> {
  const { refs } = git.repo()
  const rows: [string, string][] = []
  for (const ref of advertisement.refs.keys()) {
    if (!ref.startsWith('refs/heads/')) continue
    const goal = specs.flatMap((spec) => goalOf(spec, ref) ?? [])[0]
    if (goal === undefined) continue
    const isThere = (await refs.resolve(goal)) !== null
    const state = isThere ? 'tracked' : `new (next fetch will store in remotes/${name})`
    rows.push([ref.replace('refs/heads/', ''), state])
  }
  for (const ref of await staleRefs(git, specs, advertisement))
    rows.push([ref, "stale (use 'git remote prune' to remove)"])
  rows.sort(([a], [b]) => (a < b ? -1 : 1))
  return table(rows, 'Remote branch', '')
}

/** One line for each row, below a title in singular or plural. */
function table(rows: readonly [string, string][], title: string, end: string): string[] {
  if (rows.length === 0) return []
  const width = Math.max(...rows.map(([first]) => first.length))
  const plural = rows.length > 1 ? (title.endsWith('h') ? 'es' : 's') : ''
  return [`  ${title}${plural}${end}:`, ...rows.map(([first, second]) => `    ${first.padEnd(width)} ${second}`)]
}

async function pullSection(git: Invocation, name: string): Promise<string[]> {
  const config = await git.repo().config()
  const rows: [string, string][] = []
  for (const ref of (await git.repo().refs.list('refs/heads/')).keys()) {
    const branch = ref.replace('refs/heads/', '')
    const merge = config.get(`branch.${branch}.merge`)
    if (config.get(`branch.${branch}.remote`) !== name || merge === null) continue
    const isRebased = /^(true|yes|on|1|interactive|merges)$/.test(config.get(`branch.${branch}.rebase`) ?? '')
    const goal = merge.replace('refs/heads/', '')
    rows.push([branch, isRebased ? `rebases onto remote ${goal}` : `merges with remote ${goal}`])
  }
  const lines = table(rows, 'Local branch', " configured for 'git pull'")
  const isMixed = rows.some(([, what]) => what.startsWith('rebases'))
  return isMixed ? lines.map((line) => line.replace(/ (merges with)/, '  $1')) : lines
}

async function pushSection(git: Invocation, { refs }: Advertisement): Promise<string[]> {
  const repo = git.repo()
  const rows: [string, string][] = []
  for (const [ref, oid] of await repo.refs.list('refs/heads/')) {
    const there = refs.get(ref)
    if (there === undefined) continue
    const state =
      there === oid ? 'up to date' : (await isForward(repo, there, oid)) ? 'fast-forwardable' : 'local out of date'
    rows.push([ref.replace('refs/heads/', ''), state])
  }
  if (rows.length === 0) return []
  const width = Math.max(...rows.map(([name]) => name.length))
  const title = `  Local ref${rows.length > 1 ? 's' : ''} configured for 'git push':`
  return [title, ...rows.map(([name, state]) => `    ${name.padEnd(width)} pushes to ${name.padEnd(width)} (${state})`)]
}

/** Removes the tracking refs of branches that the remote no longer has. */
export async function pruneRemote(git: Invocation, args: readonly string[]): Promise<number> {
  const options = parseArguments('remote prune', ['dry-run|n'], args)
  for (const name of options.rest) {
    const { url, specs, advertisement } = await known(git, name)
    const stale = await staleRefs(git, specs, advertisement)
    if (stale.length > 0) git.line(`Pruning ${name}\nURL: ${url}`)
    for (const ref of stale) {
      if (!options.has('dry-run'))
        await git.repo().refs.change(ref, { oid: null, by: await git.signature('committer'), message: '' })
      const short = ref.replace(/^refs\/(remotes|heads|tags)\//, '')
      git.line(` * [${options.has('dry-run') ? 'would prune' : 'pruned'}] ${short}`)
    }
  }
  return 0
}

/** Sets the remote's branch that the remote's name alone refers to. */
export async function setRemoteHead(git: Invocation, args: readonly string[]): Promise<number> {
  const options = parseArguments('remote set-head', ['auto|a', 'delete|d'], args)
  const [name, given] = options.rest
  if (name === undefined)
    throw new GitFailure('usage: git remote set-head <name> (-a | --auto | -d | --delete | <branch>)', 129)
  const { refs, gitDir } = git.repo()
  const ref = `refs/remotes/${name}/HEAD`
  if (options.has('delete')) {
    if ((await refs.symbolicTarget(ref)) !== null) git.fs.remove(`${gitDir}/${ref}`)
    return 0
  }
  const branch = options.has('auto') ? (await known(git, name)).advertisement.head?.replace('refs/heads/', '') : given
  if (branch === undefined) throw new GitFailure('error: Cannot determine remote HEAD', 1)
  if ((await refs.resolve(`refs/remotes/${name}/${branch}`)) === null)
    throw new GitFailure(`error: Not a valid ref: refs/remotes/${name}/${branch}`, 1)
  await refs.setSymbolic(ref, `refs/remotes/${name}/${branch}`)
  if (options.has('auto')) git.line(`${name}/HEAD set to ${branch}`)
  return 0
}

/** Sets the remote's branches that a fetch gets. */
export async function setRemoteBranches(git: Invocation, args: readonly string[]): Promise<number> {
  const options = parseArguments('remote set-branches', ['add'], args)
  const [name, ...branches] = options.rest
  const config = await git.repo().config()
  if (name === undefined || config.get(`remote.${name}.url`) === null)
    throw new GitFailure(`error: No such remote '${name ?? ''}'`, 2)
  if (branches.length === 0 && !options.has('add')) throw fatal('no branches were named')
  if (!options.has('add')) config.unset(`remote.${name}.fetch`)
  for (const branch of branches)
    config.set(`remote.${name}.fetch`, `+refs/heads/${branch}:refs/remotes/${name}/${branch}`, { add: true })
  await git.repo().saveConfig(config)
  return 0
}
