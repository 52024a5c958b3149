import { randomUUID } from 'node:crypto'

export type Node =
  | { kind: 'file'; mode: number; bytes: Buffer; mtime: number }
  | { kind: 'directory'; mode: number }
  | { kind: 'symlink'; target: string }
type Change = { revision: number; node: Node | null }
type Entry = {
  path: string
  kind: string
  mode?: number
  mtime?: number
  target?: string
  size?: number
  offset?: number
  length?: number
}
type Incoming = { transfer: number; frames: number; entries: Map<string, Node | null>; parts: Buffer[]; count: number }

/** The object's tree, and for each path when it last changed. */
export class StandInTree {
  epoch: string = randomUUID()
  revision = 0
  lastStored: { transfer: number; revision: number } | null = null
  readonly nodes = new Map<string, Node>()
  readonly #changes = new Map<string, Change>()
  #incoming: Incoming | null = null

  write(path: string, text: string | Buffer, mode = 0o644): void {
    this.set(path, { kind: 'file', mode, bytes: Buffer.from(text), mtime: 1_700_000_000_000 })
  }

  set(path: string, node: Node | null): void {
    this.revision += 1
    this.#apply(path, node)
  }

  text(path: string): string | null {
    const node = this.nodes.get(path)
    return node?.kind === 'file' ? node.bytes.toString() : null
  }

  frames(transfer: number, base: number | null): { frames: Buffer[]; entries: number } {
    const wanted =
      base === null
        ? [...this.nodes].map(([path, node]) => ({ path, node }))
        : [...this.#changes].filter(([, { revision }]) => revision > base).map(([path, { node }]) => ({ path, node }))
    const frames: Buffer[] = []
    let entries: Entry[] = []
    let bytes: Buffer[] = []
    let size = 0
    const flush = () => {
      if (entries.length > 0) frames.push(encode({ t: 'files', transfer, seq: frames.length, entries }, bytes))
      entries = []
      bytes = []
      size = 0
    }
    for (const { path, node } of wanted.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      for (const [entry, piece] of piecesOf(path, node)) {
        if (size + piece.byteLength > 600_000 || entries.length >= 1000) flush()
        entries.push(entry)
        bytes.push(piece)
        size += piece.byteLength
      }
    }
    flush()
    return { frames, entries: wanted.length }
  }

  begin(params: Record<string, unknown>): object {
    if (params.epoch !== this.epoch) throw new Error('an upload for another tree')
    this.#incoming = { transfer: Number(params.transfer), frames: 0, entries: new Map(), parts: [], count: 0 }
    return {}
  }

  receive(head: { transfer: number; seq: number; entries: Entry[] }, bytes: Buffer): void {
    const incoming = this.#incoming
    if (incoming === null || incoming.transfer !== head.transfer || incoming.frames !== head.seq) {
      throw new Error('a frame that no transfer announced')
    }
    incoming.frames += 1
    let at = 0
    for (const entry of head.entries) {
      const length = entry.kind === 'file' ? (entry.length ?? 0) : 0
      this.#receiveOne(incoming, entry, bytes.subarray(at, at + length))
      at += length
    }
    if (at !== bytes.byteLength) throw new Error('bytes that no entry has')
  }

  commit(transfer: number, counts: Record<string, unknown> | null): number {
    const incoming = this.#incoming
    if (incoming === null || incoming.transfer !== transfer) throw new Error(`no transfer ${transfer} is under way`)
    if (incoming.parts.length > 0) throw new Error('half a file')
    if (counts !== null && (counts.frames !== incoming.frames || counts.entries !== incoming.count)) {
      throw new Error(
        `counts that are not right: ${JSON.stringify(counts)} of ${incoming.frames} and ${incoming.count}`,
      )
    }
    this.#incoming = null
    this.revision += 1
    for (const [path, node] of incoming.entries) this.#apply(path, node)
    this.lastStored = { transfer, revision: this.revision }
    return this.revision
  }

  abandon(): void {
    this.#incoming = null
  }

  #receiveOne(incoming: Incoming, entry: Entry, bytes: Buffer): void {
    if ((entry.offset ?? 0) === 0) incoming.count += 1
    if (entry.kind === 'gone') incoming.entries.set(entry.path, null)
    else if (entry.kind === 'directory') incoming.entries.set(entry.path, { kind: 'directory', mode: entry.mode ?? -1 })
    else if (entry.kind === 'symlink') incoming.entries.set(entry.path, { kind: 'symlink', target: entry.target ?? '' })
    else {
      incoming.parts.push(Buffer.from(bytes))
      const whole = Buffer.concat(incoming.parts)
      if (whole.byteLength < (entry.size ?? 0)) return
      if (whole.byteLength !== entry.size) throw new Error('a file of another size')
      incoming.parts = []
      incoming.entries.set(entry.path, { kind: 'file', mode: entry.mode ?? -1, bytes: whole, mtime: entry.mtime ?? -1 })
    }
  }

  #apply(path: string, node: Node | null): void {
    if (node === null) this.nodes.delete(path)
    else this.nodes.set(path, node)
    this.#changes.set(path, { revision: this.revision, node })
  }
}

function piecesOf(path: string, node: Node | null): [Entry, Buffer][] {
  const none = Buffer.alloc(0)
  if (node === null) return [[{ path, kind: 'gone' }, none]]
  if (node.kind === 'directory') return [[{ path, kind: 'directory', mode: node.mode }, none]]
  if (node.kind === 'symlink') return [[{ path, kind: 'symlink', target: node.target }, none]]
  const { bytes, mode, mtime } = node
  const pieces: [Entry, Buffer][] = []
  let offset = 0
  do {
    const piece = bytes.subarray(offset, offset + 500_000)
    const entry = { path, kind: 'file', mode, mtime, size: bytes.byteLength, offset, length: piece.byteLength }
    pieces.push([entry, piece])
    offset += piece.byteLength
  } while (offset < bytes.byteLength)
  return pieces
}

/** A frame as the wire describes it. */
export function encode(head: unknown, bytes: readonly Buffer[]): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.byteLength)
  return Buffer.concat([length, text, ...bytes])
}
