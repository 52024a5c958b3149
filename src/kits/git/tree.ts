// Whole trees: as a map of paths, as the difference of two, and created from a list of paths.

import { fatal } from './failure.ts'
import type { ObjectStore } from './object-store.ts'
import { type FileState, formatTree, MODE, parseTree, sameState, type TreeEntry } from './objects.ts'

/** A tree can contain the same subtree many times on every level, and so be practically endless. */
const MAX_TREE_FILES = 100_000
const MAX_DEPTH = 256

/** Gives other work a turn now and then; null if it is not time yet. */
export type Pace = () => Promise<void> | null

export interface TreeReader {
  objects: ObjectStore
  pace: Pace
}

/** One file of the tree; null if there is none. */
export async function stateInTree(reader: TreeReader, treeId: string, path: string): Promise<FileState | null> {
  let at = treeId
  const names = path.split('/')
  for (const [i, name] of names.entries()) {
    const entry = (await entriesOf(reader, at)).get(name)
    if (!entry) return null
    if (i === names.length - 1) return entry.mode === MODE.tree ? null : stateOf(entry)
    if (entry.mode !== MODE.tree) return null
    at = entry.oid
  }
  return null
}

/** Every file of the tree, by path. `treeId` is null for no tree. */
export async function flatTree(reader: TreeReader, treeId: string | null): Promise<Map<string, FileState>> {
  const files = new Map<string, FileState>()
  await diffTrees(reader, [null, treeId], (path, _before, after) => {
    if (after) files.set(path, after)
  })
  return files
}

export type TreeVisit = (path: string, before: FileState | null, after: FileState | null) => void

/** Calls for each different file. Equal subtrees, and those that `enters` excludes, are not read. */
export async function diffTrees(
  reader: TreeReader,
  [before, after]: readonly [string | null, string | null],
  visit: TreeVisit,
  enters: (folder: string) => boolean = () => true,
): Promise<void> {
  let files = 0
  const compare = async (
    prefix: string,
    pair: readonly [string | null, string | null],
    depth: number,
  ): Promise<void> => {
    if (depth > MAX_DEPTH) throw fatal(`a tree is nested deeper than ${MAX_DEPTH} levels`)
    const pause = reader.pace()
    if (pause) await pause
    const [left, right] = [await entriesOf(reader, pair[0]), await entriesOf(reader, pair[1])]
    for (const name of new Set([...left.keys(), ...right.keys()])) {
      const [a, b] = [left.get(name) ?? null, right.get(name) ?? null]
      if (sameState(a, b)) continue
      const path = prefix + name
      if (++files > MAX_TREE_FILES) throw fatal(`a tree has more than ${MAX_TREE_FILES} entries`)
      const [isTreeA, isTreeB] = [a?.mode === MODE.tree, b?.mode === MODE.tree]
      const [fileA, fileB] = [isTreeA ? null : a, isTreeB ? null : b]
      if (fileA || fileB) visit(path, fileA && stateOf(fileA), fileB && stateOf(fileB))
      if ((isTreeA || isTreeB) && enters(`${path}/`)) {
        await compare(`${path}/`, [isTreeA ? (a?.oid ?? null) : null, isTreeB ? (b?.oid ?? null) : null], depth + 1)
      }
    }
  }
  if (before !== after) await compare('', [before, after], 0)
}

async function entriesOf({ objects }: TreeReader, oid: string | null): Promise<Map<string, TreeEntry>> {
  if (oid === null) return new Map()
  const { type, bytes } = await objects.read(oid)
  if (type !== 'tree') throw fatal(`${oid} is a ${type}, not a tree`)
  return new Map(parseTree(bytes).map((entry) => [entry.name, entry]))
}

function stateOf({ mode, oid }: TreeEntry): FileState {
  // Old repositories have files with mode 664.
  const isPlain = (mode & 0o170000) === 0o100000
  return { mode: isPlain ? ((mode & 0o100) !== 0 ? MODE.executable : MODE.file) : mode, oid }
}

/** Stored trees by their contents, for this store, so that unchanged trees are not created again. */
const STORED = new WeakMap<ObjectStore, Map<string, string>>()
const MAX_STORED = 5000

function storedTrees(objects: ObjectStore): Map<string, string> {
  const known = STORED.get(objects)
  if (known && known.size < MAX_STORED) return known
  const fresh = new Map<string, string>()
  STORED.set(objects, fresh)
  return fresh
}

type Folder = { files: TreeEntry[]; folders: Map<string, Folder> }

/** Stores the tree of these files and returns its id. */
export async function writeTree(
  { objects, pace }: TreeReader,
  files: Iterable<{ path: string } & FileState>,
): Promise<string> {
  const stored = storedTrees(objects)
  const root: Folder = { files: [], folders: new Map() }
  for (const { path, mode, oid } of files) {
    const names = path.split('/')
    const name = names.pop() ?? ''
    let folder = root
    for (const part of names) {
      const next = folder.folders.get(part) ?? { files: [], folders: new Map() }
      folder.folders.set(part, next)
      folder = next
    }
    folder.files.push({ mode, name, oid })
  }
  const store = async ({ files: own, folders }: Folder): Promise<string> => {
    const pause = pace()
    if (pause) await pause
    const entries = [...own]
    for (const [name, folder] of folders) entries.push({ mode: MODE.tree, name, oid: await store(folder) })
    const key = entries.map(({ mode, name, oid }) => `${mode} ${oid} ${name}`).join('\0')
    const known = stored.get(key)
    if (known !== undefined) return known
    const oid = await objects.write('tree', formatTree(entries))
    stored.set(key, oid)
    return oid
  }
  return store(root)
}

/** Whether a path may be written in a working tree: no part of it leads out of it or into the repository itself. */
export function isSafePath(path: string): boolean {
  return path !== '' && !path.includes('\0') && path.split('/').every(isSafeName)
}

function isSafeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  // Other systems accept further spellings of `.git`: with dots and blanks at its end, as a short name, with invisible
  // characters. The tree may be checked out on one of them.
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase()
  return !/^(\.git|git~\d+)[ .]*(:.*)?$/.test(plain)
}
