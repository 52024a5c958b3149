// The workspace as binary frames for the runner: all of it, or the changes. Small files share a frame, a large one
// takes many. The tree may change while it is being sent; such changes are noted and sent by the next transfer.

import type { FrameEntry } from '../../../../src/runners/frames.ts'
import { type FileStat, FileSystemError, isFileError } from '../../../../src/workspace/file-system.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import { COPIED_ROOT, type TreeChange } from './tree-changes.ts'

/** Bytes of contents and number of entries in a frame; with the longest headers it stays below the wire's limit. */
const FRAME_BYTES = 640 * 1024
const FRAME_ENTRIES = 512
const HEAD_CHARS = 200 * 1024

export type FramePart = { entries: FrameEntry[]; bytes: Uint8Array[] }

type Piece = { entry: FrameEntry; bytes: Uint8Array | null }

/**
 * `changes` null: the whole tree. Throws a file error when a file changed while it was read; the transfer then begins
 * again.
 */
export async function* treeFrames(
  files: WorkspaceStore,
  changes: readonly TreeChange[] | null,
): AsyncGenerator<FramePart> {
  let part: FramePart = { entries: [], bytes: [] }
  let size = 0
  let head = 0
  for await (const { entry, bytes } of pieces(files, changes)) {
    const length = bytes?.byteLength ?? 0
    const isFull = size + length > FRAME_BYTES || part.entries.length >= FRAME_ENTRIES || head > HEAD_CHARS
    if (isFull && part.entries.length > 0) {
      yield part
      part = { entries: [], bytes: [] }
      size = 0
      head = 0
    }
    part.entries.push(entry)
    if (bytes !== null) part.bytes.push(bytes)
    size += length
    head += entry.path.length * 2 + (entry.target?.length ?? 0) * 2 + 120
  }
  if (part.entries.length > 0) yield part
}

async function* pieces(files: WorkspaceStore, changes: readonly TreeChange[] | null): AsyncGenerator<Piece> {
  if (changes === null) return yield* below(files, '')
  const whole = changes.filter(({ withBelow }) => withBelow).map(({ path }) => path)
  const isCovered = (path: string) => whole.some((top) => top === '' || path === top || path.startsWith(`${top}/`))
  for (const path of whole) yield* withBelow(files, path)
  for (const { path } of changes.filter((change) => !change.withBelow && !isCovered(change.path))) {
    yield* alone(files, path)
  }
}

/** The entry and everything below it, which replaces what the runner has there. */
async function* withBelow(files: WorkspaceStore, path: string): AsyncGenerator<Piece> {
  if (path === '') return yield* below(files, '')
  const stat = statAt(files, path)
  yield { entry: { path, kind: 'gone' }, bytes: null }
  if (stat === null) return
  yield* alone(files, path)
  if (stat.kind === 'directory') yield* below(files, path)
}

async function* below(files: WorkspaceStore, path: string): AsyncGenerator<Piece> {
  const folders: string[] = []
  for (const entries of files.scan(path === '' ? COPIED_ROOT : placeOf(path))) {
    for (const { name, stat, bytes } of entries) {
      const inner = path === '' ? name : `${path}/${name}`
      if (stat.kind === 'directory') {
        yield { entry: { path: inner, kind: 'directory', mode: stat.mode & 0o777 }, bytes: null }
        folders.push(inner)
      } else if (stat.kind === 'symlink') {
        yield {
          entry: { path: inner, kind: 'symlink', target: new TextDecoder().decode(bytes ?? new Uint8Array()) },
          bytes: null,
        }
      } else if (bytes !== null && bytes.byteLength <= FRAME_BYTES) yield wholeFile(inner, stat, bytes)
      else yield* largeFile(files, inner, stat)
    }
  }
  for (const folder of folders) yield* below(files, folder)
}

async function* alone(files: WorkspaceStore, path: string): AsyncGenerator<Piece> {
  const stat = statAt(files, path)
  if (stat === null) yield { entry: { path, kind: 'gone' }, bytes: null }
  else if (stat.kind === 'directory') yield { entry: { path, kind: 'directory', mode: stat.mode & 0o777 }, bytes: null }
  else if (stat.kind === 'symlink') {
    yield { entry: { path, kind: 'symlink', target: files.readLink(placeOf(path)) }, bytes: null }
  } else if (stat.sizeBytes <= FRAME_BYTES) yield wholeFile(path, stat, await files.read(placeOf(path)))
  else yield* largeFile(files, path, stat)
}

function wholeFile(path: string, { mode, mtimeMs }: FileStat, bytes: Uint8Array): Piece {
  const length = bytes.byteLength
  return { entry: { path, kind: 'file', mode: mode & 0o777, mtime: mtimeMs, size: length, offset: 0, length }, bytes }
}

async function* largeFile(files: WorkspaceStore, path: string, stat: FileStat): AsyncGenerator<Piece> {
  const { mode, mtimeMs, sizeBytes: size } = stat
  let offset = 0
  for await (const part of files.readParts(placeOf(path))) {
    for (let from = 0; from < part.byteLength; from += FRAME_BYTES) {
      // A copy: the stream reuses its buffer for the next read.
      const bytes = part.slice(from, from + FRAME_BYTES)
      const length = bytes.byteLength
      if (offset + length > size) break
      yield { entry: { path, kind: 'file', mode: mode & 0o777, mtime: mtimeMs, size, offset, length }, bytes }
      offset += length
    }
  }
  if (offset !== size) throw new FileSystemError('EIO', path, { detail: 'it changed while it was read' })
}

/** Null when nothing is at the path. */
function statAt(files: WorkspaceStore, path: string): FileStat | null {
  try {
    return files.lstat(placeOf(path))
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

export function placeOf(path: string): string {
  return `${COPIED_ROOT}/${path}`
}
