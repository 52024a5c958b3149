// Changes from the runner, on their way into the workspace. Contents are stored without a path while they arrive, and
// all get their paths in one write. A runner is not trusted: a path is accepted only if its folder really exists there,
// never through a link, and files without room in the workspace are refused by name.

import { BadFrame, type FrameEntry } from '../../../../src/runners/frames.ts'
import { MAX_TRANSFER_ENTRIES, type TransferStored } from '../../../../src/runners/wire.ts'
import { FileSystemError, isFileError, type StagedContents } from '../../../../src/workspace/file-system.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import type { TreeChanges } from './tree-changes.ts'
import { placeOf } from './tree-down.ts'

/** Paths and link targets of a transfer, which are in memory until it is complete. */
const MAX_TEXT_CHARS = 32 * 1024 * 1024
/** The most refused paths that an answer names. */
const MAX_REFUSED = 100

type Refused = TransferStored['refused']
type Arrived = { entry: FrameEntry; contents: StagedContents | null; problem: string | null }
type Growing = { entry: FrameEntry; writer: WritableStreamDefaultWriter<Uint8Array>; staged: Promise<StagedContents> }

export class UpTransfer {
  readonly #files: WorkspaceStore
  readonly #maxFileBytes: number
  readonly #arrived: Arrived[] = []
  #growing: (Growing & { got: number }) | null = null
  #frames = 0
  #textChars = 0

  constructor(files: WorkspaceStore, maxFileBytes: number) {
    this.#files = files
    this.#maxFileBytes = maxFileBytes
  }

  get frames(): number {
    return this.#frames
  }

  get entries(): number {
    return this.#arrived.length
  }

  /** Whether pieces of the last file are still missing. */
  get isWithinFile(): boolean {
    return this.#growing !== null
  }

  /** Throws a `BadFrame` for pieces that do not follow each other. Frames must be passed one at a time. */
  async take(entries: readonly FrameEntry[], bytes: Uint8Array): Promise<void> {
    this.#frames += 1
    let from = 0
    for (const entry of entries) {
      const length = entry.kind === 'file' ? (entry.length ?? 0) : 0
      await this.#one(entry, bytes.subarray(from, from + length))
      from += length
    }
    // Many long paths can take too much memory before their number reaches its limit.
    this.#textChars += entries.reduce((sum, { path, target = '' }) => sum + path.length + target.length, 0)
    if (this.#textChars > MAX_TEXT_CHARS) throw new BadFrame('a transfer whose paths are too long together')
    if (this.#arrived.length > MAX_TRANSFER_ENTRIES) throw new BadFrame('a transfer of too many entries')
  }

  /**
   * Moves all files into the tree, synchronously. Returns what the workspace refused. `isRepeated`: the transfer may
   * already be in the tree, so paths that changed here since are newer and are kept.
   */
  place(changes: TreeChanges, isRepeated: boolean): Refused {
    const refused: Refused = []
    changes.fromRunner(() => {
      for (const { entry, contents, problem } of inOrder(this.#arrived)) {
        if (isRepeated && changes.isDue(entry.path)) {
          contents?.release()
          continue
        }
        const reason = problem ?? this.#placeOne(entry, contents)
        if (reason === null) changes.overwritten(entry.path)
        else if (refused.length < MAX_REFUSED) refused.push({ path: entry.path, reason })
      }
    })
    this.#arrived.length = 0
    return refused
  }

  /** Discards files that arrived and will not be placed. */
  async discard(): Promise<void> {
    const growing = this.#growing
    this.#growing = null
    if (growing !== null) {
      await growing.writer.abort().catch(() => undefined)
      await growing.staged.then((contents) => contents.release()).catch(() => undefined)
    }
    for (const { contents } of this.#arrived) contents?.release()
    this.#arrived.length = 0
  }

  async #one(entry: FrameEntry, bytes: Uint8Array): Promise<void> {
    const growing = this.#growing
    if (growing !== null && (entry.path !== growing.entry.path || entry.offset !== growing.got)) {
      throw new BadFrame('a file whose pieces do not follow each other')
    }
    if (entry.kind !== 'file') return void this.#arrived.push({ entry, contents: null, problem: null })
    if (growing === null && entry.offset !== 0) throw new BadFrame('a file that does not begin at its beginning')
    if ((entry.size ?? 0) > this.#maxFileBytes) return this.#tooLarge(entry)
    if (growing === null && entry.length === entry.size) {
      const contents = await this.#files.stage(once(bytes))
      return void this.#arrived.push({ entry, contents, problem: null })
    }
    await this.#grow(entry, bytes)
  }

  #tooLarge(entry: FrameEntry): void {
    if (entry.offset === 0) this.#arrived.push({ entry, contents: null, problem: 'the file is too large' })
    else throw new BadFrame('pieces of a file that was not taken')
  }

  async #grow(entry: FrameEntry, bytes: Uint8Array): Promise<void> {
    const growing = this.#growing ?? this.#begun(entry)
    this.#growing = growing
    // A copy: the frame's buffer belongs to the caller.
    await growing.writer.write(bytes.slice())
    growing.got += bytes.byteLength
    if (growing.got < (entry.size ?? 0)) return
    this.#growing = null
    await growing.writer.close()
    this.#arrived.push({ entry, contents: await growing.staged, problem: null })
  }

  #begun(entry: FrameEntry): Growing & { got: number } {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    return { entry, writer: writable.getWriter(), staged: this.#files.stage(readable), got: 0 }
  }

  /** Null when the entry is in the tree, else the reason why not. */
  #placeOne(entry: FrameEntry, contents: StagedContents | null): string | null {
    const path = placeOf(entry.path)
    try {
      const folder = path.slice(0, path.lastIndexOf('/'))
      if (this.#files.exists(folder) && this.#files.realPath(folder) !== folder) {
        contents?.release()
        return 'its folder is reached through a link'
      }
      this.#put(path, entry, contents)
      return null
    } catch (error) {
      if (!isFileError(error)) throw error
      contents?.release()
      return error.code === 'ENOENT' && entry.kind === 'gone' ? null : error.message
    }
  }

  #put(path: string, { kind, mode, mtime, target }: FrameEntry, contents: StagedContents | null): void {
    const files = this.#files
    const there = kindAt(files, path)
    if (kind === 'gone') {
      if (there !== null) files.remove(path, { recursive: true })
      return
    }
    if (there !== null && (there !== kind || kind === 'symlink')) files.remove(path, { recursive: true })
    if (kind === 'directory') {
      if (there !== 'directory') files.makeDirectory(path)
      if (mode !== undefined && (files.stat(path).mode & 0o777) !== mode) files.chmod(path, mode)
    } else if (kind === 'symlink') files.symlink(target ?? '', path)
    else if (contents !== null) {
      contents.place(path, mode)
      if (mode !== undefined && (files.stat(path).mode & 0o777) !== mode) files.chmod(path, mode)
      if (mtime !== undefined) files.utimes(path, dateOf(mtime))
    } else throw new FileSystemError('EIO', path, { detail: 'a file without contents' })
  }
}

/** Removals first, then folders before their contents: a runner may send in any order. */
function inOrder(arrived: readonly Arrived[]): Arrived[] {
  const gone = arrived.filter(({ entry }) => entry.kind === 'gone')
  const rest = arrived.filter(({ entry }) => entry.kind !== 'gone')
  const depth = ({ entry }: Arrived) => entry.path.split('/').length
  const folders = rest.filter(({ entry }) => entry.kind === 'directory').sort((a, b) => depth(a) - depth(b))
  return [...gone, ...folders, ...rest.filter(({ entry }) => entry.kind !== 'directory')]
}

function kindAt(files: WorkspaceStore, path: string): 'file' | 'directory' | 'symlink' | null {
  try {
    return files.lstat(path).kind
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

/** A machine's clock, or a program on it, can give a file any time; beyond these limits a `Date` is invalid. */
const MOST_DATE_MS = 8.64e15

const dateOf = (ms: number): number => Math.max(-MOST_DATE_MS, Math.min(MOST_DATE_MS, ms))

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
