// Commands that list or remove what is in the working tree.

import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { relativeTo } from '../pathspec.ts'
import type { Repository } from '../repository.ts'
import { filesBelow } from '../staging.ts'
import { unstagedChanges, walkWorktree } from '../status.ts'

const LIST_OPTIONS = [
  'cached|c',
  'deleted|d',
  'modified|m',
  'others|o',
  'ignored|i',
  'stage|s',
  'unmerged|u',
  'exclude-standard',
  'null|z',
  'full-name',
  'error-unmatch',
]

export async function lsFiles(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('ls-files', LIST_OPTIONS, args)
  const repo = git.repo()
  const index = await repo.index()
  // Without paths, what is below the current folder.
  const pathspec = git.pathspec(options.rest.length > 0 ? options.rest : ['.'])
  const end = options.has('null') ? '\0' : '\n'
  const shown = (path: string) => {
    const name = options.has('full-name') ? path : relativeTo(repo, git.cwd, path)
    return options.has('null') ? name : repo.quoted(name)
  }
  const listsOthers = options.has('others') || options.has('ignored')
  const listsChanges = options.has('deleted') || options.has('modified')
  const paths: string[] = []
  if (listsOthers) paths.push(...(await others(git, options.has('exclude-standard'), options.has('ignored'))))
  const isPlain = !listsOthers && !listsChanges
  if (options.has('cached') || isPlain) {
    for (const { path, mode, oid, stage } of index.entries) {
      if (options.has('unmerged') && stage === 0) continue
      const isDetailed = options.has('stage') || options.has('unmerged')
      if (!isDetailed) paths.push(path)
      else if (pathspec.matches(path))
        git.out(`${mode.toString(8).padStart(6, '0')} ${oid} ${stage}\t${shown(path)}${end}`)
    }
  }
  if (listsChanges) {
    for (const { path, after } of await unstagedChanges(repo)) {
      if (after === null ? options.has('deleted') || options.has('modified') : options.has('modified')) paths.push(path)
    }
  }
  for (const path of paths) if (pathspec.matches(path)) git.out(shown(path) + end)
  const [missing] = options.has('error-unmatch') ? pathspec.unmatched() : []
  if (missing === undefined) return 0
  throw new GitFailure(
    `error: pathspec '${missing}' did not match any file(s) known to git\nDid you forget to 'git add'?`,
    1,
  )
}

async function others(git: Invocation, excludes: boolean, ignoredOnly: boolean): Promise<string[]> {
  const { untracked, ignored } = await walkWorktree(git.repo(), { untracked: 'all', ignored: true })
  if (ignoredOnly) return filesBelow(git.repo(), ignored)
  return excludes ? untracked : [...untracked, ...filesBelow(git.repo(), ignored)].sort()
}

export async function clean(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('clean', ['force|f', 'd', 'dry-run|n', 'x', 'X', 'quiet|q', 'exclude|e='], args)
  const repo = git.repo()
  const isDry = options.has('dry-run')
  if (!options.has('force') && !isDry && (await git.setting('clean.requireForce')) !== 'false') {
    throw fatal('clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean')
  }
  const pathspec = git.pathspec([
    ...(options.rest.length > 0 ? options.rest : ['.']),
    ...options.all('exclude').map((path) => `:!${path}`),
  ])
  const { untracked, ignored } = await walkWorktree(repo, { untracked: 'normal', ignored: true })
  const spared = options.has('x') ? [] : ignored
  const reachable = options.has('d') ? untracked : untracked.filter((path) => !path.endsWith('/'))
  const removable = reachable.flatMap((path) => withoutSpared(repo, path, spared))
  const wanted = options.has('X') ? ignored : options.has('x') ? [...untracked, ...ignored].sort() : removable
  for (const path of wanted) {
    const isFolder = path.endsWith('/')
    if (!pathspec.matches(path) || (isFolder && !options.has('d'))) continue
    const name = path.replace(/\/$/, '')
    if (isFolder && git.fs.list(`${repo.root}/${name}`).some((entry) => entry.name === '.git')) {
      if (options.all('force').length < 2) continue
    }
    if (!options.has('quiet'))
      git.line(`${isDry ? 'Would remove' : 'Removing'} ${repo.quoted(relativeTo(repo, git.cwd, path))}`)
    if (!isDry) git.fs.remove(`${repo.root}/${name}`, { recursive: true })
  }
  return 0
}

/** A folder that holds something ignored stays; what else is in it goes. */
function withoutSpared(repo: Repository, path: string, spared: readonly string[]): string[] {
  if (!path.endsWith('/') || !spared.some((other) => other.startsWith(path))) return [path]
  const entries = repo.fs
    .list(`${repo.root}/${path}`)
    .map(({ name, kind }) => path + name + (kind === 'directory' ? '/' : ''))
  return entries.filter((entry) => !spared.includes(entry)).flatMap((entry) => withoutSpared(repo, entry, spared))
}
