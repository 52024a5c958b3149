// Joins two trees that grew from one: path by path, and line by line where both changed the same file.

import { textIfAny } from '../diff.ts'
import { byteOrder, utf8 } from './bytes.ts'
import { type MergeLabels, mergeText } from './merge-text.ts'
import { type FileState, MODE, sameState } from './objects.ts'
import type { Repository } from './repository.ts'
import { diffTrees, flatTree } from './tree.ts'

export interface Conflict {
  path: string
  base: FileState | null
  ours: FileState | null
  theirs: FileState | null
  /** What the working tree gets: the file with marks in it, or one of the sides. */
  shown: FileState | null
}

export interface MergedTrees {
  /** What differs from our side without conflict. Null removes the file. */
  changes: Map<string, FileState | null>
  conflicts: Conflict[]
  /** What git says about it, path by path. */
  messages: string[]
}

type Three = { path: string; base: FileState | null; ours: FileState | null; theirs: FileState | null }

export async function mergeTrees(
  repo: Repository,
  [base, ours, theirs]: readonly [string | null, string | null, string | null],
  labels: MergeLabels,
): Promise<MergedTrees> {
  const merged: MergedTrees = { changes: new Map(), conflicts: [], messages: [] }
  const mine = await flatTree(repo, ours)
  const theirChanges: { path: string; base: FileState | null; theirs: FileState | null }[] = []
  await diffTrees(repo, [base, theirs], (path, before, after) => {
    theirChanges.push({ path, base: before, theirs: after })
  })
  for (const change of theirChanges.sort((a, b) => byteOrder(a.path, b.path))) {
    await mergePath(repo, { ...change, ours: mine.get(change.path) ?? null }, { merged, labels })
  }
  markFolderClashes(merged, mine)
  return merged
}

/** Their side differs from the base here. */
async function mergePath(
  repo: Repository,
  three: Three,
  { merged, labels }: { merged: MergedTrees; labels: MergeLabels },
): Promise<void> {
  const { path, base, ours, theirs } = three
  if (sameState(ours, theirs)) return
  if (sameState(ours, base)) {
    merged.changes.set(path, theirs)
    return
  }
  if (!ours || !theirs) {
    const [gone, kept] = ours ? [labels.theirs, labels.ours] : [labels.ours, labels.theirs]
    const message = `CONFLICT (modify/delete): ${path} deleted in ${gone} and modified in ${kept}.  Version ${kept} of ${path} left in tree.`
    merged.messages.push(message)
    merged.conflicts.push({ ...three, shown: ours ?? theirs })
    return
  }
  const mode = base && ours.mode === base.mode ? theirs.mode : ours.mode
  if (ours.oid === theirs.oid || (base && theirs.oid === base.oid)) {
    merged.changes.set(path, { mode, oid: ours.oid })
    return
  }
  if (base && ours.oid === base.oid) {
    merged.changes.set(path, { mode, oid: theirs.oid })
    return
  }
  const text = await mergeContents(repo, three, labels)
  const kind = base ? 'content' : 'add/add'
  if (text === null) {
    const message = `CONFLICT (${kind}): Merge conflict in ${path}`
    const warning = `warning: Cannot merge binary files: ${path} (${labels.ours} vs. ${labels.theirs})`
    merged.messages.push(warning, `Auto-merging ${path}`, message)
    merged.conflicts.push({ ...three, shown: ours })
    return
  }
  const oid = await repo.objects.write('blob', utf8(text.text))
  merged.messages.push(`Auto-merging ${path}`)
  if (text.conflicts === 0) {
    merged.changes.set(path, { mode, oid })
    return
  }
  merged.messages.push(`CONFLICT (${kind}): Merge conflict in ${path}`)
  merged.conflicts.push({ ...three, shown: { mode, oid } })
}

async function mergeContents(repo: Repository, { base, ours, theirs }: Three, labels: MergeLabels) {
  const texts: string[] = []
  for (const state of [base, ours, theirs]) {
    if (state && state.mode !== MODE.file && state.mode !== MODE.executable) return null
    const bytes = state ? (await repo.objects.read(state.oid)).bytes : utf8('')
    const text = textIfAny(bytes)
    if (text === null) return null
    texts.push(text)
  }
  const [before = '', mine = '', yours = ''] = texts
  return mergeText(before, [mine, yours], labels)
}

/** A file of one side where the other has a folder: the folder stays, the file is left to the user. */
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
