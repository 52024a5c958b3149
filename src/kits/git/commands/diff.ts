import { type Arguments, parseArguments } from '../arguments.ts'
import { byteOrder } from '../bytes.ts'
import { combinedPatch } from '../combined-patch.ts'
import { slipsIn } from '../diff-check.ts'
import { fatal, GitFailure } from '../failure.ts'
import { mergeBases } from '../history.ts'
import type { IndexEntry } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { NULL_ID, sameState } from '../objects.ts'
import { changeFilter, PICKAXE_OPTIONS } from '../pickaxe.ts'
import { type PairedChange, withRenames } from '../renames.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { commitId, revision } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, contextOf, renameThreshold, showChanges, showPaired } from '../show-changes.ts'
import { type Change, stagedChanges, treeChanges, unstagedChanges } from '../status.ts'
import { flatTree } from '../tree.ts'
import { isBehindLink, stateAt } from '../worktree.ts'
import { blobPair, diffNoIndex, pairPatch } from './diff-pair.ts'

/** The compared side of an unmerged path. */
const STAGES: Readonly<Record<string, number>> = { 'base|1': 1, 'ours|2': 2, 'theirs|3': 3 }

export async function diff(git: Invocation, args: string[]): Promise<number> {
  if (args.includes('--no-index')) return diffNoIndex(git, args)
  const options = parseArguments(
    'diff',
    [
      ...CHANGE_OPTIONS,
      ...PICKAXE_OPTIONS,
      'cached|staged',
      'quiet',
      'exit-code',
      'check',
      'merge-base',
      ...Object.keys(STAGES),
      '0',
    ],
    args,
  )
  if (!git.hasRepo()) throw outside()
  const { revisions, paths } = await splitRevisions(git, options)
  const pair = paths.length === 0 && !options.has('cached') ? await blobPair(git, revisions) : null
  if (pair) return say(git, await pairPatch(git, pair, options), options)
  const pathspec = git.pathspec(paths)
  options.add('mnemonics', mnemonicsOf(options, revisions))
  const all = await changesFor(git, options, options.has('merge-base') ? await fromBase(git, revisions) : revisions)
  const isOfWorktree = !options.has('cached') && revisions.length < 2 && !revisions.some((word) => word.includes('..'))
  const known =
    (options.has('raw') || options.has('patch-with-raw')) && isOfWorktree ? await withoutNewIds(git, options, all) : all
  const changes = await picked(
    git,
    options,
    known.filter(({ path }) => pathspec.matches(path)),
  )
  const unmerged =
    revisions.length === 0 ? (await git.repo().index()).unmergedPaths().filter((path) => pathspec.matches(path)) : []
  if (options.has('check')) return check(git, options, [...changes, ...(await markedFiles(git, unmerged))])
  if (!options.has('quiet')) git.out(await shownText(git, { options, changes, unmerged }))
  const differs = changes.length > 0 || unmerged.length > 0
  return differs && (options.has('exit-code') || options.has('quiet')) ? 1 : 0
}

/** The prefixes for the index, the working tree and commits with `diff.mnemonicPrefix`. */
function mnemonicsOf(options: Arguments, revisions: readonly string[]): string {
  if (options.has('cached')) return 'c/ i/'
  if (revisions.length === 0) return 'i/ w/'
  return revisions.length === 1 && !revisions[0]?.includes('..') ? 'c/ w/' : 'a/ b/'
}

function say(git: Invocation, text: string, options: Arguments): number {
  if (!options.has('quiet')) git.out(text)
  return text !== '' && (options.has('exit-code') || options.has('quiet')) ? 1 : 0
}

/** Unmerged files compared with our side, to find remaining conflict markers. */
async function markedFiles(git: Invocation, paths: readonly string[], stage = 2): Promise<Change[]> {
  const repo = git.repo()
  const index = await repo.index()
  const found: Change[] = []
  for (const path of paths) {
    const ours = index.get(path, stage)
    const after = isBehindLink(git.fs, repo.root, path) ? null : await stateAt(repo, path)
    if (after && (ours || stage === 2))
      found.push({ path, before: ours ? { mode: ours.mode, oid: ours.oid } : null, after })
  }
  return found
}

async function check(git: Invocation, options: Arguments, changes: readonly Change[]): Promise<number> {
  let found = ''
  for (const change of options.has('no-renames') ? changes : await withRenames(git.repo(), changes))
    found += await slipsIn(git.repo(), change)
  if (!options.has('quiet')) git.out(found)
  return found === '' ? 0 : 2
}

function outside(): GitFailure {
  return new GitFailure(
    'warning: Not a git repository. Use --no-index to compare two paths outside a working tree\n' +
      'usage: git diff --no-index [<options>] <path> <path>',
    129,
  )
}

/** A file that is only in the working tree has no id yet. */
async function withoutNewIds(git: Invocation, options: Arguments, changes: readonly Change[]): Promise<Change[]> {
  for (const other of ['patch', 'patch-with-raw', 'R'])
    if (options.has(other))
      throw fatal(`--raw with ${other === 'R' ? '-R' : '--patch'} of the working tree is not available here`)
  const unstored = new Set((await unstagedChanges(git.repo())).map(({ path }) => path))
  for (const path of (await git.repo().index()).unmergedPaths()) unstored.add(path)
  return changes.map((change) => {
    const { path, after } = change
    return after && unstored.has(path) ? { ...change, after: { ...after, oid: NULL_ID } } : change
  })
}

/** With `--merge-base` the comparison starts at the merge base. */
async function fromBase(git: Invocation, [first, ...rest]: readonly string[]): Promise<string[]> {
  if (first === undefined || /\.\./.test(first)) throw fatal('--merge-base only works with two commits')
  const repo = git.repo()
  const [base] = await mergeBases(repo, await commitId(repo, first), await commitId(repo, rest[0] ?? 'HEAD'))
  if (base === undefined) throw fatal('no merge base found')
  return [base, ...rest]
}

async function changesFor(git: Invocation, options: Arguments, revisions: readonly string[]): Promise<Change[]> {
  const repo = git.repo()
  const [first, second] = revisions
  const dots = first === undefined ? null : /^(.*?)(\.{2,3})(.*)$/.exec(first)
  if (revisions.length > 2 || (dots && second !== undefined))
    throw new GitFailure('usage: git diff [<options>] [<commit>] [--] [<path>...]', 129)
  if (options.has('cached') && (second !== undefined || dots))
    throw new GitFailure('usage: git diff [<options>] --cached [<commit>] [--] [<path>...]', 129)
  if (options.has('cached'))
    return stagedChanges(repo, first === undefined ? await repo.headTree() : await treeOf(git, first))
  const around = first === undefined ? null : /^(.*)\^(?:!|-(\d*))$/.exec(first)
  if (around)
    return treeChanges(
      repo,
      await treeOf(git, `${around[1]}^${around[2] || 1}`),
      await treeOf(git, around[1] || 'HEAD'),
    )
  if (dots) {
    const [from, to] = [dots[1] || 'HEAD', dots[3] || 'HEAD']
    if (dots[2] === '..') return treeChanges(repo, await treeOf(git, from), await treeOf(git, to))
    const [left, right] = [await commitId(repo, from), await commitId(repo, to)]
    const [base] = await mergeBases(repo, left, right)
    if (base === undefined) throw new GitFailure(`fatal: ${first}: no merge base`, 128)
    return treeChanges(repo, (await repo.commit(base)).tree, (await repo.commit(right)).tree)
  }
  if (first === undefined) return unstagedChanges(repo)
  if (second !== undefined) return treeChanges(repo, await treeOf(git, first), await treeOf(git, second))
  return worktreeAgainst(git, await treeOf(git, first))
}

async function treeOf(git: Invocation, words: string): Promise<string> {
  const repo = git.repo()
  const oid = await revision(repo, words)
  return oid === null ? (await repo.commit(await commitId(repo, words))).tree : repo.peel(oid, 'tree')
}

/** The tracked files of the working tree, compared with a tree. */
export async function worktreeAgainst(git: Invocation, tree: string): Promise<Change[]> {
  const repo = git.repo()
  const index = await repo.index()
  const old = await flatTree(repo, tree)
  const work = new Map((await unstagedChanges(repo)).map(({ path, after }) => [path, after]))
  const changes: Change[] = []
  for (const entry of index.entries) {
    const { path, mode, oid, stage } = entry
    if (stage > 0) continue
    const before = old.get(path) ?? null
    old.delete(path)
    const after = work.has(path) ? (work.get(path) ?? null) : { mode, oid }
    if (!sameState(before, after)) changes.push({ path, before, after })
  }
  for (const path of index.unmergedPaths()) {
    const before = old.get(path) ?? null
    old.delete(path)
    const after = isBehindLink(git.fs, repo.root, path) ? null : await stateAt(repo, path)
    if (!sameState(before, after)) changes.push({ path, before, after })
  }
  for (const [path, before] of old) changes.push({ path, before, after: null })
  return changes.sort((a, b) => byteOrder(a.path, b.path))
}

interface DiffSelection {
  options: Arguments
  changes: Change[]
  unmerged: string[]
}

/** Unmerged paths are shown among the others, with both sides if there are two. */
async function shownText(git: Invocation, { options, changes, unmerged }: DiffSelection): Promise<string> {
  if (unmerged.length === 0) return showChanges(git, changes, options)
  const isPatch = !asksForSummary(options) || options.has('patch')
  const hasSide = ['base', 'ours', 'theirs', '0'].some((name) => options.has(name))
  if (!isPatch || hasSide || options.has('cached')) return withUnmerged(git, { options, changes, unmerged })
  let text = ''
  const all = [
    ...changes.map((change) => ({ path: change.path, change })),
    ...unmerged.map((path) => ({ path, change: null })),
  ]
  for (const { path, change } of all.sort((a, b) => byteOrder(a.path, b.path))) {
    const named = `* Unmerged path ${git.repo().quoted(path)}\n`
    text += change
      ? await showChanges(git, [change], options)
      : ((await conflictPatch(git, path, contextOf(options))) ?? named)
  }
  return text
}

/** An unmerged path is shown as such; for the working tree a second time, with the changes from our side. */
async function withUnmerged(git: Invocation, { options, changes, unmerged }: DiffSelection): Promise<string> {
  const repo = git.repo()
  const isStaged = options.has('cached')
  const head = isStaged ? await flatTree(repo, await repo.headTree()) : null
  const side = options.latest('base', 'ours', 'theirs', '0')
  const stage =
    side === '0' ? 0 : (Object.entries(STAGES).find(([names]) => names.startsWith(side ?? 'ours'))?.[1] ?? 2)
  const marked = isStaged ? [] : await markedFiles(git, unmerged, stage)
  const named: PairedChange[] = []
  for (const path of unmerged) {
    const before = head?.get(path) ?? null
    const after = marked.find((change) => change.path === path)?.after ?? null
    named.push({ path, before, after: after && { ...after, oid: NULL_ID }, isUnmerged: true })
  }
  const isRaw = options.has('raw')
  const unnamed = marked.map(({ after, ...rest }) => ({
    ...rest,
    after: after && isRaw ? { ...after, oid: NULL_ID } : after,
  }))
  const others = [...changes, ...unnamed].sort((a, b) => byteOrder(a.path, b.path))
  const paired: PairedChange[] = options.has('no-renames')
    ? others
    : await withRenames(repo, others, renameThreshold(options))
  // Each is shown before the changes of its file.
  const all: PairedChange[] = [...named, ...paired].sort((a, b) => byteOrder(a.path, b.path) || (a.isUnmerged ? -1 : 1))
  return showPaired(git, all, options)
}

/** With `-S` or `-G` only the matching changes. */
async function picked(git: Invocation, options: Arguments, changes: Change[]): Promise<Change[]> {
  if (!options.has('S') && !options.has('G')) return changes
  const filter = changeFilter(git.repo(), options)
  if (filter === null) return changes
  const paired = options.has('no-renames') ? changes : await withRenames(git.repo(), changes)
  const kept = new Set((await filter(paired)).flatMap(({ path, from = path }) => [path, from]))
  return changes.filter(({ path }) => kept.has(path))
}

/** Null if one of the sides does not contain the file. */
async function conflictPatch(git: Invocation, path: string, context: number): Promise<string | null> {
  const repo = git.repo()
  const index = await repo.index()
  const [ours, theirs] = [index.get(path, 2), index.get(path, 3)]
  if (!ours || !theirs) return null
  const result = isBehindLink(git.fs, repo.root, path) ? null : await stateAt(repo, path)
  const stateOf = ({ mode, oid }: IndexEntry) => ({ mode, oid })
  const versions = [stateOf(ours), stateOf(theirs)]
  const patch = await combinedPatch(repo, { path, versions, result, isUnstored: true, context })
  return patch === '' ? `diff --cc ${git.repo().quoted(path)}\n` : patch
}
