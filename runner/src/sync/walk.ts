// The walk is the truth about what changed: every name and its stamp, 2,000 of them in some 10 ms. It does not wait: nothing
// else of the runner happens in between, so it may go from folder to folder as a process does.

import { lstatSync, readdirSync } from 'node:fs'
import { MAX_PATH_BYTES, MAX_TRANSFER_ENTRIES } from '../../../src/runners/wire.ts'
import { Folder, isCode } from './folder.ts'
import { kindOf, type Stamp, type SyncedKind, stampOf } from './manifest.ts'

export type Seen = { readonly kind: SyncedKind; readonly stamp: Stamp }
export type Walk = {
  readonly seen: Map<string, Seen>
  /** What stands there and cannot be sent. A folder among them stands for all below it. */
  readonly skipped: Map<string, SkipReason>
}
export type SkipReason = 'special' | 'no-text' | 'too-deep' | 'unreadable'

/** Each level holds a folder open. */
export const MAX_DEPTH = 200

export class TooManyEntries extends Error {}

/** Throws `TooManyEntries`: such a tree is not synced at all. */
export function walk(root: string, exclude: ReadonlySet<string>): Walk {
  const found: Walk = { seen: new Map(), skipped: new Map() }
  const before = process.cwd()
  const folder = Folder.root(root)
  try {
    walkFolder({ folder, prefix: '', depth: 0 }, exclude, found)
  } finally {
    process.chdir(before)
    folder.close()
  }
  return found
}

type Place = { folder: Folder; prefix: string; depth: number }

/** All names of a folder first, then the folders in it. */
function walkFolder({ folder, prefix, depth }: Place, exclude: ReadonlySet<string>, found: Walk): void {
  folder.enter()
  const inner: string[] = []
  for (const name of readdirSync('.')) {
    if (exclude.has(name)) continue
    const path = prefix + name
    const stats = lstatSync(name, STAMPED)
    if (stats === undefined) {
      // Gone since it was listed, or bytes that are no text: those come back with a sign that no file has.
      if (name.includes('\ufffd')) found.skipped.set(path, 'no-text')
      continue
    }
    const kind = kindOf(stats)
    if (kind === 'special') found.skipped.set(path, 'special')
    else if (depth >= MAX_DEPTH || Buffer.byteLength(path) > MAX_PATH_BYTES) found.skipped.set(path, 'too-deep')
    else {
      found.seen.set(path, { kind, stamp: stampOf(stats) })
      if (found.seen.size > MAX_TRANSFER_ENTRIES) throw new TooManyEntries(`more than ${MAX_TRANSFER_ENTRIES} files`)
      if (kind === 'directory') inner.push(name)
    }
  }
  for (const name of inner) walkInto({ folder, prefix: prefix + name, depth }, name, { exclude, found })
}

const STAMPED = { bigint: true, throwIfNoEntry: false } as const

type Search = { exclude: ReadonlySet<string>; found: Walk }

function walkInto({ folder, prefix, depth }: Place, name: string, { exclude, found }: Search): void {
  let inner: Folder
  try {
    inner = folder.open(name)
  } catch (error) {
    // Changed since it was looked at: the next walk sees what stands there now.
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) found.seen.delete(prefix)
    else if (isCode(error, 'EACCES', 'EPERM')) found.skipped.set(prefix, 'unreadable')
    else throw error
    return
  }
  try {
    walkFolder({ folder: inner, prefix: `${prefix}/`, depth: depth + 1 }, exclude, found)
  } finally {
    inner.close()
  }
}
