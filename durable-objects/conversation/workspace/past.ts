// The workspace as it was when an event was the newest, read-only. It has the interface of a file tree. The rows of
// that moment are read once and stay in memory for one request; contents are read on demand.

import { joinBytes } from '../../../src/lib/bytes.ts'
import {
  type DirectoryEntry,
  type FileStat,
  type FileSystem,
  FileSystemError,
  isFileError,
  type Pack,
  type PackedFile,
  SCANNED_BYTES,
  type ScannedEntry,
} from '../../../src/workspace/file-system.ts'
import { WorkspaceObjects } from './objects.ts'
import type { PackedForms } from './packed-forms.ts'
import { statOf } from './reader.ts'
import type { NodeRow } from './rows.ts'
import { type Nodes, realPathOf, walkNodes } from './tree.ts'
import type { WorkspaceVersions } from './versions.ts'

const NODES_AT_A_TIME = 1_000

class PastNodes implements Nodes {
  readonly #byInode = new Map<number, NodeRow>()
  readonly #byParent = new Map<number, Map<string, NodeRow>>()

  constructor(versions: WorkspaceVersions, event: number) {
    for (let after = 0; ; ) {
      const page = versions.nodes(event, after, NODES_AT_A_TIME)
      for (const node of page) this.#add({ ...node, revision: 0 })
      const last = page.at(-1)
      if (last === undefined) return
      after = last.inode
    }
  }

  node(inode: number): NodeRow | null {
    return this.#byInode.get(inode) ?? null
  }

  child(parent: number, name: string): NodeRow | null {
    return this.#byParent.get(parent)?.get(name) ?? null
  }

  /** Ordered by name. */
  entries(parent: number): NodeRow[] {
    return [...(this.#byParent.get(parent)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  #add(node: NodeRow): void {
    this.#byInode.set(node.inode, node)
    const siblings = this.#byParent.get(node.parent)
    if (siblings === undefined) this.#byParent.set(node.parent, new Map([[node.name, node]]))
    else siblings.set(node.name, node)
  }
}

type PastDeps = { versions: WorkspaceVersions; packed: PackedForms; bucket: R2Bucket; event: number }

export class PastWorkspace implements FileSystem {
  readonly #versions: WorkspaceVersions
  readonly #packed: PackedForms
  readonly #objects: WorkspaceObjects
  readonly #event: number
  readonly #nodes: PastNodes

  constructor({ versions, packed, bucket, event }: PastDeps) {
    this.#versions = versions
    this.#packed = packed
    this.#objects = new WorkspaceObjects(bucket)
    this.#event = event
    this.#nodes = new PastNodes(versions, event)
  }

  exists(path: string): boolean {
    try {
      return walkNodes(this.#nodes, path, true).node !== null
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  stat(path: string): FileStat {
    return statOf(this.#existing(path, true).node)
  }

  lstat(path: string): FileStat {
    return statOf(this.#existing(path, false).node)
  }

  list(path: string): DirectoryEntry[] {
    return this.#nodes.entries(this.#folder(path)).map(({ name, kind }) => ({ name, kind }))
  }

  realPath(path: string): string {
    return realPathOf(this.#existing(path, true))
  }

  readLink(path: string): string {
    const { node } = this.#existing(path, false)
    if (node.target === null) throw new FileSystemError('EINVAL', path)
    return node.target
  }

  async read(path: string): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for await (const part of this.readParts(path)) parts.push(part.slice())
    return joinBytes(parts)
  }

  async *readParts(path: string): AsyncGenerator<Uint8Array> {
    const { node } = this.#existing(path, true)
    if (node.kind !== 'file') throw new FileSystemError('EISDIR', path)
    let left = node.size
    if (node.object !== null) {
      const head = await this.#objects.open(node.object, path)
      if (head === null) throw new FileSystemError('EIO', path, { detail: 'the contents are missing' })
      for await (const part of head) {
        left -= part.byteLength
        yield part
      }
    }
    for (const { bytes } of this.#versions.chunks(this.#event, node.inode)) {
      // Bytes that were appended later are not part of the file at that event.
      if (left <= 0) return
      left -= bytes.byteLength
      yield new Uint8Array(bytes)
    }
  }

  *scan(path: string, pack?: Pack): Generator<ScannedEntry[]> {
    for (const node of this.#nodes.entries(this.#folder(path))) {
      const packed = pack && this.#packedAsNow(node)
      const bytes = packed?.deflated ? null : this.#smallContents(node)
      yield [{ name: node.name, stat: statOf(node), bytes, packed }]
    }
  }

  #packedAsNow({ kind, object, size, inode }: NodeRow): PackedFile | undefined {
    const form = kind === 'file' && object === null ? this.#packed.at(this.#event, inode, this.#versions) : null
    return form?.sizeBytes === size ? form : undefined
  }

  makeDirectory = readOnly
  remove = readOnly
  rename = readOnly
  symlink = readOnly
  chmod = readOnly
  utimes = readOnly
  write = readOnly
  append = readOnly
  stage = readOnly

  #smallContents({ kind, object, size, inode, target }: NodeRow): Uint8Array | null {
    if (target !== null) return new TextEncoder().encode(target)
    if (kind !== 'file' || object !== null || size > SCANNED_BYTES) return null
    const bytes = joinBytes(this.#versions.chunks(this.#event, inode).map((chunk) => new Uint8Array(chunk.bytes)))
    return bytes.subarray(0, size)
  }

  #existing(path: string, follow: boolean) {
    const place = walkNodes(this.#nodes, path, follow)
    if (!place.node) throw new FileSystemError('ENOENT', path)
    return { ...place, node: place.node }
  }

  #folder(path: string): number {
    const { node } = this.#existing(path, true)
    if (node.kind !== 'directory') throw new FileSystemError('ENOTDIR', path)
    return node.inode
  }
}

/** Nothing can be changed in the past. */
function readOnly(): never {
  throw new FileSystemError('EROFS', '/workspace')
}
