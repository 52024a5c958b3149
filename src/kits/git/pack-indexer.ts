// Indexes an untrusted pack: every object is decompressed once, its size is checked before memory is allocated, and its
// id is computed. The result is git's index of the objects.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { joinBytes } from '../../lib/bytes.ts'
import { bytesOfHex, hexOf } from './bytes.ts'
import { type FailureReason, fatal, type GitFailure } from './failure.ts'
import { CorruptObjectError, type GitObject, type ObjectType, objectId } from './objects.ts'
import { deltaSizes, inflated, MAX_OBJECT_BYTES, type PackEntry, packEntryAt, patched } from './pack-file.ts'
import type { Pace } from './tree.ts'

export interface PackLimits {
  maxObjects: number
  /** The sum of all decompressed objects. */
  maxUnpackedBytes: number
}

/** The objects in a chain from a base to its last delta, which are all in memory at once. */
const MAX_HELD_BYTES = 64 * 1024 * 1024

interface IndexedEntry extends PackEntry {
  offset: number
  crc: number
  oid: string | null
}

const TYPES: Record<number, ObjectType> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const PACK_MAGIC = 0x5041434b // PACK
const HEADER_BYTES = 12
const TRAILER_BYTES = 20

export interface IndexedPack {
  index: Uint8Array
  /** The checksum at its end, which is the name of the pack. */
  checksum: string
  objects: number
}

export interface IndexingOptions {
  limits: PackLimits
  pace: Pace
  /** Finds bases that are not in the pack. */
  stored: (oid: string) => Promise<GitObject | null>
}

export async function indexPack(pack: Uint8Array, options: IndexingOptions): Promise<IndexedPack> {
  const entries = await entriesOf(pack, options)
  const checksum = pack.subarray(pack.byteLength - TRAILER_BYTES)
  const actual = createHash('sha1')
    .update(pack.subarray(0, pack.byteLength - TRAILER_BYTES))
    .digest()
  if (!actual.every((byte, i) => byte === checksum[i])) throw refuse('its checksum does not match')
  return { index: formatIndex(entries, checksum), checksum: hexOf(actual), objects: entries.length }
}

function refuse(why: string, reason: FailureReason = 'refused'): GitFailure {
  return fatal(`the pack from the remote is refused: ${why}`, { reason })
}

async function entriesOf(pack: Uint8Array, options: IndexingOptions): Promise<IndexedEntry[]> {
  try {
    const entries = await scan(pack, options)
    await resolveDeltas(pack, entries, options)
    return entries
  } catch (error) {
    throw error instanceof CorruptObjectError ? refuse(error.message) : error
  }
}

/** Parses every entry; plain objects get their ids. */
async function scan(pack: Uint8Array, { limits, pace }: IndexingOptions): Promise<IndexedEntry[]> {
  const view = new DataView(pack.buffer, pack.byteOffset, pack.byteLength)
  if (pack.byteLength < HEADER_BYTES + TRAILER_BYTES || view.getUint32(0) !== PACK_MAGIC || view.getUint32(4) !== 2) {
    throw refuse('it is no pack of version 2')
  }
  const count = view.getUint32(8)
  if (count > limits.maxObjects)
    throw refuse(`it has ${count} objects, and ${limits.maxObjects} are allowed`, 'too-large')
  const end = pack.byteLength - TRAILER_BYTES
  const entries: IndexedEntry[] = []
  let unpackedBytes = 0
  let at = HEADER_BYTES
  for (let left = count; left > 0; left--) {
    const pause = pace()
    if (pause) await pause
    const entry = packEntryAt(pack, at)
    const { bytes, next } = inflateEntry(pack, entry, end)
    const resultBytes = TYPES[entry.type] ? entry.sizeBytes : deltaSizes(bytes).result
    if (resultBytes > MAX_OBJECT_BYTES) throw refuse(`an object has more than ${MAX_OBJECT_BYTES} bytes`, 'too-large')
    unpackedBytes += resultBytes
    if (unpackedBytes > limits.maxUnpackedBytes)
      throw refuse(`it unpacks to more than ${limits.maxUnpackedBytes} bytes`, 'too-large')
    const type = TYPES[entry.type]
    entries.push({
      ...entry,
      offset: at,
      crc: crc32(pack.subarray(at, next)),
      oid: type ? objectId(type, bytes) : null,
    })
    at = next
  }
  if (at !== end) throw refuse('it has bytes that belong to no object')
  return entries
}

function inflateEntry(
  pack: Uint8Array,
  { bodyAt, sizeBytes }: PackEntry,
  end: number,
): { bytes: Uint8Array; next: number } {
  if (sizeBytes > MAX_OBJECT_BYTES) throw refuse(`an object has more than ${MAX_OBJECT_BYTES} bytes`, 'too-large')
  const { bytes, usedBytes } = inflated(pack.subarray(bodyAt, end), sizeBytes)
  return { bytes, next: bodyAt + usedBytes }
}

type Base = { object: GitObject; key: string }

/** Each base is decompressed once for all its deltas, starting from the top. */
async function resolveDeltas(
  pack: Uint8Array,
  entries: readonly IndexedEntry[],
  { pace, stored }: IndexingOptions,
): Promise<void> {
  const children = deltasByBase(entries)
  const follow = async (open: Base[]): Promise<void> => {
    let heldBytes = 0
    for (let base = open.pop(); base; base = open.pop()) {
      heldBytes -= base.object.bytes.byteLength
      const made = children.get(base.key) ?? []
      children.delete(base.key)
      for (const entry of made) {
        const pause = pace()
        if (pause) await pause
        const object = { type: base.object.type, bytes: applied(pack, base.object, entry) }
        entry.oid = objectId(object.type, object.bytes)
        for (const key of [String(entry.offset), entry.oid]) {
          if (!children.has(key)) continue
          heldBytes += object.bytes.byteLength
          open.push({ object, key })
        }
        if (heldBytes > MAX_HELD_BYTES) throw refuse('its deltas need more memory than there is', 'too-large')
      }
    }
  }
  for (const entry of entries) {
    const type = TYPES[entry.type]
    if (!type || entry.oid === null) continue
    const keys = [String(entry.offset), entry.oid].filter((key) => children.has(key))
    if (keys.length === 0) continue
    const object = { type, bytes: inflated(pack.subarray(entry.bodyAt), entry.sizeBytes).bytes }
    await follow(keys.map((key) => ({ object, key })))
  }
  for (const key of [...children.keys()]) {
    const object = key.length === 40 ? await stored(key) : null
    if (object) await follow([{ object, key }])
  }
  if (children.size > 0) throw refuse('it has deltas without a base')
}

/** The deltas, by the id or the offset of their base. */
function deltasByBase(entries: readonly IndexedEntry[]): Map<string, IndexedEntry[]> {
  const children = new Map<string, IndexedEntry[]>()
  for (const entry of entries) {
    if (entry.oid !== null) continue
    const key = entry.baseId ?? String(entry.baseOffset)
    const known = children.get(key)
    if (known) known.push(entry)
    else children.set(key, [entry])
  }
  return children
}

function applied(pack: Uint8Array, base: GitObject, entry: IndexedEntry): Uint8Array {
  return patched(base.bytes, inflated(pack.subarray(entry.bodyAt), entry.sizeBytes).bytes)
}

function formatIndex(entries: readonly IndexedEntry[], packChecksum: Uint8Array): Uint8Array {
  const sorted = [...entries].sort((a, b) => ((a.oid ?? '') < (b.oid ?? '') ? -1 : 1))
  const count = sorted.length
  const bytes = new Uint8Array(8 + 1024 + count * 28)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0xff744f63)
  view.setUint32(4, 2)
  let at = 0
  for (let byte = 0; byte < 256; byte++) {
    while (at < count && Number.parseInt((sorted[at]?.oid ?? '').slice(0, 2), 16) <= byte) at++
    view.setUint32(8 + byte * 4, at)
  }
  for (const [i, { oid, crc, offset }] of sorted.entries()) {
    bytes.set(bytesOfHex(oid ?? ''), 1032 + i * 20)
    view.setUint32(1032 + count * 20 + i * 4, crc)
    view.setUint32(1032 + count * 24 + i * 4, offset)
  }
  const body = joinBytes([bytes, packChecksum])
  return joinBytes([body, createHash('sha1').update(body).digest()])
}
