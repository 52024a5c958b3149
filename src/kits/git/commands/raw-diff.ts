// Diffs for scripts: `diff-tree`, `diff-index` and `diff-files`.

import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { byteOrder } from '../bytes.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { prettyOptions } from '../log-format.ts'
import { MODE, NULL_ID, parseTree, sameState, type TreeEntry } from '../objects.ts'
import type { Pathspec } from '../pathspec.ts'
import { prettyCommit } from '../pretty.ts'
import { commitId, revision, unknownRevision } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
import { type Change, stagedChanges, treeChanges, unstagedChanges } from '../status.ts'
import { worktreeAgainst } from './diff.ts'

const OPTIONS = [...CHANGE_OPTIONS, 'exit-code', 'quiet', 'no-abbrev']
const PATCHES = ['patch', 'unified', 'patch-with-stat', 'binary']

/** Raw lines unless another format is requested, and renames only on request. */
function asPlumbing(options: Arguments): Arguments {
  if (!options.has('find-renames')) options.add('no-renames', '')
  options.add('whole-ids', '')
  if (!asksForSummary(options) && !PATCHES.some((name) => options.has(name))) options.add('raw', '')
  return options
}

async function answer(git: Invocation, changes: readonly Change[], options: Arguments): Promise<number> {
  if (!options.has('quiet')) git.out(await showChanges(git, changes, options))
  return changes.length > 0 && (options.has('quiet') || options.has('exit-code')) ? 1 : 0
}

export async function diffTree(git: Invocation, args: string[]): Promise<number> {
  const own = ['r', 't', 'root', 'm', 'no-commit-id', 'always', 'pretty?', 'format=', 'v', 'date=']
  const options = asPlumbing(parseArguments('diff-tree', [...OPTIONS, ...own], args))
  const words = options.paths ? options.plain : []
  const repo = git.repo()
  const rest = [...options.plain]
  while (!options.paths && rest[0] !== undefined && words.length < 2 && (await revision(repo, rest[0])) !== null)
    words.push(rest.shift() ?? '')
  const pathspec = git.pathspec(options.paths ?? rest)
  const [first, second] = words
  if (first === undefined && rest[0] !== undefined) throw unknownRevision(rest[0])
  if (first === undefined)
    throw new GitFailure('usage: git diff-tree [<options>] <tree-ish> [<tree-ish>] [<path>...]', 129)
  const isDeep = options.has('r') || options.has('t') || !options.has('raw')
  if (options.has('t')) throw fatal('git diff-tree -t is not available here')
  const between = (a: string | null, b: string) => treesDiffer(git, [a, b], { isDeep, pathspec })
  if (second !== undefined)
    return answer(git, await between(await treeNamed(git, first), await treeNamed(git, second)), options)
  const oid = await commitId(repo, first)
  const commit = await repo.commit(oid)
  if (commit.parents.length === 0 && !options.has('root')) return 0
  if (commit.parents.length > 1 && !options.has('m')) return 0
  let exitCode = 0
  for (const parent of commit.parents.length === 0 ? [null] : commit.parents) {
    const before = parent === null ? null : (await repo.commit(parent)).tree
    const changes = await between(before, commit.tree)
    const { isRelative, below } = { isRelative: options.has('relative'), below: options.value('relative') ?? '' }
    const isShown = !isRelative || below === '' || changes.some(({ path }) => path.startsWith(below))
    if ((changes.length > 0 && isShown) || options.has('always')) git.out(await commitHead(git, oid, options))
    exitCode = Math.max(exitCode, await answer(git, changes, options))
  }
  return exitCode
}

async function commitHead(git: Invocation, oid: string, options: Arguments): Promise<string> {
  if (options.has('no-commit-id') || options.has('quiet')) return ''
  const end = options.has('null') ? '\0' : '\n'
  if (!['pretty', 'format', 'v'].some((name) => options.has(name))) return `${oid}${end}`
  const repo = git.repo()
  const pretty = await prettyOptions(git, options)
  const text = await prettyCommit(repo, { oid, commit: await repo.commit(oid) }, pretty)
  return `${text}${end}${pretty.format === 'oneline' ? '' : '\n'}`
}

async function treeNamed(git: Invocation, word: string): Promise<string> {
  const oid = await revision(git.repo(), word)
  if (oid === null) throw fatal(`ambiguous argument '${word}': unknown revision or path not in the working tree.`)
  return git.repo().peel(oid, 'tree')
}

type Depth = { isDeep: boolean; pathspec: Pathspec }

async function treesDiffer(
  git: Invocation,
  [a, b]: [string | null, string],
  { isDeep, pathspec }: Depth,
): Promise<Change[]> {
  const repo = git.repo()
  if (isDeep) return (await treeChanges(repo, a, b)).filter(({ path }) => pathspec.matches(path))
  const entries = async (oid: string | null) =>
    new Map((oid === null ? [] : parseTree((await repo.objects.read(oid)).bytes)).map((entry) => [entry.name, entry]))
  const [before, after] = [await entries(a), await entries(b)]
  const state = (entry: TreeEntry | undefined) => (entry ? { mode: entry.mode, oid: entry.oid } : null)
  const changes: Change[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const change = { path, before: state(before.get(path)), after: state(after.get(path)) }
    if (!sameState(change.before, change.after) && pathspec.matches(path)) changes.push(...partsOf(change))
  }
  return changes.sort((x, y) => byteOrder(keyOf(x), keyOf(y)))
}

/** A file that replaces a folder is shown as a deletion and an addition. */
function partsOf(change: Change): Change[] {
  const { path, before, after } = change
  if (!before || !after || (before.mode === MODE.tree) === (after.mode === MODE.tree)) return [change]
  return [
    { path, before, after: null },
    { path, before: null, after },
  ]
}

function keyOf({ path, before, after }: Change): string {
  return (after ?? before)?.mode === MODE.tree ? `${path}/` : path
}

export async function diffIndex(git: Invocation, args: string[]): Promise<number> {
  const options = asPlumbing(parseArguments('diff-index', [...OPTIONS, 'cached', 'm'], args))
  if (options.has('m')) throw fatal('git diff-index -m is not available here')
  const [word, ...paths] = options.rest
  if (word === undefined)
    throw new GitFailure('usage: git diff-index [-m] [--cached] [<options>] <tree-ish> [<path>...]', 129)
  const repo = git.repo()
  const tree = await treeNamed(git, word)
  const pathspec = git.pathspec(paths)
  const changes = options.has('cached')
    ? await stagedChanges(repo, tree)
    : await unstored(git, options, await worktreeAgainst(git, tree))
  return answer(
    git,
    changes.filter(({ path }) => pathspec.matches(path)),
    options,
  )
}

export async function diffFiles(git: Invocation, args: string[]): Promise<number> {
  const options = asPlumbing(parseArguments('diff-files', [...OPTIONS, 'q'], args))
  const repo = git.repo()
  for (const word of options.plain) {
    const isPath = /[*?[:]/.test(word) || lstatAt(git.fs, git.resolve(word)) !== null
    if (!isPath && !(await repo.index()).get(word)) throw unknownRevision(word)
  }
  const pathspec = git.pathspec(options.rest)
  const unmerged = (await repo.index()).unmergedPaths().filter((path) => pathspec.matches(path))
  if (unmerged.length > 0)
    throw fatal(`git diff-files with unmerged paths (${unmerged[0]}) is not available here; use git ls-files -u`)
  const changes = (await unstagedChanges(repo)).filter(({ path }) => pathspec.matches(path))
  return answer(git, await unstored(git, options, changes), options)
}

/** In raw lines, a file that is only in the working tree has no id. */
async function unstored(git: Invocation, options: Arguments, changes: readonly Change[]): Promise<Change[]> {
  if (!options.has('raw') && !options.has('patch-with-raw')) return [...changes]
  if (options.has('patch-with-raw') || PATCHES.some((name) => options.has(name)))
    throw fatal('--raw with a patch of the working tree is not available here')
  const fresh = new Set((await unstagedChanges(git.repo())).map(({ path }) => path))
  return changes.map((change) =>
    change.after && fresh.has(change.path) ? { ...change, after: { ...change.after, oid: NULL_ID } } : change,
  )
}
