import { parseArguments } from '../arguments.ts'
import { cloneInto } from '../cloning.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { folderNameOf, parseAddress, withoutCredentials } from '../remote-address.ts'

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
  'no-hardlinks',
  'filter=',
  'tags',
]

export async function clone(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('clone', OPTIONS, args)
  const [given, folder] = options.rest
  if (given === undefined) throw fatal('You must specify a repository to clone.')
  const { url, credential } = parseAddress(given)
  withoutCredentials(git, given)
  const name = folder ?? folderNameOf(url)
  const depth = depthOf(options.value('depth'))
  if (!options.has('quiet')) git.err(`Cloning into '${name}'...`)
  if (options.has('recurse-submodules')) git.err('warning: submodules are not cloned here')
  const { repo, oid } = await cloneInto({
    fs: git.fs,
    url,
    credential,
    root: git.resolve(name),
    branch: options.value('branch'),
    depth,
    singleBranch: !options.has('no-single-branch') && (depth !== null || options.has('single-branch')),
    tags: !options.has('no-tags'),
    remote: options.value('origin') ?? 'origin',
    checkout: !options.has('no-checkout'),
    by: await git.signature('committer'),
    pace: git.pace,
    remotes: git.remotes,
    signal: git.signal,
    onWarning: (text) => git.err(text),
  })
  for (const setting of options.all('config')) {
    const [key = '', value = 'true'] = setting.split(/=(.*)/s)
    const config = await repo.config()
    config.set(key, value)
    await repo.saveConfig(config)
  }
  if (oid === null && !options.has('quiet')) git.err('warning: You appear to have cloned an empty repository.')
  return 0
}

export function depthOf(given: string | null): number | null {
  if (given === null) return null
  const depth = Number(given)
  if (!Number.isInteger(depth) || depth < 1) throw fatal(`depth ${given} is not a positive number`)
  return depth
}
