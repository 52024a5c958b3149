// The walk finds all changes: it reads the stamp of every path, each time. Only the names in a folder are cached, while
// the folder's own stamp shows that none was added or removed: 2,000 files take about 8 ms. It is synchronous: no other
// code of the runner runs in between, so it may change the process's current folder.

import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { MAX_PATH_BYTES, MAX_TRANSFER_ENTRIES } from '../../../src/runners/wire.ts'
import { Folder, isCode, openFrom } from './folder.ts'
import { kindOf, type Stamp, type SyncedKind, stampOf } from './manifest.ts'

export type WalkedEntry = { readonly kind: SyncedKind; readonly stamp: Stamp }
export type Walk = {
  readonly seen: Map<string, WalkedEntry>
  /** Paths that cannot be sent. A folder among them stands for everything below it. */
  readonly skipped: Map<string, SkipReason>
  /** Paths that are not sent by choice. A folder among them stands for everything below it that is not in `seen`. */
  readonly left: string[]
}
export type WalkRules = {
  /** Names, at any depth, and paths that are not synced. */
  readonly names: ReadonlySet<string>
  readonly paths: ReadonlySet<string>
  /** Whether it is sent anyway, because the other side has it or git tracks it. */
  isKept(path: string): boolean
}
export type SkipReason = 'special' | 'no-text' | 'too-deep' | 'unreadable'

/** Each level keeps a folder open. */
export const MAX_DEPTH = 200

export class TooManyEntries extends Error {}

/** The names in a folder, valid as long as it is the same folder with the same change time. */
type Listing = {
  readonly ino: bigint
  readonly ctimeNs: bigint
  readonly names: readonly string[]
  /** The same, relative to the top of the workspace. */
  readonly paths: readonly string[]
}
/**
 * `base`: the nearest open folder above, or the folder itself. `stays`: it is below an excluded path, and is walked for
 * the parts that are synced anyway.
 */
type WalkPosition = { base: Base; path: string; stats: BigIntStats; depth: number; stays: boolean }
type Base = { readonly folder: Folder; readonly prefix: string }
type Search = {
  readonly rules: WalkRules
  readonly found: Walk
  /** From the previous walk; null if nothing of it may be used. */
  readonly before: ReadonlyMap<string, Listing> | null
  readonly after: Map<string, Listing>
  readonly startedNs: bigint
  /** The current folder of this process. */
  entered: Base | null
}

/** A change within one tick of the disk's clock leaves the change time the same, so a recent one proves nothing. */
const SETTLED_NS = 3_000_000_000n
/** For excluded paths: the rest is not listed. */
const MAX_NAMED = 1_000
const STAMPED = { bigint: true, throwIfNoEntry: false } as const

/** A folder was changed while its entries were read by path, so the paths may have led anywhere. */
class Moved extends Error {}

/** The possible errors of a path that was changed, or is too long for the system. */
const BENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']

export class Walker {
  readonly #root: string
  /** Another folder in its place has other files: those of the workspace would count as deleted. */
  readonly #ino: bigint
  #listings: ReadonlyMap<string, Listing> = new Map()

  constructor(root: string) {
    this.#root = root
    this.#ino = lstatSync(root, { bigint: true }).ino
  }

  /** Throws `TooManyEntries`: such a tree is not synced. */
  walk(rules: WalkRules): Walk {
    try {
      return this.#walk(rules, this.#listings)
    } catch (error) {
      // The result of that walk is discarded; the next one uses no path that a program could have changed.
      if (!(error instanceof Moved) && !isCode(error, ...BENT)) throw error
      return this.#walk(rules, null)
    }
  }

  #walk(rules: WalkRules, before: Search['before']): Walk {
    const found: Walk = { seen: new Map(), skipped: new Map(), left: [] }
    const startedNs = BigInt(Date.now()) * 1_000_000n
    const search: Search = { rules, found, before, after: new Map(), startedNs, entered: null }
    const cwd = process.cwd()
    const folder = Folder.root(this.#root)
    try {
      const base = { folder, prefix: '' }
      enter(base, search)
      const stats = lstatSync('.', { bigint: true })
      if (stats.ino !== this.#ino) throw new Error('the folder of the workspace is another one')
      walkFolder({ base, path: '', stats, depth: 0, stays: false }, search)
    } finally {
      process.chdir(cwd)
      folder.close()
    }
    this.#listings = search.after
    return found
  }
}

/** All names of a folder first, then the folders in it. */
function walkFolder(place: WalkPosition, search: Search): void {
  const known = search.before?.get(place.path)
  const isSame = known !== undefined && known.ino === place.stats.ino && known.ctimeNs === place.stats.ctimeNs
  if (isSame) walkKnown(place, known, search)
  else if (place.path === '') walkListed(place, search)
  else walkOpened(place, search)
}

/**
 * Without opening it: by paths, in which a program may have placed a link meanwhile. In that case the folder's change
 * time differs afterwards, and the walk is discarded.
 */
function walkKnown(place: WalkPosition, known: Listing, search: Search): void {
  search.after.set(place.path, known)
  for (const inner of lookAt(place, known, search)) walkFolder(inner, search)
  enter(place.base, search)
  const stats = lstatSync(nameFrom(place.base, place.path), STAMPED)
  if (stats?.ino !== known.ino || stats.ctimeNs !== known.ctimeNs) throw new Moved('a folder was changed in the walk')
}

function walkOpened(place: WalkPosition, search: Search): void {
  const { found } = search
  let folder: Folder
  try {
    folder = openFrom(place.base.folder, nameFrom(place.base, place.path).split('/'))
  } catch (error) {
    // Changed since it was read: the next walk finds the current state.
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) found.seen.delete(place.path)
    else if (isCode(error, 'EACCES', 'EPERM')) found.skipped.set(place.path, 'unreadable')
    else throw error
    return
  }
  try {
    walkListed({ ...place, base: { folder, prefix: `${place.path}/` } }, search)
  } finally {
    folder.close()
  }
}

/** The position's base is the folder itself. */
function walkListed(place: WalkPosition, search: Search): void {
  enter(place.base, search)
  const isSettled = ({ ctimeNs }: BigIntStats) => search.startedNs - ctimeNs > SETTLED_NS
  // Of the open folder, before its names are read: the stamp from above may be of another folder.
  const stats = isSettled(place.stats) ? lstatSync('.', { bigint: true }) : place.stats
  const names = readdirSync('.')
  const paths = place.base.prefix === '' ? names : names.map((name) => place.base.prefix + name)
  const listing = { ino: stats.ino, ctimeNs: stats.ctimeNs, names, paths }
  if (stats !== place.stats && isSettled(stats)) search.after.set(place.path, listing)
  for (const inner of lookAt(place, listing, search)) walkFolder(inner, search)
}

/** Records the entries of the folder, and returns the folders among them. */
function lookAt({ base, depth, stays }: WalkPosition, { names, paths }: Listing, search: Search): WalkPosition[] {
  const { rules, found } = search
  enter(base, search)
  const inner: WalkPosition[] = []
  for (let index = 0; index < names.length; index++) {
    const [name = '', path = ''] = [names[index], paths[index]]
    const isStaying = stays || rules.names.has(name) || rules.paths.has(path)
    if (isStaying && !rules.isKept(path)) {
      if (found.left.length < MAX_NAMED) found.left.push(path)
      continue
    }
    const stats = lstatSync(nameFrom(base, path), STAMPED)
    if (stats === undefined) {
      // Deleted since it was listed, or invalid text: invalid bytes are replaced by a character that does not match the
      // file.
      if (name.includes('\ufffd')) found.skipped.set(path, 'no-text')
      continue
    }
    const kind = kindOf(stats)
    if (kind === 'special') found.skipped.set(path, 'special')
    else if (depth >= MAX_DEPTH || Buffer.byteLength(path) > MAX_PATH_BYTES) found.skipped.set(path, 'too-deep')
    else {
      found.seen.set(path, { kind, stamp: stampOf(stats) })
      if (found.seen.size > MAX_TRANSFER_ENTRIES) throw new TooManyEntries(`more than ${MAX_TRANSFER_ENTRIES} files`)
      if (kind === 'directory') inner.push({ base, path, stats, depth: depth + 1, stays: isStaying })
    }
  }
  return inner
}

function enter(base: Base, search: Search): void {
  if (search.entered === base) return
  base.folder.enter()
  search.entered = base
}

function nameFrom({ prefix }: Base, path: string): string {
  return path === '' ? '.' : path.slice(prefix.length)
}
