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
  /** What is not sent by choice. A folder among them stands for all below it that is not in `seen`. */
  readonly left: string[]
}
export type WalkRules = {
  /** Names, at any depth, and paths of what stays here. */
  readonly names: ReadonlySet<string>
  readonly paths: ReadonlySet<string>
  /** Whether it is sent all the same: the other side has it, or git tracks it. */
  isKept(path: string): boolean
}
export type SkipReason = 'special' | 'no-text' | 'too-deep' | 'unreadable'

/** Each level holds a folder open. */
export const MAX_DEPTH = 200

export class TooManyEntries extends Error {}

/** Throws `TooManyEntries`: such a tree is not synced at all. */
export function walk(root: string, rules: WalkRules): Walk {
  const found: Walk = { seen: new Map(), skipped: new Map(), left: [] }
  const before = process.cwd()
  const folder = Folder.root(root)
  try {
    walkFolder({ folder, prefix: '', depth: 0, stays: false }, { rules, found })
  } finally {
    process.chdir(before)
    folder.close()
  }
  return found
}

/** `stays`: it is below something that stays here, and is looked at for what is kept of it. */
type Place = { folder: Folder; prefix: string; depth: number; stays: boolean }

/** All names of a folder first, then the folders in it. */
function walkFolder({ folder, prefix, depth, stays }: Place, search: Search): void {
  const { rules, found } = search
  folder.enter()
  const inner: { name: string; stays: boolean }[] = []
  for (const name of readdirSync('.')) {
    const path = prefix + name
    const isStaying = stays || rules.names.has(name) || rules.paths.has(path)
    if (isStaying && !rules.isKept(path)) {
      if (found.left.length < MAX_NAMED) found.left.push(path)
      continue
    }
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
      if (kind === 'directory') inner.push({ name, stays: isStaying })
    }
  }
  for (const { name, stays } of inner) walkInto({ folder, prefix: prefix + name, depth, stays }, name, search)
}

const STAMPED = { bigint: true, throwIfNoEntry: false } as const

type Search = { rules: WalkRules; found: Walk }

/** Of what stays: more are no news to anybody. */
const MAX_NAMED = 1_000

function walkInto({ folder, prefix, depth, stays }: Place, name: string, search: Search): void {
  const { found } = search
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
    walkFolder({ folder: inner, prefix: `${prefix}/`, depth: depth + 1, stays }, search)
  } finally {
    inner.close()
  }
}
