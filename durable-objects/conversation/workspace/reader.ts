// Combines rows and R2 objects into the contents of files. While an object is being read, its file may be replaced and
// the object deleted. A reader whose object is gone starts again from the row.

import { joinBytes } from '../../../src/lib/bytes.ts'
import {
  type FileStat,
  FileSystemError,
  type Pack,
  SCANNED_BYTES,
  type ScannedEntry,
} from '../../../src/workspace/file-system.ts'
import type { WorkspaceContents } from './contents.ts'
import type { WorkspaceObjects } from './objects.ts'
import type { PackedForms } from './packed-forms.ts'
import type { NodeRow } from './rows.ts'
import type { WorkspaceTree } from './tree.ts'

const READ_ATTEMPTS = 3
/**
 * Entries of the first batch of a scan, which is small so that the first bytes are sent soon, and of the other batches.
 */
const FIRST_SCAN = 16
const NEXT_SCAN = 64

type ReaderDeps = {
  tree: WorkspaceTree
  contents: WorkspaceContents
  objects: WorkspaceObjects
  packed: PackedForms
}

export class WorkspaceReader {
  readonly #tree: WorkspaceTree
  readonly #contents: WorkspaceContents
  readonly #objects: WorkspaceObjects
  readonly #packed: PackedForms

  constructor(parts: ReaderDeps) {
    this.#tree = parts.tree
    this.#contents = parts.contents
    this.#objects = parts.objects
    this.#packed = parts.packed
  }

  async read(path: string): Promise<Uint8Array> {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const contents = await this.contentsOf(this.#file(path), path)
      if (contents) return contents
    }
    throw new FileSystemError('EIO', path, { detail: 'the contents are missing' })
  }

  /** Null if the file's object is gone because the file was replaced after the row was read. */
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

  *scan(path: string, pack?: Pack): Generator<ScannedEntry[]> {
    const { node } = this.#tree.existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    let count = FIRST_SCAN
    for (let last = ''; ; ) {
      const few = firstOf(this.#tree.entriesAfter(node.inode, last, count))
      const entries = pack ? this.#packedOnes(few, pack) : this.#scanned(few)
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

  #scanned(nodes: NodeRow[]): ScannedEntry[] {
    const chunks = this.#contents.chunksOf(nodes.filter(isSmall).map(({ inode }) => inode))
    return nodes.map((node) => {
      const bytes = isSmall(node) ? whole(chunks.get(node.inode) ?? []) : null
      return { name: node.name, stat: statOf(node), bytes: node.target === null ? bytes : encoder.encode(node.target) }
    })
  }

  /** Read, packed and kept synchronously, so that no file can change in between. */
  #packedOnes(nodes: NodeRow[], pack: Pack): ScannedEntry[] {
    const kept = this.#packed.of(nodes.filter(isSmall).map(({ inode }) => inode))
    const left = nodes.filter(({ inode }) => !kept.get(inode)?.deflated)
    const read = new Map(this.#scanned(left).map((entry) => [entry.stat.inode, entry]))
    // An empty file has no rows, so no trigger would delete its form.
    const isNew = (node: NodeRow) => isSmall(node) && node.size > 0 && !kept.has(node.inode)
    const made = nodes.filter(isNew).map(({ inode, name }) => {
      return { inode, packed: pack(name, read.get(inode)?.bytes ?? new Uint8Array()) }
    })
    this.#packed.keep(made)
    for (const { inode, packed } of made) kept.set(inode, packed)
    return nodes.map((node) => {
      const entry = read.get(node.inode) ?? { name: node.name, stat: statOf(node), bytes: null }
      return { ...entry, packed: kept.get(node.inode) }
    })
  }
}

const encoder = new TextEncoder()

/** The first nodes: as many as fit into `SCANNED_BYTES`, at least one. */
function firstOf(nodes: NodeRow[]): NodeRow[] {
  let room = SCANNED_BYTES
  return nodes.filter((node, i) => {
    if (isSmall(node)) room -= node.size
    return i === 0 || room > 0
  })
}

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
