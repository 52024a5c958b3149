import { lstatAt } from '../../../workspace/stat.ts'
import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isIntended, statFields } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { type FileState, sameState } from '../objects.ts'
import { relativeTo } from '../pathspec.ts'
import { currentState, walkWorktree } from '../status.ts'
import { flatTree } from '../tree.ts'
import { takeAway } from '../worktree.ts'

export async function rm(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments(
    'rm',
    ['recursive|r', 'force|f', 'cached', 'quiet|q', 'dry-run|n', 'ignore-unmatch'],
    args,
  )
  const repo = git.repo()
  if (options.rest.length === 0) throw fatal('No pathspec was given. Which files should I remove?')
  const index = await repo.index()
  const pathspec = git.pathspec(options.rest)
  const paths = [...new Set(index.entries.filter(({ path }) => pathspec.matches(path)).map(({ path }) => path))]
  const [missing] = pathspec.unmatched()
  if (missing !== undefined && !options.has('ignore-unmatch'))
    throw fatal(`pathspec '${missing}' did not match any files`)
  if (!options.has('recursive')) refuseFolders(git, options.rest, paths)
  if (!options.has('force')) await refuseLosses(git, paths, options.has('cached'))
  for (const path of paths) {
    if (!options.has('quiet')) git.line(`rm '${path}'`)
    if (options.has('dry-run')) continue
    index.remove(path)
    if (!options.has('cached')) takeAway(git.fs, repo.root, path)
  }
  if (!options.has('dry-run') && paths.length > 0) await repo.saveIndex(index)
  return 0
}

function refuseFolders(git: Invocation, given: readonly string[], paths: readonly string[]): void {
  const { root } = git.repo()
  for (const name of given) {
    const folder = git.resolve(name).slice(root === '/' ? 1 : root.length + 1)
    const isFolder = paths.some((path) => path !== folder && (folder === '' || path.startsWith(`${folder}/`)))
    if (isFolder) throw fatal(`not removing '${name}' recursively without -r`)
  }
}

/** Refuses to remove files with contents that are stored nowhere else. */
async function refuseLosses(git: Invocation, paths: readonly string[], cached: boolean): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  const head = await flatTree(repo, await repo.headTree())
  const { present } = await walkWorktree(repo, { untracked: 'no' })
  const [both, staged, local]: string[][] = [[], [], []]
  for (const path of paths) {
    const entry = index.get(path)
    if (!entry || (cached && isIntended(entry))) continue
    const state: FileState = { mode: entry.mode, oid: entry.oid }
    const work = await currentState(repo, entry, present.get(path))
    const isStaged = !sameState(state, head.get(path))
    const isLocal = work !== null && !sameState(work, state)
    if (isStaged && isLocal) both?.push(path)
    else if (!cached && isStaged && work !== null) staged?.push(path)
    else if (!cached && isLocal) local?.push(path)
  }
  const parts = [
    refusal(both, 'staged content different from both the\nfile and the HEAD', 'use -f to force removal'),
    refusal(staged, 'changes staged in the index', 'use --cached to keep the file, or -f to force removal'),
    refusal(local, 'local modifications', 'use --cached to keep the file, or -f to force removal'),
  ].filter((part) => part !== '')
  if (parts.length > 0) throw new GitFailure(parts.join('\n'), 1)
}

function refusal(paths: string[] | undefined, what: string, how: string): string {
  if (!paths || paths.length === 0) return ''
  const [file, has] = paths.length === 1 ? ['file', 'has'] : ['files', 'have']
  return `error: the following ${file} ${has} ${what}:\n${paths.map((path) => `    ${path}\n`).join('')}(${how})`
}

export async function mv(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('mv', ['force|f', 'verbose|v', 'dry-run|n', 'skip|k'], args)
  const repo = git.repo()
  const sources = options.rest
  const goal = sources.pop()
  if (goal === undefined || sources.length === 0)
    throw new GitFailure('usage: git mv [<options>] <source>... <destination>', 129)
  const target = git.resolve(goal)
  const isFolder = lstatAt(git.fs, target)?.kind === 'directory'
  if (sources.length > 1 && !isFolder) throw fatal(`destination '${goal}' is not a directory`)
  const moves = sources.map((source) => {
    const from = git.resolve(source)
    return { source, from, to: isFolder ? `${target}/${from.split('/').at(-1)}` : target }
  })
  const movable: Move[] = []
  for (const move of moves) {
    const obstacle = await obstacleTo(git, move, options.has('force'))
    if (obstacle === null) movable.push(move)
    else if (!options.has('skip')) throw obstacle
  }
  if (options.has('dry-run'))
    for (const { from, to } of movable) git.line(`Checking rename of '${inRepo(git, from)}' to '${inRepo(git, to)}'`)
  for (const { from, to } of movable) {
    if (options.has('verbose') || options.has('dry-run'))
      git.line(`Renaming ${inRepo(git, from)} to ${inRepo(git, to)}`)
    if (!options.has('dry-run')) await move(git, from, to)
  }
  if (!options.has('dry-run')) await repo.saveIndex(await repo.index())
  return 0
}

type Move = { source: string; from: string; to: string }

/** Why it cannot be moved, or null. */
async function obstacleTo(git: Invocation, { source, from, to }: Move, force: boolean): Promise<GitFailure | null> {
  const index = await git.repo().index()
  const bad = (reason: string) =>
    fatal(`${reason}, source=${source}, destination=${relativeTo(git.repo(), git.cwd, inRepo(git, to))}`)
  const [path, goal] = [inRepo(git, from), inRepo(git, to)]
  const stat = lstatAt(git.fs, from)
  if (!stat) return bad('bad source')
  const isTracked = index.get(path) !== null || index.entries.some((entry) => entry.path.startsWith(`${path}/`))
  if (!isTracked) return bad(stat.kind === 'directory' ? 'source directory is empty' : 'not under version control')
  if (goal === path || goal.startsWith(`${path}/`)) return bad('can not move directory into itself')
  if (lstatAt(git.fs, to) && !force) return bad('destination exists')
  if (lstatAt(git.fs, to.replace(/\/[^/]*$/, '') || '/')?.kind !== 'directory')
    return bad('destination directory does not exist')
  return null
}

function inRepo(git: Invocation, full: string): string {
  const { root } = git.repo()
  const prefix = root === '/' ? '/' : `${root}/`
  if (!full.startsWith(prefix)) throw fatal(`'${full}' is outside repository at '${root}'`)
  return full.slice(prefix.length)
}

async function move(git: Invocation, from: string, to: string): Promise<void> {
  const repo = git.repo()
  const index = await repo.index()
  const [path, goal] = [inRepo(git, from), inRepo(git, to)]
  const there = lstatAt(git.fs, to)
  if (there && there.kind !== 'directory') git.fs.remove(to)
  git.fs.rename(from, to)
  for (const entry of [...index.entries]) {
    if (entry.path !== path && !entry.path.startsWith(`${path}/`)) continue
    const moved = goal + entry.path.slice(path.length)
    const stat = lstatAt(git.fs, `${repo.root}/${moved}`)
    index.remove(entry.path)
    index.put({ ...entry, path: moved, ...(stat && entry.mtimeMs === stat.mtimeMs ? statFields(stat) : {}) })
  }
}
