// Merges two trees with a common base: path by path, and line by line if both changed the same file.

import { textIfAny } from '../../workspace/diff.ts'
import { byteOrder, utf8 } from './bytes.ts'
import { alignedChanges, type Three } from './merge-renames.ts'
import { type MergeLabels, type MergeStyle, mergeText } from './merge-text.ts'
import { type FileState, MODE, sameState } from './objects.ts'
import type { Repository } from './repository.ts'
import { flatTree } from './tree.ts'

export interface Conflict {
  path: string
  base: FileState | null
  ours: FileState | null
  theirs: FileState | null
  /** The version for the working tree: the file with conflict markers, or one of the sides. */
  shown: FileState | null
}

export interface MergedTrees {
  /** The differences from our side without a conflict. Null removes the file. */
  changes: Map<string, FileState | null>
  conflicts: Conflict[]
  /** Git's messages, path by path. */
  messages: string[]
}

export type TreeMerge = MergeLabels & MergeStyle

type Merging = { merged: MergedTrees; how: TreeMerge; mine: ReadonlyMap<string, FileState> }

export async function mergeTrees(
  repo: Repository,
  [base, ours, theirs]: readonly [string | null, string | null, string | null],
  how: TreeMerge,
): Promise<MergedTrees> {
  const merged: MergedTrees = { changes: new Map(), conflicts: [], messages: [] }
  const mine = await flatTree(repo, ours)
  const threes = await alignedChanges(repo, [base, ours, theirs], mine)
  for (const three of threes.sort((a, b) => byteOrder(a.path, b.path))) {
    const pause = repo.pace()
    if (pause) await pause
    await mergePath(repo, three, { merged, how, mine })
  }
  markFolderClashes(merged, mine)
  return merged
}

/** Their side differs from the base here. */
async function mergePath(repo: Repository, three: Three, merging: Merging): Promise<void> {
  const { base, ours, theirs, apart } = three
  if (apart) return bothRenamed(three, merging)
  if (sameState(ours, theirs)) return settle(three, ours, merging)
  if (sameState(ours, base)) return settle(three, theirs, merging)
  if (!ours || !theirs) return gone(three, merging)
  const mode = base && ours.mode === base.mode ? theirs.mode : ours.mode
  if (ours.oid === theirs.oid || (base && theirs.oid === base.oid))
    return settle(three, { mode, oid: ours.oid }, merging)
  if (base && ours.oid === base.oid) return settle(three, { mode, oid: theirs.oid }, merging)
  await mergeFile(repo, three, { ...merging, mode })
}

/** Sets the result of the file, without a conflict. */
function settle({ path, oursPath }: Three, state: FileState | null, { merged, mine }: Merging): void {
  if (oursPath !== undefined && mine.has(oursPath)) merged.changes.set(oursPath, null)
  if (!sameState(mine.get(path), state)) merged.changes.set(path, state)
}

function clash({ path, oursPath, ...three }: Three, shown: FileState | null, { merged, mine }: Merging): void {
  if (oursPath !== undefined && mine.has(oursPath)) merged.changes.set(oursPath, null)
  merged.conflicts.push({ path, base: three.base, ours: three.ours, theirs: three.theirs, shown })
}

/** One side deleted it, the other changed it. */
function gone(three: Three, merging: Merging): void {
  const { path, basePath, ours, theirs } = three
  const { how, merged } = merging
  const [absent, kept] = ours ? [how.theirs, how.ours] : [how.ours, how.theirs]
  merged.messages.push(
    basePath === undefined || basePath === path
      ? `CONFLICT (modify/delete): ${path} deleted in ${absent} and modified in ${kept}.  Version ${kept} of ${path} left in tree.`
      : `CONFLICT (rename/delete): ${basePath} renamed to ${path} in ${kept}, but deleted in ${absent}.`,
  )
  clash(three, ours ?? theirs, merging)
}

/** Both names are kept, and the user must choose. */
function bothRenamed({ base, ours, theirs, basePath = '', apart, path }: Three, { merged, how }: Merging): void {
  const names = apart ?? { ours: path, theirs: path }
  merged.messages.push(
    `CONFLICT (rename/rename): ${basePath} renamed to ${names.ours} in ${how.ours} and to ${names.theirs} in ${how.theirs}.`,
  )
  merged.conflicts.push(
    { path: basePath, base, ours: null, theirs: null, shown: null },
    { path: names.ours, base: null, ours, theirs: null, shown: ours },
    { path: names.theirs, base: null, ours: null, theirs, shown: theirs },
  )
}

async function mergeFile(repo: Repository, three: Three, merging: Merging & { mode: number }): Promise<void> {
  const { path, base, ours, theirs } = three
  const { merged, how, mode } = merging
  const text = await mergeContents(repo, three, how)
  const kind = base ? 'content' : 'add/add'
  if (text === null) {
    const side = how.favour === 'ours' ? ours : how.favour === 'theirs' ? theirs : null
    merged.messages.push(`warning: Cannot merge binary files: ${path} (${how.ours} vs. ${how.theirs})`)
    merged.messages.push(`Auto-merging ${path}`)
    if (side) return settle(three, side, merging)
    merged.messages.push(`CONFLICT (${kind}): Merge conflict in ${path}`)
    clash(three, ours, merging)
    return
  }
  const oid = await repo.objects.write('blob', utf8(text.text))
  merged.messages.push(`Auto-merging ${path}`)
  if (text.conflicts === 0) return settle(three, { mode, oid }, merging)
  merged.messages.push(`CONFLICT (${kind}): Merge conflict in ${path}`)
  clash(three, { mode, oid }, merging)
}

async function mergeContents(repo: Repository, three: Three, how: TreeMerge) {
  const texts: string[] = []
  for (const state of [three.base, three.ours, three.theirs]) {
    if (state && state.mode !== MODE.file && state.mode !== MODE.executable) return null
    const bytes = state ? (await repo.objects.read(state.oid)).bytes : utf8('')
    const text = textIfAny(bytes)
    if (text === null) return null
    texts.push(text)
  }
  const [before = '', mine = '', yours = ''] = texts
  return mergeText(before, [mine, yours], { ...how, ...labelsFor(three, how) })
}

/** If a file has another name on one side, the labels contain the names. */
function labelsFor({ path, basePath = path, oursPath = path, theirsPath = path }: Three, how: TreeMerge): MergeLabels {
  if (oursPath === theirsPath && basePath === oursPath) return how
  const base = how.base === undefined ? {} : { base: `${how.base}:${basePath}` }
  return { ours: `${how.ours}:${oursPath}`, theirs: `${how.theirs}:${theirsPath}`, ...base }
}

/** A file of one side at the path of the other's folder: the folder stays, the file is left to the user. */
function markFolderClashes(merged: MergedTrees, ours: ReadonlyMap<string, FileState>): void {
  const after = new Set([...ours.keys()].filter((path) => merged.changes.get(path) !== null))
  for (const [path, state] of merged.changes) if (state) after.add(path)
  const folders = new Set<string>()
  for (const path of after) {
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1))
      folders.add(path.slice(0, slash))
  }
  for (const path of after) {
    if (!folders.has(path)) continue
    const [mine, yours] = [ours.get(path) ?? null, merged.changes.get(path) ?? null]
    merged.changes.delete(path)
    merged.messages.push(`CONFLICT (file/directory): directory in the way of ${path}`)
    merged.conflicts.push({ path, base: null, ours: mine, theirs: yours, shown: null })
  }
}
