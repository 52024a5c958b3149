import { type Arguments, parseArguments } from '../arguments.ts'
import { byteOrder } from '../bytes.ts'
import { GitFailure } from '../failure.ts'
import { mergeBases } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { sameState } from '../objects.ts'
import { quoted } from '../pathspec.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { commitId, revision } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
import { type Change, stagedChanges, treeChanges, unstagedChanges } from '../status.ts'
import { flatTree } from '../tree.ts'
import { isBehindLink, stateAt } from '../worktree.ts'

export async function diff(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('diff', [...CHANGE_OPTIONS, 'cached|staged', 'quiet', 'exit-code', 'merge-base'], args)
  const { revisions, paths } = await splitRevisions(git, options)
  const pathspec = git.pathspec(paths)
  const all = await changesFor(git, options, revisions)
  const changes = all.filter(({ path }) => pathspec.matches(path))
  const unmerged =
    revisions.length === 0 ? (await git.repo().index()).unmergedPaths().filter((path) => pathspec.matches(path)) : []
  if (!options.has('quiet')) {
    const isNames = options.has('name-only') || options.has('name-status')
    for (const path of unmerged)
      git.line(
        isNames ? (options.has('name-only') ? quoted(path) : `U\t${quoted(path)}`) : `* Unmerged path ${quoted(path)}`,
      )
    const isPatch = !asksForSummary(options)
    const shown =
      unmerged.length > 0 && !options.has('cached') && isPatch
        ? [...changes, ...(await conflicts(git, unmerged))]
        : changes
    git.out(
      await showChanges(
        git,
        shown.sort((a, b) => byteOrder(a.path, b.path)),
        options,
      ),
    )
  }
  const differs = changes.length > 0 || unmerged.length > 0
  return differs && (options.has('exit-code') || options.has('quiet')) ? 1 : 0
}

async function changesFor(git: Invocation, options: Arguments, revisions: readonly string[]): Promise<Change[]> {
  const repo = git.repo()
  const [first, second] = revisions
  const dots = first === undefined ? null : /^(.*?)(\.{2,3})(.*)$/.exec(first)
  if (revisions.length > 2 || (dots && second !== undefined))
    throw new GitFailure('usage: git diff [<options>] [<commit>] [--] [<path>...]', 129)
  if (options.has('cached'))
    return stagedChanges(repo, first === undefined ? await repo.headTree() : await treeOf(git, first))
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

/** What is tracked, as it stands in the working tree, against a tree. */
async function worktreeAgainst(git: Invocation, tree: string): Promise<Change[]> {
  const repo = git.repo()
  const index = await repo.index()
  const old = await flatTree(repo, tree)
  const work = new Map((await unstagedChanges(repo)).map(({ path, after }) => [path, after]))
  const changes: Change[] = []
  for (const { path, mode, oid, stage } of index.entries) {
    if (stage > 0) continue
    const before = old.get(path) ?? null
    old.delete(path)
    const after = work.has(path) ? (work.get(path) ?? null) : { mode, oid }
    if (!sameState(before, after)) changes.push({ path, before, after })
  }
  const unmerged = new Set(index.unmergedPaths())
  for (const [path, before] of old) if (!unmerged.has(path)) changes.push({ path, before, after: null })
  return changes.sort((a, b) => byteOrder(a.path, b.path))
}

/** Files with marks in them, against our side. */
async function conflicts(git: Invocation, paths: readonly string[]): Promise<Change[]> {
  const repo = git.repo()
  const index = await repo.index()
  const changes: Change[] = []
  for (const path of paths) {
    const ours = index.get(path, 2)
    const after = isBehindLink(git.fs, repo.root, path) ? null : await stateAt(git.fs, `${repo.root}/${path}`)
    if (ours || after) changes.push({ path, before: ours && { mode: ours.mode, oid: ours.oid }, after })
  }
  return changes
}
