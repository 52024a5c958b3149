// Writes a transfer from the service to the disk. A file is written in a folder that is invisible to sandboxes and then
// renamed, so no incomplete file is visible; anything in place of a folder is replaced, including a link; nothing is
// written through a link.

import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { BadFrame, type FrameEntry } from '../../../src/runners/frames.ts'
import { MAX_TRANSFER_ENTRIES } from '../../../src/runners/wire.ts'
import { Folder, isCode } from './folder.ts'
import { isSameStamp, type Manifest, type ManifestEntry, type Stamp, stampOf, UNKNOWN_HASH } from './manifest.ts'
import { removeBelow, writable } from './remove.ts'
import { TreeFolders } from './tree-folders.ts'
import { MAX_DEPTH } from './walk.ts'

export type WriterJob = {
  readonly root: string
  /** Next to the tree, on the same disk: incomplete files, and folders that are being deleted. */
  readonly staging: string
  readonly manifest: Manifest
  readonly exclude: ReadonlySet<string>
  /** Paths that are not synced are kept. */
  readonly staying: ReadonlySet<string>
  /**
   * The whole tree: paths that are not named are deleted. Otherwise changes by programs since the last sync are kept,
   * and sent next.
   */
  readonly isWhole: boolean
  readonly maxBytes: number
}

type OpenFile = { fd: number; entry: FrameEntry; written: number; hash: Hash; isSkipped: boolean }

export class TreeWriter {
  readonly #job: WriterJob
  readonly #trash: Folder
  readonly #folders: TreeFolders
  readonly #named = new Set<string>()
  #open: OpenFile | null = null
  #entries = 0
  #bytes = 0

  constructor(job: WriterJob) {
    this.#job = job
    this.#trash = Folder.root(job.staging)
    this.#folders = new TreeFolders(job.root, job.manifest, this.#trash)
    // From an aborted transfer.
    rmSync(this.#trash.at('incoming'), { force: true })
  }

  get entries(): number {
    return this.#entries
  }

  /** Throws a `BadFrame` for a violation of the protocol. */
  write(entries: readonly FrameEntry[], bytes: Uint8Array): void {
    let at = 0
    for (const entry of entries) {
      const length = entry.kind === 'file' ? (entry.length ?? 0) : 0
      this.#writeOne(entry, bytes.subarray(at, at + length))
      at += length
    }
    // Between two frames a program may move any folder.
    this.#folders.forgetParent()
  }

  finish(): void {
    if (this.#open !== null) throw new BadFrame('a transfer that ends within a file')
    if (this.#job.isWhole) {
      const root = Folder.root(this.#job.root)
      this.#removeUnnamed(root, '')
      root.close()
    }
    this.#folders.setModes()
    this.end()
  }

  /** Closes all open files, finished or not. */
  end(): void {
    if (this.#open !== null) closeSync(this.#open.fd)
    this.#open = null
    this.#folders.forgetParent()
    this.#trash.close()
  }

  #writeOne(entry: FrameEntry, bytes: Uint8Array): void {
    const continues = entry.kind === 'file' && (entry.offset ?? 0) > 0
    if (continues !== (this.#open !== null)) throw new BadFrame('pieces of files that do not follow each other')
    if (continues) {
      this.#writePiece(entry, bytes)
      return
    }
    this.#entries += 1
    if (this.#entries > MAX_TRANSFER_ENTRIES) throw new BadFrame('a transfer of too many entries')
    const names = entry.path.split('/')
    if (names.length > MAX_DEPTH) throw new BadFrame('a path that is too deep')
    this.#nameWithParents(names)
    if (!this.#job.isWhole && this.#wasChangedHere(entry)) {
      this.#job.manifest.set(entry.path, { kind: 'file', stamp: NO_STAMP, hash: UNKNOWN_HASH })
      if (entry.kind === 'gone') this.#job.manifest.delete(entry.path)
      if (entry.kind === 'file') this.#beginFile(entry, bytes, true)
      return
    }
    this.#place(entry, bytes)
  }

  #place(entry: FrameEntry, bytes: Uint8Array): void {
    if (entry.kind === 'gone') this.#remove(entry.path)
    else if (entry.kind === 'directory') this.#makeFolder(entry)
    else if (entry.kind === 'symlink') this.#makeLink(entry)
    else this.#beginFile(entry, bytes, false)
  }

  #nameWithParents(names: readonly string[]): void {
    for (let count = names.length; count > 0; count--) {
      const path = names.slice(0, count).join('/')
      if (this.#named.has(path)) return
      this.#named.add(path)
    }
  }

  /** A folder's permissions may be overwritten, but nothing else that a program created or changed since the last sync. */
  #wasChangedHere(entry: FrameEntry): boolean {
    const known = this.#job.manifest.get(entry.path)
    if (entry.kind === 'directory' || known?.kind === 'directory') return false
    const stats = this.#statOf(entry.path)
    if (stats === null) return known !== undefined && known.hash !== UNKNOWN_HASH
    if (known === undefined) return !stats.isDirectory()
    return !isSameStamp(known.stamp, stampOf(stats))
  }

  #statOf(path: string) {
    const [folder, name] = this.#folders.parentOf(path, false) ?? [null, '']
    return folder?.stat(name) ?? null
  }

  #beginFile(entry: FrameEntry, bytes: Uint8Array, isSkipped: boolean): void {
    const size = entry.size ?? 0
    this.#bytes += size
    if (this.#bytes > this.#job.maxBytes) throw new BadFrame('a transfer that is larger than a workspace may be')
    const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    // The final permissions if the file is complete at once: an incomplete one must stay writable.
    const mode = entry.length === size && !isSkipped ? (entry.mode ?? 0o644) : 0o600
    const fd = openSync(this.#trash.at('incoming'), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, mode)
    this.#open = { fd, entry, written: 0, hash: createHash('sha256'), isSkipped }
    this.#writePiece(entry, bytes)
  }

  #writePiece(piece: FrameEntry, bytes: Uint8Array): void {
    const file = this.#open
    if (
      file === null ||
      file.entry.path !== piece.path ||
      file.entry.size !== piece.size ||
      file.written !== piece.offset
    ) {
      throw new BadFrame('pieces of files that do not follow each other')
    }
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(file.fd, bytes, at, bytes.byteLength - at)
    file.hash.update(bytes)
    file.written += bytes.byteLength
    if (file.written < (piece.size ?? 0)) {
      if (bytes.byteLength === 0) throw new BadFrame('an empty piece of a file')
      return
    }
    this.#open = null
    try {
      if (!file.isSkipped) this.#placeFile(file)
    } finally {
      closeSync(file.fd)
    }
  }

  #placeFile({ fd, entry, hash }: OpenFile): void {
    const seconds = (entry.mtime ?? Date.now()) / 1000
    futimesSync(fd, seconds, seconds)
    const [folder, name] = this.#folders.madeParentOf(entry.path)
    const incoming = this.#trash.at('incoming')
    try {
      writable(folder, () => renameSync(incoming, folder.at(name)))
    } catch (error) {
      if (!isCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw error
      this.#remove(entry.path)
      renameSync(incoming, folder.at(name))
    }
    this.#know(entry.path, { kind: 'file', stamp: withMode(fd, entry.mode ?? 0o644), hash: hash.digest('hex') })
  }

  #makeFolder(entry: FrameEntry): void {
    const [folder, name] = this.#folders.madeParentOf(entry.path)
    this.#folders.ensure(folder, name, entry.path)
    this.#folders.describe(entry.path, entry.mode ?? 0o755)
  }

  #makeLink(entry: FrameEntry): void {
    const [folder, name] = this.#folders.madeParentOf(entry.path)
    const target = entry.target ?? ''
    if (target === '' || target.includes('\0')) throw new BadFrame('a link without a target')
    this.#remove(entry.path)
    writable(folder, () => symlinkSync(target, folder.at(name)))
    const stats = folder.stat(name)
    if (stats !== null) this.#know(entry.path, { kind: 'symlink', stamp: stampOf(stats), hash: target })
  }

  #remove(path: string): void {
    const [folder, name] = this.#folders.parentOf(path, false) ?? [null, '']
    if (folder !== null) removeBelow(folder, name, this.#trash)
    if (this.#job.manifest.get(path)?.kind === 'directory') {
      for (const known of this.#job.manifest.keys()) if (known.startsWith(`${path}/`)) this.#job.manifest.delete(known)
    }
    this.#job.manifest.delete(path)
  }

  #know(path: string, entry: ManifestEntry): void {
    this.#job.manifest.set(path, entry)
  }

  #removeUnnamed(folder: Folder, prefix: string): void {
    for (const one of readdirSync(folder.at(''), { encoding: 'buffer', withFileTypes: true })) {
      const { name } = one
      const text = name.toString()
      const path = prefix + text
      if (this.#job.exclude.has(text) || this.#job.staying.has(path)) continue
      if (!Buffer.from(text).equals(name)) unlinkBytes(folder, name)
      else if (!this.#named.has(path)) {
        removeBelow(folder, text, this.#trash)
        this.#job.manifest.delete(path)
      } else if (one.isDirectory()) this.#removeUnnamedIn(folder, text, path)
    }
  }

  #removeUnnamedIn(folder: Folder, name: string, path: string): void {
    const inner = folder.open(name)
    try {
      this.#removeUnnamed(inner, `${path}/`)
    } finally {
      inner.close()
    }
  }
}

const NO_STAMP = { size: -1, mtimeNs: 0n, ctimeNs: 0n, ino: 0n, mode: 0 }

/** Corrects the permissions after the process's umask, or of a file left in the staging folder. */
function withMode(fd: number, mode: number): Stamp {
  const stamp = stampOf(fstatSync(fd, { bigint: true }))
  if (stamp.mode === mode) return stamp
  fchmodSync(fd, mode)
  return stampOf(fstatSync(fd, { bigint: true }))
}

/** A file whose name is not valid text is in no tree of the service. */
function unlinkBytes(folder: Folder, name: Buffer): void {
  try {
    unlinkSync(Buffer.concat([Buffer.from(`${folder.at('')}/`), name]))
  } catch (error) {
    // A folder with such a name is kept: it is not synced, and is named in the remarks.
    if (!isCode(error, 'EISDIR', 'EPERM', 'ENOENT')) throw error
  }
}
