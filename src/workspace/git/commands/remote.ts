import { parseArguments } from '../arguments.ts'
import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { isRefName } from '../refs.ts'
import { parseAddress, withoutCredentials } from '../remote-address.ts'

export async function remote(git: Invocation, args: string[]): Promise<number> {
  const [action, ...rest] = args.filter((arg) => arg !== '-v' && arg !== '--verbose')
  switch (action) {
    case undefined:
      return list(git, args.length > 0)
    case 'add':
      return add(git, rest)
    case 'remove':
    case 'rm':
      return remove(git, rest[0])
    case 'rename':
      return rename(git, rest)
    case 'set-url':
      return setUrl(git, rest)
    case 'get-url':
      git.line(await urlOf(git, rest.find((arg) => !arg.startsWith('-')) ?? ''))
      return 0
    default:
      throw new GitFailure(`git remote ${action}: not available here`, 1)
  }
}

export async function remoteNames(git: Invocation): Promise<string[]> {
  const keys = (await git.repo().config()).settings.map(({ key }) => /^remote\.(.*)\.(?:url|fetch)$/.exec(key)?.[1])
  return [...new Set(keys.filter((name) => name !== undefined))].sort()
}

async function list(git: Invocation, isVerbose: boolean): Promise<number> {
  for (const name of await remoteNames(git)) {
    if (!isVerbose) git.line(name)
    else for (const use of ['fetch', 'push']) git.line(`${name}\t${await urlOf(git, name)} (${use})`)
  }
  return 0
}

async function urlOf(git: Invocation, name: string): Promise<string> {
  const url = (await git.repo().config()).get(`remote.${name}.url`)
  if (url === null) throw new GitFailure(`error: No such remote '${name}'`, 2)
  // It may have come with somebody's files: what is secret in it is not for showing.
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
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
  config.set(`remote.${name}.fetch`, `+refs/heads/*:refs/remotes/${name}/*`)
  await git.repo().saveConfig(config)
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

async function rename(git: Invocation, [from, to]: string[]): Promise<number> {
  const repo = git.repo()
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
  for (const [ref, oid] of await repo.refs.list(`refs/remotes/${from}/`)) {
    await repo.refs.change(ref, { oid: null, by, message: '' })
    await repo.refs.change(ref.replace(`refs/remotes/${from}/`, `refs/remotes/${to}/`), {
      oid,
      by,
      message: `remote: renamed ${from} to ${to}`,
    })
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
  await urlOf(git, name)
  const config = await git.repo().config()
  config.set(`remote.${name}.${options.has('push') ? 'pushurl' : 'url'}`, withoutCredentials(git, url), {
    add: options.has('add'),
  })
  await git.repo().saveConfig(config)
  return 0
}

/** The address behind a remote's name, or the address itself. */
export async function addressOf(
  git: Invocation,
  given: string,
  use: 'fetch' | 'push',
): Promise<{ remote: string; url: string }> {
  const config = await git.repo().config()
  const url = (use === 'push' ? config.get(`remote.${given}.pushurl`) : null) ?? config.get(`remote.${given}.url`)
  if (url !== null) return { remote: given, url }
  if (!given.includes('/') && !given.includes(':')) {
    throw new GitFailure(
      `fatal: '${given}' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\n` +
        'Please make sure you have the correct access rights\nand the repository exists.',
      128,
    )
  }
  parseAddress(given)
  return { remote: '', url: given }
}
