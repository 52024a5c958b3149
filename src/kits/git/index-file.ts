// The index: the contents of the next commit, and the metadata of the files when they last matched it.

import { createHash } from 'node:crypto'
import type { FileStat } from '../../workspace/file-system.ts'
import { byteOrder, bytesOfHex, hexOf, textOf, utf8 } from './bytes.ts'
import { fatal } from './failure.ts'

export interface IndexEntry {
  path: string
  mode: number
  oid: string
  /** 0, or for an unmerged path 1 (base), 2 (ours) and 3 (theirs). */
  stage: number
  sizeBytes: number
  mtimeMs: number
  inode: number
  /** The second word of flags, which exists from version 3 on. */
  extendedFlags: number
  /** Assumed to be unchanged, whatever the file contains. */
  isAssumed?: boolean
}

const SIGNATURE = 0x44495243 // DIRC
const HEADER_BYTES = 12
const TRAILER_BYTES = 20
const FIXED_BYTES = 62
const EXTENDED = 0x4000
const ASSUMED = 0x8000
/** In the second word of flags: the path will be added, but its contents are not stored yet. */
export const INTENT_TO_ADD = 0x2000
/** The path is not part of the working tree, and is not checked there. */
export const SKIP_WORKTREE = 0x4000
const MAX_NAME = 0xfff
const UINT32 = 2 ** 32

export class GitIndex {
  readonly #entries = new Map<string, IndexEntry>()
  #sorted: IndexEntry[] | null = null

  /** Versions 2, 3 and 4. Data in extensions can be computed again, and is left out. */
  static parse(bytes: Uint8Array): GitIndex {
    const index = new GitIndex()
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (bytes.byteLength < HEADER_BYTES + TRAILER_BYTES || view.getUint32(0) !== SIGNATURE) throw corrupt()
    const version = view.getUint32(4)
    if (version < 2 || version > 4) throw fatal(`index file uses version ${version}, which is not available here`)
    let at = HEADER_BYTES
    let previous = ''
    for (let left = view.getUint32(8); left > 0; left--) {
      const { entry, end } = entryAt({ bytes, view }, { at, version, previous })
      index.set(entry)
      previous = entry.path
      at = end
    }
    return index
  }

  get size(): number {
    return this.#entries.size
  }

  /** In git's order: by the bytes of the path, then by stage. */
  get entries(): readonly IndexEntry[] {
    this.#sorted ??= [...this.#entries.values()].sort((a, b) => byteOrder(a.path, b.path) || a.stage - b.stage)
    return this.#sorted
  }

  get(path: string, stage = 0): IndexEntry | null {
    return this.#entries.get(keyOf(path, stage)) ?? null
  }

  set(entry: IndexEntry): void {
    this.#sorted = null
    this.#entries.set(keyOf(entry.path, entry.stage), entry)
  }

  /** Sets the only entry of a path: unmerged ones are removed, and so are conflicting ones (`a` and `a/b`). */
  put(entry: Omit<IndexEntry, 'stage' | 'extendedFlags'>): void {
    this.remove(entry.path)
    for (let slash = entry.path.indexOf('/'); slash > 0; slash = entry.path.indexOf('/', slash + 1)) {
      this.remove(entry.path.slice(0, slash))
    }
    this.set({ ...entry, stage: 0, extendedFlags: 0 })
  }

  /** All stages. */
  remove(path: string): void {
    this.#sorted = null
    for (let stage = 0; stage <= 3; stage++) this.#entries.delete(keyOf(path, stage))
  }

  unmergedPaths(): string[] {
    return [...new Set(this.entries.filter(({ stage }) => stage > 0).map(({ path }) => path))]
  }

  format(): Uint8Array {
    const names = this.entries.map(({ path }) => utf8(path))
    const lengthOf = (name: Uint8Array, extended: boolean) =>
      (FIXED_BYTES + (extended ? 2 : 0) + name.byteLength + 8) & ~7
    const isExtended = this.entries.some(({ extendedFlags }) => extendedFlags !== 0)
    const total = this.entries.reduce(
      (sum, { extendedFlags }, i) => sum + lengthOf(names[i] ?? utf8(''), extendedFlags !== 0),
      HEADER_BYTES,
    )
    const bytes = new Uint8Array(total + TRAILER_BYTES)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, SIGNATURE)
    view.setUint32(4, isExtended ? 3 : 2)
    view.setUint32(8, this.#entries.size)
    let at = HEADER_BYTES
    this.entries.forEach((entry, i) => {
      const name = names[i] ?? utf8('')
      writeEntry({ bytes, view }, { at, entry, name })
      at += lengthOf(name, entry.extendedFlags !== 0)
    })
    bytes.set(createHash('sha1').update(bytes.subarray(0, total)).digest(), total)
    return bytes
  }
}

function keyOf(path: string, stage: number): string {
  return stage === 0 ? path : `${path}\0${stage}`
}

function corrupt() {
  return fatal('index file corrupt')
}

type Buffers = { bytes: Uint8Array; view: DataView }

function entryAt(
  { bytes, view }: Buffers,
  { at, version, previous }: { at: number; version: number; previous: string },
): { entry: IndexEntry; end: number } {
  if (at + FIXED_BYTES > bytes.byteLength - TRAILER_BYTES) throw corrupt()
  const flags = view.getUint16(at + 60)
  const isExtended = (flags & EXTENDED) !== 0 && version >= 3
  const nameAt = at + FIXED_BYTES + (isExtended ? 2 : 0)
  const { path, end } = version === 4 ? shortenedName(bytes, nameAt, previous) : plainName(bytes, nameAt, at)
  const entry: IndexEntry = {
    path,
    mode: view.getUint32(at + 24),
    oid: hexOf(bytes.subarray(at + 40, at + 60)),
    stage: (flags >> 12) & 3,
    sizeBytes: view.getUint32(at + 36),
    mtimeMs: view.getUint32(at + 8) * 1000 + Math.floor(view.getUint32(at + 12) / 1e6),
    inode: view.getUint32(at + 20),
    extendedFlags: isExtended ? view.getUint16(at + FIXED_BYTES) : 0,
    isAssumed: (flags & ASSUMED) !== 0,
  }
  return { entry, end }
}

function plainName(bytes: Uint8Array, nameAt: number, at: number): { path: string; end: number } {
  const nul = bytes.indexOf(0, nameAt)
  if (nul < 0) throw corrupt()
  return { path: textOf(bytes.subarray(nameAt, nul)), end: at + ((nul - at + 8) & ~7) }
}

/** Version 4: the number of bytes to remove from the previous name, and the text to append. */
function shortenedName(bytes: Uint8Array, nameAt: number, previous: string): { path: string; end: number } {
  let at = nameAt
  let byte = bytes[at++] ?? 0
  let strip = byte & 0x7f
  while (byte & 0x80) {
    byte = bytes[at++] ?? 0
    strip = (strip + 1) * 128 + (byte & 0x7f)
  }
  const nul = bytes.indexOf(0, at)
  const kept = utf8(previous)
  if (nul < 0 || strip > kept.byteLength) throw corrupt()
  return { path: textOf(kept.subarray(0, kept.byteLength - strip)) + textOf(bytes.subarray(at, nul)), end: nul + 1 }
}

function writeEntry(
  { bytes, view }: Buffers,
  { at, entry, name }: { at: number; entry: IndexEntry; name: Uint8Array },
): void {
  const seconds = Math.floor(entry.mtimeMs / 1000)
  const nanoseconds = (entry.mtimeMs - seconds * 1000) * 1e6
  // The change time: the tree has none, so the modification time is used.
  const words = [seconds, nanoseconds, seconds, nanoseconds, 1, entry.inode, entry.mode, 0, 0, entry.sizeBytes]
  words.forEach((word, i) => {
    view.setUint32(at + 4 * i, word % UINT32)
  })
  bytes.set(bytesOfHex(entry.oid), at + 40)
  const isExtended = entry.extendedFlags !== 0
  view.setUint16(
    at + 60,
    (entry.isAssumed ? ASSUMED : 0) |
      (isExtended ? EXTENDED : 0) |
      (entry.stage << 12) |
      Math.min(name.byteLength, MAX_NAME),
  )
  if (isExtended) view.setUint16(at + FIXED_BYTES, entry.extendedFlags)
  bytes.set(name, at + FIXED_BYTES + (isExtended ? 2 : 0))
}

/** Whether the entry only states that the path will be added. */
export function isIntended({ extendedFlags }: IndexEntry): boolean {
  return (extendedFlags & INTENT_TO_ADD) !== 0
}

/** Whether the file counts as unchanged without a check. */
export function isTakenAsIs(entry: IndexEntry): boolean {
  return entry.isAssumed === true || isSkipped(entry)
}

/** Whether the working tree has, or does without, a file of its own. */
export function isSkipped({ extendedFlags }: IndexEntry): boolean {
  return (extendedFlags & SKIP_WORKTREE) !== 0
}

/** The file's metadata in an entry, so that the file need not be read again to detect changes. */
export function statFields({
  sizeBytes,
  mtimeMs,
  inode,
}: FileStat): Pick<IndexEntry, 'sizeBytes' | 'mtimeMs' | 'inode'> {
  return { sizeBytes, mtimeMs, inode }
}

export const NO_STAT = { sizeBytes: 0, mtimeMs: 0, inode: 0 } as const

/**
 * Whether the file has the entry's metadata. A file written at the same time as the index, or later, may have been
 * written again within one clock tick: then its times prove nothing.
 */
export function isUnchanged(entry: IndexEntry, stat: FileStat, indexMtimeMs: number): boolean {
  return (
    entry.mtimeMs === stat.mtimeMs &&
    entry.sizeBytes === stat.sizeBytes % UINT32 &&
    entry.inode === stat.inode % UINT32 &&
    stat.mtimeMs < indexMtimeMs
  )
}
