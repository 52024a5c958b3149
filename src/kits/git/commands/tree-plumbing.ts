// Creates trees and commits step by step, for scripts.

import { parseArguments } from '../arguments.ts'
import { applyChanges, changesBetween, obstaclesTo, refuseObstacles } from '../checkout.ts'
import { indexTree, storeCommit } from '../commits.ts'
import { fatal, GitFailure } from '../failure.ts'
import { NO_STAT } from '../index-file.ts'
import type { Invocation } from '../invocation.ts'
import { formatTree, MODE, sameState, type TreeEntry } from '../objects.ts'
import { readText } from '../ref-files.ts'
import { revision } from '../revisions.ts'
import { unstagedChanges } from '../status.ts'
import { flatTree, isSafePath } from '../tree.ts'

export async function writeTreeCommand(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('write-tree', ['missing-ok', 'prefix='], args)
  const repo = git.repo()
  const unmerged = (await repo.index()).unmergedPaths()
  for (const path of unmerged) git.err(`${path}: unmerged`)
  if (unmerged.length > 0) throw fatal('git-write-tree: error building trees')
  const tree = await indexTree(repo)
  const prefix = options.value('prefix')?.replace(/\/+$/, '') ?? ''
  const oid = prefix === '' ? tree : await revision(repo, `${tree}:${prefix}`)
  if (oid === null) throw fatal(`git-write-tree: prefix ${prefix} not found`)
  git.line(oid)
  return 0
}

export async function commitTree(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('commit-tree', ['p=', 'm=', 'F='], args)
  const repo = git.repo()
  const [word, ...more] = options.rest
  if (word === undefined || more.length > 0) throw fatal('must give exactly one tree')
  const oid = await revision(repo, word)
  if (oid === null) throw fatal(`not a valid object name ${word}`)
  if (!(await repo.objects.has(oid))) throw fatal(`${oid} is not a valid object`)
  if ((await repo.objects.read(oid)).type !== 'tree') throw fatal(`${oid} is not a valid 'tree' object`)
  const parents: string[] = []
  for (const name of options.all('p')) {
    const parent = await revision(repo, name)
    if (parent === null) throw fatal(`not a valid object name ${name}`)
    const id = await repo.peel(parent, 'commit')
    if (parents.includes(id)) git.err(`error: duplicate parent ${id} ignored`)
    else parents.push(id)
  }
  const author = await git.signature('author')
  const committer = await git.signature('committer')
  git.line(await storeCommit(repo, { tree: oid, parents, author, committer, message: await textOf(git, options) }))
  return 0
}

async function textOf(git: Invocation, options: ReturnType<typeof parseArguments>): Promise<string> {
  const texts: string[] = []
  for (const { name, value } of options.inOrder('m', 'F')) {
    if (name === 'm') {
      texts.push(value.replace(/\n*$/, '\n'))
      continue
    }
    const text = value === '-' ? git.stdin : await readText(git.fs, git.resolve(value))
    if (text === null) throw fatal(`git commit-tree: failed to open '${value}': No such file or directory`)
    texts.push(text)
  }
  return texts.length === 0 ? git.stdin : texts.join('\n')
}

/** Sets the index from a tree. */
export async function readTree(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('read-tree', ['m', 'u', 'reset', 'empty', 'prefix=', 'v', 'q|quiet'], args)
  const repo = git.repo()
  const index = await repo.index()
  const [word, ...more] = options.rest
  if (more.length > 0) throw fatal('git read-tree of more than one tree is not available here; use git merge')
  if (options.has('empty') && word !== undefined) throw fatal('passing trees as arguments contradicts --empty')
  const ways = options.inOrder('m', 'reset', 'prefix')
  if (new Set(ways.map(({ name }) => name)).size > 1) throw fatal('Which one? -m, --reset, or --prefix?')
  if (options.has('empty') || word === undefined) {
    if (!options.has('empty'))
      git.err('warning: read-tree: emptying the index with no arguments is deprecated; use --empty')
    for (const { path } of [...index.entries]) index.remove(path)
    await repo.saveIndex(index)
    return 0
  }
  const oid = await revision(repo, word)
  if (oid === null) throw fatal(`Not a valid object name ${word}`)
  const tree = await repo.peel(oid, 'tree')
  const prefix = options.value('prefix')
  if (prefix !== null) return readBelow(git, tree, prefix)
  if (options.has('m') && index.unmergedPaths().length > 0) throw fatal('You need to resolve your current index first')
  if (options.has('m')) await refuseChanged(git, tree, options.has('q|quiet') || options.has('quiet'))
  if (options.has('u')) {
    const changes = await changesBetween(repo, await indexTree(repo), tree)
    if (!options.has('reset')) refuseObstacles(await obstaclesTo(repo, await indexTree(repo), changes), 'merge')
    await applyChanges(repo, changes)
  } else {
    const files = await flatTree(repo, tree)
    const isKept = options.has('m') || options.has('reset')
    for (const { path } of [...index.entries]) if (!files.has(path) || !isKept) index.remove(path)
    for (const [path, state] of files)
      if (index.get(path)?.oid !== state.oid || index.get(path)?.mode !== state.mode)
        index.put({ path, ...state, ...NO_STAT })
  }
  await repo.saveIndex(index)
  return 0
}

/** Files that the tree would replace or remove must be unchanged in the working tree. */
async function refuseChanged(git: Invocation, tree: string, isQuiet: boolean): Promise<void> {
  const repo = git.repo()
  const files = await flatTree(repo, tree)
  for (const { path, before, after } of await unstagedChanges(repo)) {
    const wanted = files.get(path)
    if (after === null || (wanted && before && sameState(wanted, before))) continue
    throw new GitFailure(isQuiet ? '' : `error: Entry '${path}' not uptodate. Cannot merge.`, 128)
  }
}

async function readBelow(git: Invocation, tree: string, prefix: string): Promise<number> {
  const repo = git.repo()
  const index = await repo.index()
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  for (const [path, state] of await flatTree(repo, tree)) {
    if (index.get(folder + path))
      throw new GitFailure(`error: Entry '${folder}${path}' overlaps with '${folder}${path}'.  Cannot bind.`, 128)
    if (!isSafePath(folder + path)) throw fatal(`invalid path '${folder}${path}'`)
    index.put({ path: folder + path, ...state, ...NO_STAT })
  }
  await repo.saveIndex(index)
  return 0
}

/** Stores a tree from lines in the format of `ls-tree`. */
export async function makeTree(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('mktree', ['z', 'missing', 'batch'], args)
  if (options.has('batch')) throw fatal('git mktree --batch is not available here')
  const repo = git.repo()
  const entries: TreeEntry[] = []
  for (const line of git.stdin.split(options.has('z') ? '\0' : '\n').filter((text) => text !== '')) {
    const match = /^(\d{6}) (blob|tree|commit) ([0-9a-f]{40})(?: +[\d-]+)?\t(.+)$/s.exec(line)
    if (!match) throw fatal(`input format error: ${line}`)
    const [, mode = '', type = '', oid = '', name = ''] = match
    if (name.includes('/')) throw fatal(`path ${name} contains slash`)
    const kind = Number.parseInt(mode, 8)
    const wanted = kind === MODE.tree ? 'tree' : kind === MODE.gitlink ? 'commit' : 'blob'
    if (wanted !== type) throw fatal(`entry '${name}' object type (${type}) doesn't match mode type (${wanted})`)
    const there = kind === MODE.gitlink ? null : await repo.objects.find(oid)
    if (kind !== MODE.gitlink && !options.has('missing') && !there)
      throw fatal(`entry '${name}' object ${oid} is unavailable`)
    entries.push({ mode: kind, name, oid })
  }
  git.line(await repo.objects.write('tree', formatTree(entries)))
  return 0
}
