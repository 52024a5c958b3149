// The changes on the runner since the last sync, ready to be sent. Stamps select the files to read, hashes show the
// differences: a file that was touched, or rewritten with the same bytes, is not sent.

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, unlinkSync, writeSync } from 'node:fs'
import type { FrameEntry } from '../../../src/runners/frames.ts'
import { MAX_PATH_BYTES } from '../../../src/runners/wire.ts'
import { type Folder, isCode, isDiskFailure, openBelow } from './folder.ts'
import { isSameStamp, type Manifest, type ManifestEntry, type Stamp, stampOf } from './manifest.ts'
import type { SkipReason, Walk, WalkedEntry } from './walk.ts'

/** One path to send. `bytes`: of a small file; a large one is in a copy that does not change while it is sent. */
export type Change = {
  readonly entry: FrameEntry
  /** The state that both sides have after it is stored; null for a deleted path. */
  readonly known: ManifestEntry | null
  readonly bytes: Uint8Array | null
  /** The descriptor of a large file's copy, closed by the reader of the change. */
  readonly copyFd: number | null
}
export type Limits = { readonly fileBytes: number; readonly treeBytes: number }
export type ChangeJob = {
  readonly root: string
  readonly manifest: Manifest
  readonly walk: Walk
  readonly limits: Limits
  /** The path of a large file's copy. */
  readonly copyPath: string
  readonly remark: (text: string) => void
}

/** A larger file is copied before it is sent. */
const IN_MEMORY_BYTES = 4 * 1024 * 1024
/**
 * A file that changes during the read is read this many times; then its current bytes are used, and the next walk finds
 * it again.
 */
const READ_ATTEMPTS = 3

/** Lazily, so that only one file is in memory. Deletions first, the deepest first; then parents before children. */
export function* changesOf(job: ChangeJob): Generator<Change> {
  for (const [path, reason] of job.walk.skipped) job.remark(`${shortPath(path)} ${WHY_SKIPPED[reason]}`)
  yield* gone(job)
  const room = { left: job.limits.treeBytes - bytesSeen(job) }
  for (const [path, seen] of job.walk.seen) {
    const known = job.manifest.get(path)
    if (known !== undefined && isUnchanged(known, seen)) continue
    const change = changeAt(path, seen, { job, known, room })
    if (change !== null) yield change
  }
}

const WHY_SKIPPED: Readonly<Record<SkipReason, string>> = {
  special: 'is a pipe, a socket or a device and stays on the runner.',
  'no-text': 'has a name that is no UTF-8 text and stays on the runner.',
  'too-deep': 'has a path that is too long and stays on the runner.',
  unreadable: 'cannot be read and stays on the runner.',
}

export function shortPath(path: string): string {
  return path.length > 300 ? `${path.slice(0, 300)}…` : path
}

function isUnchanged(known: ManifestEntry, { kind, stamp }: WalkedEntry): boolean {
  if (known.kind !== kind) return false
  return kind === 'directory' ? known.stamp.mode === stamp.mode : isSameStamp(known.stamp, stamp)
}

function* gone({ manifest, walk }: ChangeJob): Generator<Change> {
  const missing: string[] = []
  for (const [path, known] of manifest) {
    const seen = walk.seen.get(path)
    // A folder that became a file: its contents are deleted first, then the folder.
    if (seen !== undefined && (known.kind === 'directory') === (seen.kind === 'directory')) continue
    if (isHidden(path, walk)) continue
    missing.push(path)
  }
  missing.sort((a, b) => b.length - a.length)
  for (const path of missing) yield { entry: { path, kind: 'gone' }, known: null, bytes: null, copyFd: null }
}

/** Whether the path is unknown, because it is below a folder that could not be read. Known paths there count as unchanged. */
function isHidden(path: string, { skipped }: Walk): boolean {
  const names = path.split('/')
  return names.some((_, index) => {
    const reason = skipped.get(names.slice(0, index + 1).join('/'))
    return reason === 'unreadable' || reason === 'too-deep'
  })
}

function bytesSeen({ manifest, walk }: ChangeJob): number {
  let sum = 0
  for (const [path, { kind, stamp }] of manifest)
    if (kind === 'file' && walk.seen.has(path)) sum += Math.max(0, stamp.size)
  return sum
}

type Context = { job: ChangeJob; known: ManifestEntry | undefined; room: { left: number } }

function changeAt(path: string, seen: WalkedEntry, context: Context): Change | null {
  const { job, known } = context
  if (seen.kind === 'directory') {
    const entry: FrameEntry = { path, kind: 'directory', mode: seen.stamp.mode }
    return { entry, known: { ...seen, hash: '' }, bytes: null, copyFd: null }
  }
  const cut = path.lastIndexOf('/')
  let folder: Folder | null = null
  try {
    folder = openBelow(job.root, cut < 0 ? [] : path.slice(0, cut).split('/'))
    const name = path.slice(cut + 1)
    if (seen.kind === 'symlink') return linkChange({ path, folder, name }, seen, context)
    return fileChange({ path, folder, name }, context)
  } catch (error) {
    if (isCode(error, 'EACCES', 'EPERM')) job.remark(`${shortPath(path)} cannot be read and stays on the runner.`)
    else if (isDiskFailure(error)) {
      // Files that need no copy are sent anyway; the next walk tries this one again.
      job.remark(`${shortPath(path)} stays on the runner for now: the disk there has no room for a copy of it.`)
      job.walk.left.push(path)
    }
    // It changed after the walk: the next walk finds the current state.
    else if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO')) throw error
    if (known !== undefined && seen.kind !== known.kind) job.manifest.delete(path)
    return null
  } finally {
    folder?.close()
  }
}

type FolderEntry = { readonly path: string; readonly folder: Folder; readonly name: string }

function linkChange({ path, folder, name }: FolderEntry, seen: WalkedEntry, { job, known }: Context): Change | null {
  const bytes = readlinkSync(folder.at(name), { encoding: 'buffer' })
  const target = bytes.toString()
  if (!Buffer.from(target).equals(bytes) || bytes.byteLength > MAX_PATH_BYTES) {
    job.remark(`${shortPath(path)} is a link whose target is no text and stays on the runner.`)
    return null
  }
  const now: ManifestEntry = { ...seen, hash: target }
  if (known?.kind === 'symlink' && known.hash === target) {
    job.manifest.set(path, now)
    return null
  }
  return { entry: { path, kind: 'symlink', target }, known: now, bytes: null, copyFd: null }
}

function fileChange({ path, folder, name }: FolderEntry, { job, known, room }: Context): Change | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const fd = openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (!stats.isFile()) return null
    const size = Number(stats.size)
    const before = known?.kind === 'file' ? Math.max(0, known.stamp.size) : 0
    const stays = (bytes: number) => isOver(path, { size: bytes, growth: bytes - before }, { job, room })
    if (stays(size)) return null
    const content = stableContent(fd, job.copyPath)
    // It may have grown since.
    if (stays(content.stamp.size)) {
      if (content.copyFd !== null) closeSync(content.copyFd)
      return null
    }
    const now: ManifestEntry = { kind: 'file', stamp: content.stamp, hash: content.hash }
    if (known?.kind === 'file' && known.hash === now.hash && known.stamp.mode === now.stamp.mode) {
      if (content.copyFd !== null) closeSync(content.copyFd)
      job.manifest.set(path, now)
      return null
    }
    const { stamp } = content
    room.left -= stamp.size - before
    const entry: FrameEntry = {
      path,
      kind: 'file',
      mode: stamp.mode,
      mtime: Number(stamp.mtimeNs / 1000n) / 1000,
      size: stamp.size,
    }
    return { entry, known: now, bytes: content.bytes, copyFd: content.copyFd }
  } finally {
    closeSync(fd)
  }
}

/** Larger than the workspace's limit, which is reported. */
function isOver(
  path: string,
  file: { size: number; growth: number },
  { job, room }: Pick<Context, 'job' | 'room'>,
): boolean {
  const limit = overLimit(file, job.limits, room)
  if (limit === null) return false
  job.remark(`${shortPath(path)} (${file.size} bytes) stays on the runner: ${limit}.`)
  job.walk.left.push(path)
  return true
}

function overLimit(file: { size: number; growth: number }, limits: Limits, room: { left: number }): string | null {
  if (file.size > limits.fileBytes) return `a file of the workspace may have ${limits.fileBytes} bytes`
  if (file.growth > room.left) return `the workspace may have ${limits.treeBytes} bytes`
  return null
}

type Content = { stamp: Stamp; hash: string; bytes: Uint8Array | null; copyFd: number | null }

/** The bytes at one time, if the file does not change for long enough. */
function stableContent(fd: number, copyPath: string): Content {
  for (let attempt = 1; ; attempt++) {
    const stamp = stampOf(fstatSync(fd, { bigint: true }))
    const content = stamp.size <= IN_MEMORY_BYTES ? readWhole(fd, stamp) : readToCopy(fd, stamp, copyPath)
    if (attempt >= READ_ATTEMPTS || isSameStamp(stamp, stampOf(fstatSync(fd, { bigint: true })))) return content
    if (content.copyFd !== null) closeSync(content.copyFd)
  }
}

function readWhole(fd: number, stamp: Stamp): Content {
  const bytes = Buffer.alloc(stamp.size)
  let size = 0
  for (let got = -1; got !== 0 && size < stamp.size; size += got)
    got = readSync(fd, bytes, size, stamp.size - size, size)
  const read = bytes.subarray(0, size)
  const hash = createHash('sha256').update(read).digest('hex')
  return { stamp: { ...stamp, size }, hash, bytes: read, copyFd: null }
}

function readToCopy(fd: number, stamp: Stamp, copyPath: string): Content {
  const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const copyFd = openSync(copyPath, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
  // Its space is freed when it is closed.
  unlinkSync(copyPath)
  try {
    return { ...copied(fd, stamp, copyFd), bytes: null, copyFd }
  } catch (error) {
    closeSync(copyFd)
    throw error
  }
}

function copied(fd: number, stamp: Stamp, copyFd: number): { stamp: Stamp; hash: string } {
  const hash = createHash('sha256')
  const buffer = Buffer.alloc(1024 * 1024)
  let size = 0
  while (size < stamp.size) {
    const got = readSync(fd, buffer, 0, Math.min(buffer.length, stamp.size - size), size)
    if (got === 0) break
    hash.update(buffer.subarray(0, got))
    for (let at = 0; at < got; ) at += writeSync(copyFd, buffer, at, got - at, size + at)
    size += got
  }
  return { stamp: { ...stamp, size }, hash: hash.digest('hex') }
}
