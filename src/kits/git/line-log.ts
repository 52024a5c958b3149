// The history of some lines of a file: the commits that changed them, and each change.

import { linesOf } from '../../workspace/diff.ts'
import type { LineEdit } from '../../workspace/shifted-edits.ts'
import { blobAt } from './blaming.ts'
import { textOf } from './bytes.ts'
import { gitEdits } from './diffing/line-edits.ts'
import { fatal } from './failure.ts'
import { type Visited, walkHistory } from './history.ts'
import { joinedRanges, type LineRange, parseRange } from './line-ranges.ts'
import { quoted } from './path-quoting.ts'
import { withRenames } from './renames.ts'
import type { Repository } from './repository.ts'
import { treeChanges } from './status.ts'
import { inTopologicalOrder } from './topology.ts'

export interface LineHistory extends Visited {
  /** The commit's change of the lines. */
  patch: string
}

/** The followed lines of one file. */
interface Tracked {
  path: string
  ranges: LineRange[]
}

interface FileDiff {
  from: string | null
  path: string
  before: string[]
  after: string[]
  edits: LineEdit[]
}

/** In the form of `-L`: lines, a colon and a path. */
export async function trackedLines(repo: Repository, oid: string, given: readonly string[]): Promise<Tracked[]> {
  const files = new Map<string, Tracked>()
  const { tree } = await repo.commit(oid)
  for (const text of given) {
    const [, range = '', path = ''] = /^(:?.*?):([^:]+)$/s.exec(text) ?? []
    if (path === '') throw fatal(`-L argument not 'start,end:file' or ':funcname:file': ${text}`)
    const blob = await blobAt(repo, tree, path)
    if (blob === null) throw fatal(`There is no path ${path} in the commit`)
    const lines = linesOf(textOf((await repo.objects.read(blob)).bytes))
    const known = files.get(path) ?? { path, ranges: [] }
    known.ranges = joinedRanges([
      ...known.ranges,
      parseRange(range, lines, { after: known.ranges.at(-1)?.end ?? 0, name: path, by: 'log' }),
    ])
    files.set(path, known)
  }
  return [...files.values()]
}

/** The commits that changed the lines, in topological order. */
export async function* lineHistory(
  repo: Repository,
  starts: { include: string[]; exclude: string[] },
  tracked: readonly Tracked[],
): AsyncGenerator<LineHistory> {
  const visited: Visited[] = []
  for await (const one of walkHistory(repo, starts)) visited.push(one)
  const parents = new Map(visited.map(({ oid, commit }) => [oid, commit.parents]))
  const open = new Map<string, Tracked[]>(starts.include.map((oid) => [oid, [...tracked]]))
  for (const one of inTopologicalOrder(visited, { parents, byDate: false })) {
    const pause = repo.pace()
    if (pause) await pause
    const files = open.get(one.oid)
    if (!files) continue
    open.delete(one.oid)
    const patch = await handDown(repo, one, { files, open })
    if (patch !== null) yield { ...one, patch }
  }
}

type Handing = { files: readonly Tracked[]; open: Map<string, Tracked[]> }

/** The commit's change of the lines; null if they are unchanged. */
async function handDown(repo: Repository, { commit }: Visited, { files, open }: Handing): Promise<string | null> {
  const add = (oid: string, more: readonly Tracked[]) => {
    const all = [...(open.get(oid) ?? [])]
    for (const file of more) {
      const known = all.find(({ path }) => path === file.path)
      if (known) known.ranges = joinedRanges([...known.ranges, ...file.ranges])
      else all.push({ ...file })
    }
    open.set(oid, all)
  }
  const results: { oid: string; patch: string | null; before: Tracked[] }[] = []
  for (const oid of commit.parents) {
    const result = { oid, ...(await acrossCommit(repo, { tree: commit.tree, parent: oid }, files)) }
    // The lines come from a parent with the same lines.
    if (result.patch === null) {
      add(oid, result.before)
      return null
    }
    results.push(result)
  }
  for (const { oid, before } of results) add(oid, before)
  if (commit.parents.length > 1) return null
  const [only] = results
  return only ? only.patch : (await acrossCommit(repo, { tree: commit.tree, parent: null }, files)).patch
}

async function acrossCommit(
  repo: Repository,
  { tree, parent }: { tree: string; parent: string | null },
  files: readonly Tracked[],
): Promise<{ patch: string | null; before: Tracked[] }> {
  const before: Tracked[] = []
  let patch = ''
  for (const file of files) {
    const diff = await fileDiff(repo, { tree, parent }, file.path)
    const touched = diff.edits.filter((edit) => file.ranges.some((range) => overlaps(edit, range)))
    if (diff.from !== null) {
      const ranges = mapped(file.ranges, diff.edits, touched)
      if (ranges.length > 0) before.push({ path: diff.from, ranges })
    }
    if (touched.length > 0) patch += patchText(diff, file.ranges, touched)
  }
  return { patch: patch === '' ? null : patch, before }
}

function overlaps({ from, to }: LineEdit, { start, end }: LineRange): boolean {
  return !(to <= start || end <= from)
}

async function fileDiff(
  repo: Repository,
  { tree, parent }: { tree: string; parent: string | null },
  path: string,
): Promise<FileDiff> {
  const lines = async (oid: string | null) =>
    oid === null ? [] : linesOf(textOf((await repo.objects.read(oid)).bytes))
  const own = await blobAt(repo, tree, path)
  const parentTree = parent === null ? null : (await repo.commit(parent)).tree
  let from: string | null = parentTree !== null && (await blobAt(repo, parentTree, path)) !== null ? path : null
  if (from === null && parentTree !== null) {
    const changes = await withRenames(repo, await treeChanges(repo, parentTree, tree))
    from = changes.find((change) => change.path === path)?.from ?? null
  }
  const old = from === null || parentTree === null ? null : await blobAt(repo, parentTree, from)
  if (old !== null && old === own) return { from, path, before: [], after: [], edits: [] }
  const [before, after] = [await lines(old), await lines(own)]
  const edits = gitEdits(before, after, { byIndent: false, trimsTail: true })
  return { from, path, before, after, edits }
}

/** The earlier positions of the lines: unchanged ones are shifted, changed ones map to the replaced lines. */
function mapped(ranges: readonly LineRange[], edits: readonly LineEdit[], touched: readonly LineEdit[]): LineRange[] {
  const kept = ranges.flatMap((range) => without(range, touched))
  const shifted = kept.map(({ start, end }) => {
    let offset = 0
    for (const edit of edits) if (start >= edit.from) offset += edit.end - edit.start - (edit.to - edit.from)
    return { start: start + offset, end: end + offset }
  })
  const replaced = touched.map(({ start, end }) => ({ start, end })).filter(({ start, end }) => end > start)
  return joinedRanges([...shifted, ...replaced])
}

function without({ start, end }: LineRange, touched: readonly LineEdit[]): LineRange[] {
  const left: LineRange[] = []
  let at = start
  for (const { from, to } of touched) {
    if (to <= at || from >= end) continue
    if (from > at) left.push({ start: at, end: from })
    at = Math.max(at, to)
  }
  if (at < end) left.push({ start: at, end })
  return left
}

function patchText(
  { from, path, before, after }: FileDiff,
  ranges: readonly LineRange[],
  touched: readonly LineEdit[],
): string {
  const old = from === null ? '/dev/null' : quoted(`a/${from}`)
  let text = `diff --git ${quoted(`a/${from ?? path}`)} ${quoted(`b/${path}`)}\n--- ${old}\n+++ ${quoted(`b/${path}`)}\n`
  for (const range of ranges) {
    const own = touched.filter((edit) => edit.to >= range.start && edit.from < range.end)
    const [first, last] = [own[0], own.at(-1)]
    if (!first || !last) continue
    text += hunkHeader(range, first, last)
    let at = range.start
    for (const { start, end, from: target, to } of own) {
      for (; at < target; at++) text += ended(` ${after[at] ?? ''}`)
      for (let i = start; i < end; i++) text += ended(`-${before[i] ?? ''}`)
      for (; at < to && at < range.end; at++) text += ended(`+${after[at] ?? ''}`)
    }
    for (; at < range.end; at++) text += ended(` ${after[at] ?? ''}`)
  }
  return text
}

function hunkHeader({ start, end }: LineRange, first: LineEdit, last: LineEdit): string {
  let from = start < first.from ? first.start - (first.from - start) : first.start
  let to = end > last.to ? last.end + (end - last.to) : last.end
  if (from === 0 && to === 0) from = to = -1
  return `@@ -${from + 1},${to - from} +${start + 1},${end - start} @@\n`
}

function ended(line: string): string {
  return line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`
}
