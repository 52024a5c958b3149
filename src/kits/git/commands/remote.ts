import { parseArguments, unknownWord } from '../arguments.ts'
import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { remoteNames, urlsOf } from '../named-remotes.ts'
import { isRefName } from '../ref-names.ts'
import { withoutCredentials } from '../remote-address.ts'
import { fetchCommand } from './fetch.ts'
import { pruneRemote, setRemoteBranches, setRemoteHead, showRemote } from './remote-state.ts'

const USAGE =
  'usage: git remote [-v | add | rename | remove | set-head | show | prune | update | set-branches | get-url | set-url]'

export async function remote(git: Invocation, args: string[]): Promise<number> {
  const [action, ...rest] = args.filter((arg) => arg !== '-v' && arg !== '--verbose')
  switch (action) {
    case undefined:
      return list(git, args.length > 0)
    case 'show':
      return rest.length > 0 ? showRemote(git, rest) : list(git, false)
    case 'update':
      return fetchCommand(
        git,
        rest.some((word) => !word.startsWith('-')) ? ['--multiple', ...rest] : ['--all', ...rest],
      )
    case 'prune':
      return pruneRemote(git, rest)
    case 'set-head':
      return setRemoteHead(git, rest)
    case 'set-branches':
      return setRemoteBranches(git, rest)
    case 'add':
      return add(git, rest)
    case 'remove':
    case 'rm':
      return remove(git, parseArguments('remote remove', [], rest).rest[0])
    case 'rename':
      return rename(git, rest)
    case 'set-url':
      return setUrl(git, rest)
    case 'get-url':
      return getUrl(git, rest)
    default:
      throw unknownWord(action, USAGE)
  }
}

async function list(git: Invocation, isVerbose: boolean): Promise<number> {
  for (const name of await remoteNames(git)) {
    if (!isVerbose) {
      git.line(name)
      continue
    }
    git.line(`${name}\t${(await urlsOf(git, name, 'fetch'))[0]} (fetch)`)
    for (const url of await urlsOf(git, name, 'push')) git.line(`${name}\t${url} (push)`)
  }
  return 0
}

async function getUrl(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('remote get-url', ['push', 'all'], args)
  const urls = await urlsOf(git, options.rest[0] ?? '', options.has('push') ? 'push' : 'fetch')
  for (const url of options.has('all') ? urls : urls.slice(0, 1)) git.line(url)
  return 0
}

async function add(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('remote add', ['track|t=', 'master|m=', 'tags', 'no-tags'], args)
  const [name, url] = options.rest
  if (name === undefined || url === undefined)
    throw new GitFailure('usage: git remote add [<options>] <name> <url>', 129)
  if (!isRefName(`refs/remotes/${name}`) || name.includes('/'))
    throw new GitFailure(`fatal: '${name}' is not a valid remote name`, 128)
  const config = await git.repo().config()
  if ((await remoteNames(git)).includes(name)) throw new GitFailure(`error: remote ${name} already exists.`, 3)
  config.set(`remote.${name}.url`, withoutCredentials(git, url))
  const tracked = options.has('track') ? options.all('track') : ['*']
  for (const branch of tracked)
    config.set(`remote.${name}.fetch`, `+refs/heads/${branch}:refs/remotes/${name}/${branch}`, { add: true })
  const tags = options.has('tags') ? '--tags' : options.has('no-tags') ? '--no-tags' : null
  if (tags !== null) config.set(`remote.${name}.tagopt`, tags)
  await git.repo().saveConfig(config)
  if (options.has('master'))
    await git.repo().refs.setSymbolic(`refs/remotes/${name}/HEAD`, `refs/remotes/${name}/${options.value('master')}`)
  return 0
}

async function remove(git: Invocation, name: string | undefined): Promise<number> {
  const repo = git.repo()
  if (name === undefined || !(await remoteNames(git)).includes(name))
    throw new GitFailure(`error: No such remote: '${name ?? ''}'`, 2)
  const config = await repo.config()
  config.removeSection(`remote.${name}`)
  for (const { key, value } of config.settings) {
    const branch = /^branch\.(.*)\.remote$/.exec(key)?.[1]
    if (branch === undefined || value !== name) continue
    config.unset(`branch.${branch}.remote`)
    config.unset(`branch.${branch}.merge`)
  }
  await repo.saveConfig(config)
  const by = await git.signature('committer')
  if ((await repo.refs.symbolicTarget(`refs/remotes/${name}/HEAD`)) !== null)
    await repo.refs.change(`refs/remotes/${name}/HEAD`, { oid: null, by, message: '' })
  for (const ref of (await repo.refs.list(`refs/remotes/${name}/`)).keys())
    await repo.refs.change(ref, { oid: null, by, message: '' })
  return 0
}

async function rename(git: Invocation, args: string[]): Promise<number> {
  const repo = git.repo()
  const [from, to] = parseArguments('remote rename', ['progress', 'no-progress'], args).rest
  if (from === undefined || to === undefined) throw new GitFailure('usage: git remote rename <old> <new>', 129)
  const names = await remoteNames(git)
  if (!names.includes(from)) throw new GitFailure(`error: No such remote: '${from}'`, 2)
  if (names.includes(to)) throw new GitFailure(`error: remote ${to} already exists.`, 3)
  if (!isRefName(`refs/remotes/${to}`)) throw new GitFailure(`fatal: '${to}' is not a valid remote name`, 128)
  const config = await repo.config()
  const specs = config.getAll(`remote.${from}.fetch`)
  config.renameSection(`remote.${from}`, `remote.${to}`)
  config.unset(`remote.${to}.fetch`)
  for (const spec of specs)
    config.set(`remote.${to}.fetch`, spec.replace(`refs/remotes/${from}/`, `refs/remotes/${to}/`), { add: true })
  for (const { key, value } of config.settings)
    if (/^branch\..*\.remote$/.test(key) && value === from) config.set(key, to)
  await repo.saveConfig(config)
  const by = await git.signature('committer')
  const head = await repo.refs.symbolicTarget(`refs/remotes/${from}/HEAD`)
  if (head !== null) await repo.refs.change(`refs/remotes/${from}/HEAD`, { oid: null, by, message: '' })
  for (const ref of (await repo.refs.list(`refs/remotes/${from}/`)).keys()) {
    const renamed = ref.replace(`refs/remotes/${from}/`, `refs/remotes/${to}/`)
    await repo.refs.rename(ref, renamed, { by, message: `remote: renamed ${ref} to ${renamed}` })
  }
  if (head !== null)
    await repo.refs.setSymbolic(`refs/remotes/${to}/HEAD`, head.replace(`refs/remotes/${from}/`, `refs/remotes/${to}/`))
  return 0
}

async function setUrl(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('remote set-url', ['push', 'add'], args)
  const [name, url] = options.rest
  if (name === undefined || url === undefined)
    throw new GitFailure('usage: git remote set-url [--push] <name> <newurl>', 129)
  await urlsOf(git, name, 'fetch')
  const config = await git.repo().config()
  config.set(`remote.${name}.${options.has('push') ? 'pushurl' : 'url'}`, withoutCredentials(git, url), {
    add: options.has('add'),
  })
  await git.repo().saveConfig(config)
  return 0
}
