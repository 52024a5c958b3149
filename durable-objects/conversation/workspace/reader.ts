// Combines rows and R2 objects into the contents of files. While an object is being read, its file may be replaced and the
// object deleted. A reader that finds it gone starts again from the row.

import { joinBytes } from '../../../src/lib/bytes.ts'
import { type FileStat, FileSystemError, SCANNED_BYTES, type ScannedEntry } from '../../../src/workspace/file-system.ts'
import type { WorkspaceContents } from './contents.ts'
import type { WorkspaceObjects } from './objects.ts'
import type { NodeRow } from './rows.ts'
import type { WorkspaceTree } from './tree.ts'

const READ_ATTEMPTS = 3
/** Entries of the first batch of a scan, which is small so that something arrives soon, and of the others. */
const FIRST_SCAN = 16
const NEXT_SCAN = 64

export class WorkspaceReader {
  readonly #tree: WorkspaceTree
  readonly #contents: WorkspaceContents
  readonly #objects: WorkspaceObjects

  constructor(parts: { tree: WorkspaceTree; contents: WorkspaceContents; objects: WorkspaceObjects }) {
    this.#tree = parts.tree
    this.#contents = parts.contents
    this.#objects = parts.objects
  }

  async read(path: string): Promise<Uint8Array> {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const contents = await this.contentsOf(this.#file(path), path)
      if (contents) return contents
    }
    throw new FileSystemError('EIO', path, { detail: 'the contents are missing' })
  }

  /** Null if the file's object is gone, because the file was replaced after the row was read. */
  async contentsOf(node: NodeRow, path: string): Promise<Uint8Array | null> {
    const chunks = this.#contents.chunks(node.inode).map(({ bytes }) => new Uint8Array(bytes))
    if (node.object === null) return joinBytes(chunks)
    const head = await this.#objects.read(node.object, path)
    return head && joinBytes([head, ...chunks])
  }

  async *readParts(path: string): AsyncGenerator<Uint8Array> {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const node = this.#file(path)
      // Read together with the row; bytes that are appended later are not part of this read.
      const chunks = this.#contents.chunks(node.inode)
      const head = node.object === null ? null : await this.#objects.open(node.object, path)
      if (node.object !== null && head === null) continue
      if (head !== null) yield* head
      for (const { bytes } of chunks) yield new Uint8Array(bytes)
      return
    }
    throw new FileSystemError('EIO', path, { detail: 'the contents are missing' })
  }

  *scan(path: string): Generator<ScannedEntry[]> {
    const { node } = this.#tree.existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    let count = FIRST_SCAN
    for (let last = ''; ; ) {
      const entries = this.#scanned(this.#tree.entriesAfter(node.inode, last, count))
      if (entries.length === 0) return
      yield entries
      last = entries.at(-1)?.name ?? last
      count = NEXT_SCAN
    }
  }

  #file(path: string): NodeRow {
    const { node } = this.#tree.existing(path, true)
    if (node.kind !== 'file') throw new FileSystemError('EISDIR', path)
    return node
  }

  /** The first of the nodes with their contents: as many as `SCANNED_BYTES` are in, and at least one. */
  #scanned(nodes: NodeRow[]): ScannedEntry[] {
    let room = SCANNED_BYTES
    const few = nodes.filter((node, i) => {
      if (isSmall(node)) room -= node.size
      return i === 0 || room > 0
    })
    const chunks = this.#contents.chunksOf(few.filter(isSmall).map(({ inode }) => inode))
    return few.map((node) => {
      const bytes = isSmall(node) ? whole(chunks.get(node.inode) ?? []) : null
      return { name: node.name, stat: statOf(node), bytes: node.target === null ? bytes : encoder.encode(node.target) }
    })
  }
}

const encoder = new TextEncoder()

function whole(chunks: Uint8Array[]): Uint8Array {
  const [first] = chunks
  return first && chunks.length === 1 ? first : joinBytes(chunks)
}

function isSmall({ kind, object, size }: NodeRow): boolean {
  return kind === 'file' && object === null && size <= SCANNED_BYTES
}

export function statOf({ kind, mode, size, mtime, inode }: NodeRow): FileStat {
  return { kind, mode, sizeBytes: size, mtimeMs: mtime, inode }
}
