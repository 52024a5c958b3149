import { parseArguments } from '../arguments.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { relativeTo } from '../pathspec.ts'
import type { Repository } from '../repository.ts'
import { walkWorktree } from '../status.ts'

export async function clean(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('clean', ['force|f', 'd', 'dry-run|n', 'x', 'X', 'quiet|q', 'exclude|e='], args)
  if (options.has('x') && options.has('X')) throw fatal('-x and -X cannot be used together')
  const repo = git.repo()
  const isDry = options.has('dry-run')
  if (!options.has('force') && !isDry && (await git.setting('clean.requireForce')) !== 'false') {
    throw fatal('clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean')
  }
  const pathspec = git.pathspec([
    ...(options.rest.length > 0 ? options.rest : ['.']),
    ...options.all('exclude').map((path) => `:!${path}`),
  ])
  const { untracked: files, ignored } = await walkWorktree(repo, { untracked: 'normal', ignored: true })
  const untracked = [...files, ...(options.has('d') ? await emptyFolders(repo, files) : [])].sort()
  const excluded = await excludedFiles(git, options.all('exclude'), [...files, ...ignored])
  const spared = [...(options.has('x') ? [] : ignored), ...excluded]
  // A given folder is removed as a whole.
  const named = options.rest.map((path) => git.resolve(path).slice(repo.root.length + 1))
  const isReached = (path: string) =>
    options.has('d') || named.some((name) => name === '' || `${name}/` === path || path.startsWith(`${name}/`))
  const reachable = options.has('d') ? untracked : untracked.filter((path) => !path.endsWith('/') || isReached(path))
  const removable = reachable.flatMap((path) => withoutSpared(repo, path, spared))
  const wanted = options.has('X')
    ? ignored
    : options.has('x')
      ? withoutNested([...untracked, ...ignored].sort())
      : removable
  for (const path of wanted) {
    const isFolder = path.endsWith('/')
    if (!pathspec.matches(path) || (isFolder && !isReached(path))) continue
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

/** The files kept by the patterns of `-e`, within folders as well. */
async function excludedFiles(
  git: Invocation,
  patterns: readonly string[],
  found: readonly string[],
): Promise<string[]> {
  if (patterns.length === 0) return []
  const kept = git.pathspec(patterns)
  const below = (path: string): string[] =>
    !path.endsWith('/')
      ? [path]
      : git.fs
          .list(`${git.repo().root}/${path}`)
          .flatMap(({ name, kind }) => below(`${path}${name}${kind === 'directory' ? '/' : ''}`))
  return found.flatMap(below).filter((path) => kept.matches(path) || kept.matches(path.split('/').at(-1) ?? ''))
}

/** The contents of a folder are removed with it. */
function withoutNested(paths: readonly string[]): string[] {
  const folders = paths.filter((path) => path.endsWith('/'))
  return paths.filter((path) => !folders.some((folder) => path !== folder && path.startsWith(folder)))
}

/** The outermost folders without any files, tracked or not. */
async function emptyFolders(repo: Repository, known: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const tracked = (await repo.index()).entries.map((entry) => entry.path)
  const holdsFiles = (folder: string): boolean =>
    repo.fs
      .list(`${repo.root}/${folder}`)
      .some(({ name, kind }) => kind !== 'directory' || holdsFiles(`${folder}${name}/`))
  const visit = async (folder: string): Promise<void> => {
    for (const { name, kind } of repo.fs.list(`${repo.root}/${folder}`)) {
      const path = `${folder}${name}/`
      if (kind !== 'directory' || name === '.git' || known.includes(path)) continue
      if (await repo.ignored.ignoresEntry(path.slice(0, -1), true)) continue
      if (holdsFiles(path) || tracked.some((file) => file.startsWith(path))) await visit(path)
      else found.push(path)
    }
  }
  await visit('')
  return found
}

/** A folder with something ignored in it stays; its other contents are removed. */
function withoutSpared(repo: Repository, path: string, spared: readonly string[]): string[] {
  if (!path.endsWith('/') || !spared.some((other) => other.startsWith(path))) return [path]
  const entries = repo.fs
    .list(`${repo.root}/${path}`)
    .map(({ name, kind }) => path + name + (kind === 'directory' ? '/' : ''))
  return entries.filter((entry) => !spared.includes(entry)).flatMap((entry) => withoutSpared(repo, entry, spared))
}
