// One pack and its index, read in place: an object is found by a search in the index, and reading it depends only on
// its own size, not on that of the pack.

import { inflateWithin, type Unpacked } from '../../workspace/inflate.ts'
import { bytesOfHex, hexOf } from './bytes.ts'
import { CorruptObjectError, type GitObject, type ObjectType } from './objects.ts'

/** Larger objects are not read: they and the required copies would not fit into memory. */
export const MAX_OBJECT_BYTES = 32 * 1024 * 1024
export const MAX_DELTA_CHAIN = 4096
/** For bases of deltas: neighbors in a pack often have the same base. */
const MAX_REMEMBERED_BYTES = 8 * 1024 * 1024

const TYPES: Record<number, ObjectType> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const OFS_DELTA = 6
const REF_DELTA = 7

const IDX_MAGIC = 0xff744f63
const IDX_HEADER = 8
const IDX_NAMES = IDX_HEADER + 256 * 4

export class PackIndex {
  readonly count: number
  readonly #bytes: Uint8Array
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (bytes.byteLength < IDX_NAMES || this.#view.getUint32(0) !== IDX_MAGIC || this.#view.getUint32(4) !== 2) {
      throw new CorruptObjectError('the index of a pack has an unknown format')
    }
    this.count = this.#fanout(255)
    if (bytes.byteLength < IDX_NAMES + this.count * 28 + 40)
      throw new CorruptObjectError('the index of a pack is cut off')
  }

  get sizeBytes(): number {
    return this.#bytes.byteLength
  }

  /** The offset of the object in the pack, or null. */
  find(oid: string): number | null {
    const at = this.#lowest(bytesOfHex(oid))
    if (at >= this.count || hexOf(this.#name(at)) !== oid) return null
    const offset = this.#view.getUint32(IDX_NAMES + this.count * 24 + at * 4)
    return offset >= 0x80000000 ? null : offset
  }

  idsStartingWith(prefix: string): string[] {
    const found: string[] = []
    for (let at = this.#lowest(bytesOfHex(prefix.padEnd(40, '0'))); at < this.count; at++) {
      const oid = hexOf(this.#name(at))
      if (!oid.startsWith(prefix)) break
      found.push(oid)
    }
    return found
  }

  /** The position of the first name that is not less than this one. */
  #lowest(name: Uint8Array): number {
    const first = name[0] ?? 0
    let low = first === 0 ? 0 : this.#fanout(first - 1)
    let high = this.#fanout(first)
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBelow(this.#name(middle), name)) low = middle + 1
      else high = middle
    }
    return low
  }

  #fanout(byte: number): number {
    return this.#view.getUint32(IDX_HEADER + byte * 4)
  }

  #name(at: number): Uint8Array {
    return this.#bytes.subarray(IDX_NAMES + at * 20, IDX_NAMES + at * 20 + 20)
  }
}

function isBelow(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < 20; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}

/** The header of an entry: its kind, its decompressed size, and the offset of the deflated bytes. */
export interface PackEntry {
  type: number
  sizeBytes: number
  /** The base of a delta: its offset in the pack, or its id. */
  baseOffset: number | null
  baseId: string | null
  bodyAt: number
}

export function packEntryAt(pack: Uint8Array, offset: number): PackEntry {
  let at = offset
  let byte = byteAt(pack, at++)
  const type = (byte >> 4) & 7
  let sizeBytes = byte & 15
  for (let scale = 16; byte & 0x80; scale *= 128) {
    byte = byteAt(pack, at++)
    sizeBytes += (byte & 0x7f) * scale
  }
  if (type === REF_DELTA) {
    const baseId = hexOf(pack.subarray(at, at + 20))
    return { type, sizeBytes, baseOffset: null, baseId, bodyAt: at + 20 }
  }
  if (type !== OFS_DELTA) {
    if (!TYPES[type]) throw new CorruptObjectError('a pack holds an object of an unknown kind')
    return { type, sizeBytes, baseOffset: null, baseId: null, bodyAt: at }
  }
  byte = byteAt(pack, at++)
  let distance = byte & 0x7f
  while (byte & 0x80) {
    byte = byteAt(pack, at++)
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  if (distance <= 0 || distance > offset) throw new CorruptObjectError('a delta in a pack has no base')
  return { type, sizeBytes, baseOffset: offset - distance, baseId: null, bodyAt: at }
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new CorruptObjectError('a pack is cut off')
  return byte
}

/** Decompresses exactly the size in the header. */
export function inflated(deflated: Uint8Array, sizeBytes: number): Unpacked {
  if (sizeBytes > MAX_OBJECT_BYTES) throw new CorruptObjectError(`an object is larger than ${MAX_OBJECT_BYTES} bytes`)
  const unpacked = inflateAtMost(deflated, sizeBytes)
  if (unpacked.bytes.byteLength !== sizeBytes)
    throw new CorruptObjectError('an object has another size than its pack says')
  return unpacked
}

/** Produces at most one byte more than the limit. */
export function inflateAtMost(deflated: Uint8Array, maxBytes: number, expectedBytes = maxBytes): Unpacked {
  try {
    return inflateWithin(deflated, maxBytes + 1, expectedBytes)
  } catch (cause) {
    throw new CorruptObjectError('an object cannot be inflated', { cause })
  }
}

export class Pack {
  readonly #bytes: Uint8Array
  readonly #remembered = new Map<number, GitObject>()
  #rememberedBytes = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get sizeBytes(): number {
    return this.#bytes.byteLength
  }

  /** `other` returns the base of a delta that is given by its id. */
  async read(offset: number, other: (oid: string) => Promise<GitObject>): Promise<GitObject> {
    const chain: { offset: number; delta: Uint8Array }[] = []
    let object: GitObject | null = null
    for (let at = offset; object === null; ) {
      object = this.#remembered.get(at) ?? null
      if (object) break
      const entry = packEntryAt(this.#bytes, at)
      const { bytes: body } = inflated(this.#bytes.subarray(entry.bodyAt), entry.sizeBytes)
      const type = TYPES[entry.type]
      if (type) {
        object = { type, bytes: body }
        this.#remember(at, object)
        break
      }
      if (chain.push({ offset: at, delta: body }) > MAX_DELTA_CHAIN)
        throw new CorruptObjectError('a chain of deltas is too long')
      if (entry.baseOffset === null) object = await other(entry.baseId ?? '')
      else at = entry.baseOffset
    }
    for (const { offset: at, delta } of chain.reverse()) {
      object = { type: object.type, bytes: patched(object.bytes, delta) }
      this.#remember(at, object)
    }
    return object
  }

  #remember(offset: number, object: GitObject): void {
    if (object.bytes.byteLength > MAX_REMEMBERED_BYTES / 4) return
    this.#rememberedBytes += object.bytes.byteLength
    if (this.#rememberedBytes > MAX_REMEMBERED_BYTES) {
      this.#remembered.clear()
      this.#rememberedBytes = object.bytes.byteLength
    }
    this.#remembered.set(offset, object)
  }
}

/** The sizes in the header of a delta: of its base, and of its result. */
export function deltaSizes(delta: Uint8Array): { base: number; result: number; bodyAt: number } {
  const [base, afterBase] = sizeAt(delta, 0)
  const [result, bodyAt] = sizeAt(delta, afterBase)
  return { base, result, bodyAt }
}

function sizeAt(bytes: Uint8Array, from: number): [number, number] {
  let at = from
  let size = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = byteAt(bytes, at++)
    size += (byte & 0x7f) * scale
    if (!(byte & 0x80)) return [size, at]
  }
}

/** Applies a delta to its base: a sequence of copied pieces and literal bytes. */
export function patched(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const { base: baseBytes, result, bodyAt } = deltaSizes(delta)
  if (baseBytes !== base.byteLength || result > MAX_OBJECT_BYTES)
    throw new CorruptObjectError('a delta does not fit its base')
  const made = new Uint8Array(result)
  let to = 0
  for (let at = bodyAt; at < delta.byteLength; ) {
    const command = byteAt(delta, at++)
    let piece: Uint8Array
    if (command & 0x80) {
      let offset = 0
      let length = 0
      for (let i = 0; i < 4; i++) if (command & (1 << i)) offset += byteAt(delta, at++) * 2 ** (8 * i)
      for (let i = 0; i < 3; i++) if (command & (16 << i)) length += byteAt(delta, at++) * 2 ** (8 * i)
      if (length === 0) length = 0x10000
      piece = base.subarray(offset, offset + length)
      if (piece.byteLength !== length) throw new CorruptObjectError('a delta copies from beyond its base')
    } else {
      piece = delta.subarray(at, at + command)
      if (command === 0 || piece.byteLength !== command) throw new CorruptObjectError('a delta is malformed')
      at += command
    }
    if (to + piece.byteLength > result) throw new CorruptObjectError('a delta makes more than it says')
    made.set(piece, to)
    to += piece.byteLength
  }
  if (to !== result) throw new CorruptObjectError('a delta makes less than it says')
  return made
}
