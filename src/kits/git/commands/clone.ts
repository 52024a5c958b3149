import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { cloneInto } from '../cloning.ts'
import { isKey } from '../config-file.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { localRepository } from '../local-transport.ts'
import { folderNameOf, localPath, parseAddress, withoutCredentials } from '../remote-address.ts'
import type { Credential } from '../remotes.ts'
import { detachedAdvice } from '../switching.ts'

const OPTIONS = [
  'depth=',
  'branch|b=',
  'single-branch',
  'no-single-branch',
  'no-tags',
  'origin|o=',
  'quiet|q',
  'no-checkout|n',
  'verbose|v',
  'progress',
  'recurse-submodules|recursive?',
  'shallow-submodules',
  'config|c=',
  'local|l',
  'no-local',
  'no-hardlinks',
  'tags',
  'bare',
  'mirror',
]

export async function clone(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('clone', OPTIONS, args)
  const [given, folder, ...more] = options.rest
  if (more.length > 0) throw fatal('Too many arguments.')
  if (given === undefined) throw fatal('You must specify a repository to clone.')
  const { url, credential, isPath } = sourceOf(git, given)
  const layout = options.has('mirror') ? 'mirror' : options.has('bare') ? 'bare' : 'worktree'
  if (layout !== 'worktree' && options.has('no-checkout')) options.assertOne('bare', 'no-checkout')
  const name = folder?.replace(/(?<=.)\/+$/, '') ?? `${folderNameOf(url)}${layout === 'worktree' ? '' : '.git'}`
  const depth = depthOf(options.value('depth'))
  refuseOccupied(git, name)
  const settings = settingsOf(options)
  if (!options.has('quiet')) git.err(`Cloning into ${layout === 'worktree' ? '' : 'bare repository '}'${name}'...`)
  if (isPath && depth !== null) git.err('warning: --depth is ignored in local clones; use file:// instead.')
  const { repo, oid } = await cloneInto({
    fs: git.fs,
    url,
    credential,
    root: git.resolve(name),
    ...wishes(options, isPath ? null : depth),
    layout,
    by: await git.signature('committer'),
    pace: git.pace,
    ...git.transfers(),
    onWarning: (text) => git.err(text),
  })
  for (const [key, value] of settings) {
    const config = await repo.config()
    config.set(key, value)
    await repo.saveConfig(config)
  }
  if (options.has('recurse-submodules') && git.fs.exists(`${git.resolve(name)}/.gitmodules`))
    git.err('warning: submodules are not cloned here')
  if (oid === null) git.err('warning: You appear to have cloned an empty repository.')
  if (options.has('quiet')) return 0
  if (isPath && !options.has('no-local')) git.err('done.')
  if (oid !== null && layout === 'worktree' && (await repo.refs.head()).ref === null) git.err(detachedAdvice(oid))
  return 0
}

function refuseOccupied(git: Invocation, name: string): void {
  const path = git.resolve(name)
  const stat = lstatAt(git.fs, path)
  if (stat && (stat.kind !== 'directory' || git.fs.list(path).length > 0))
    throw fatal(`destination path '${name}' already exists and is not an empty directory.`)
}

/** The configuration of the new repository. */
function settingsOf(options: Arguments): [key: string, value: string][] {
  return options.all('config').map((setting) => {
    const [key = '', value = 'true'] = setting.split(/=(.*)/s)
    if (!isKey(key)) throw fatal(`invalid key of --config: '${setting}'`)
    return [key, value]
  })
}

function wishes(options: Arguments, depth: number | null) {
  return {
    branch: options.value('branch'),
    depth,
    // With a depth only one branch is fetched, even if the depth itself is ignored.
    singleBranch: !options.has('no-single-branch') && (options.has('depth') || options.has('single-branch')),
    tags: !options.has('no-tags'),
    remote: options.value('origin') ?? 'origin',
    checkout: !options.has('no-checkout'),
  }
}

/** A URL, or a folder of the workspace, which is stored with its full path. */
function sourceOf(git: Invocation, given: string): { url: string; credential: Credential | null; isPath: boolean } {
  const path = localPath(given)
  if (path === null) {
    withoutCredentials(git, given)
    return { ...parseAddress(given), isPath: false }
  }
  const found = localRepository(given, { fs: git.fs, folder: git.cwd })
  const isPath = path === given
  if (!found && isPath) throw fatal(`repository '${given}' does not exist`, { reason: 'not-found' })
  if (!isPath) return { url: given, credential: null, isPath }
  return { url: path.startsWith('/') ? path : `${git.cwd}/${path}`, credential: null, isPath }
}

function depthOf(given: string | null): number | null {
  if (given === null) return null
  const depth = Number(given)
  if (!Number.isInteger(depth) || depth < 1) throw fatal(`depth ${given} is not a positive number`)
  return depth
}
