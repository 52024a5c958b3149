// The records of a ZIP archive, as APPNOTE.TXT of PKWARE lays them out, all numbers little-endian. Sizes and offsets that
// do not fit into 32 bits, and counts that do not fit into 16, stand in the ZIP64 records and are all ones elsewhere.

import { joinBytes } from '../../lib/bytes.ts'

export const LOCAL_HEADER = 0x04034b50
export const LOCAL_HEADER_BYTES = 30
export const CENTRAL_HEADER = 0x02014b50
export const CENTRAL_HEADER_BYTES = 46
export const END = 0x06054b50
export const END_BYTES = 22
export const END64 = 0x06064b50
export const END64_BYTES = 56
export const LOCATOR64 = 0x07064b50
export const LOCATOR64_BYTES = 20
const DESCRIPTOR = 0x08074b50

export const ENCRYPTED = 1
/** Sizes and checksum follow the contents. */
const DESCRIBED_LATER = 8
const NAME_IS_UTF8 = 0x800

export const STORED = 0
export const DEFLATED = 8

/** Who made the entry decides what its attributes mean; Unix keeps the file's mode in their upper half. */
export const MADE_BY_UNIX = 3
export const EXTRA_ZIP64 = 1
export const EXTRA_TIMESTAMP = 0x5455

export const ALL_ONES_16 = 0xffff
export const ALL_ONES_32 = 0xffffffff

/** Reading and writing of deflated contents needs 2.0, ZIP64 4.5. */
const VERSION = 20
const VERSION_ZIP64 = 45

export type NewEntry = {
  name: Uint8Array
  method: number
  /** Whether checksum and sizes are known only after the contents. */
  describedLater: boolean
  crc: number
  packedBytes: number
  sizeBytes: number
  modifiedMs: number
  /** With the bits for the kind of file. */
  unixMode: number
  /** Where its local header begins. */
  offset: number
}

export function localHeader(entry: NewEntry): Uint8Array {
  const known = entry.describedLater ? { crc: 0, packedBytes: 0, sizeBytes: 0 } : entry
  const extra = timestamp(entry)
  return record([
    [4, LOCAL_HEADER],
    [2, VERSION],
    ...common({ ...entry, ...known }, extra.byteLength),
    entry.name,
    extra,
  ])
}

/** An archive of entries whose packed contents are all there. */
export function wholeArchive(entries: readonly { entry: Omit<NewEntry, 'offset'>; packed: Uint8Array }[]): Uint8Array {
  const [contents, directory]: [Uint8Array[], Uint8Array[]] = [[], []]
  let offset = 0
  for (const { entry: told, packed } of entries) {
    const entry = { ...told, offset }
    const header = localHeader(entry)
    contents.push(header, packed)
    directory.push(centralHeader(entry))
    offset += header.byteLength + packed.byteLength
  }
  const sizeBytes = directory.reduce((sum, header) => sum + header.byteLength, 0)
  return joinBytes([...contents, ...directory, endOfArchive({ entries: entries.length, sizeBytes, offset })])
}

export function dataDescriptor({ crc, packedBytes, sizeBytes }: NewEntry): Uint8Array {
  return record([
    [4, DESCRIPTOR],
    [4, crc],
    [4, packedBytes],
    [4, sizeBytes],
  ])
}

export function centralHeader(entry: NewEntry): Uint8Array {
  const far = entry.offset >= ALL_ONES_32
  const offset64: Field[] = [
    [2, EXTRA_ZIP64],
    [2, 8],
    [8, entry.offset],
  ]
  const extra = record([timestamp(entry), ...(far ? offset64 : [])])
  return record([
    [4, CENTRAL_HEADER],
    [1, far ? VERSION_ZIP64 : VERSION],
    [1, MADE_BY_UNIX],
    [2, far ? VERSION_ZIP64 : VERSION],
    ...common(entry, extra.byteLength),
    [2, 0], // length of the comment
    [2, 0], // number of the disk
    [2, 0], // internal attributes
    [4, entry.unixMode * 0x10000],
    [4, far ? ALL_ONES_32 : entry.offset],
    entry.name,
    extra,
  ])
}

/** What stands behind the central directory. */
export function endOfArchive(directory: { entries: number; sizeBytes: number; offset: number }): Uint8Array {
  const { entries, sizeBytes, offset } = directory
  const large = entries >= ALL_ONES_16 || sizeBytes >= ALL_ONES_32 || offset >= ALL_ONES_32
  return record([
    ...(large ? end64(directory) : []),
    [4, END],
    [2, 0],
    [2, 0],
    [2, large ? ALL_ONES_16 : entries],
    [2, large ? ALL_ONES_16 : entries],
    [4, large ? ALL_ONES_32 : sizeBytes],
    [4, large ? ALL_ONES_32 : offset],
    [2, 0], // length of the comment
  ])
}

function end64({ entries, sizeBytes, offset }: { entries: number; sizeBytes: number; offset: number }): Field[] {
  return [
    [4, END64],
    [8, END64_BYTES - 12],
    [1, VERSION_ZIP64],
    [1, MADE_BY_UNIX],
    [2, VERSION_ZIP64],
    [4, 0],
    [4, 0],
    [8, entries],
    [8, entries],
    [8, sizeBytes],
    [8, offset],
    [4, LOCATOR64],
    [4, 0],
    [8, offset + sizeBytes],
    [4, 1],
  ]
}

/** As much as one block of a deflated stream can hold as it is. */
const MAX_STORED_BYTES = 0xffff

/** Bytes as they are, wrapped as a part of a deflated stream that is not its last. */
export function* storedParts(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += MAX_STORED_BYTES) {
    const part = bytes.subarray(from, from + MAX_STORED_BYTES)
    // RFC 1951, 3.2.4: a block that is neither the last nor compressed; its length, and that turned around.
    yield record([
      [1, 0],
      [2, part.byteLength],
      [2, part.byteLength ^ MAX_STORED_BYTES],
    ])
    yield part
  }
}

/** What the two headers of an entry have in common. */
function common(entry: Omit<NewEntry, 'offset' | 'unixMode'>, extraBytes: number): Field[] {
  return [
    [2, NAME_IS_UTF8 | (entry.describedLater ? DESCRIBED_LATER : 0)],
    [2, entry.method],
    ...dosTime(entry.modifiedMs),
    [4, entry.crc],
    [4, entry.packedBytes],
    [4, entry.sizeBytes],
    [2, entry.name.byteLength],
    [2, extraBytes],
  ]
}

/** The time in whole seconds of UTC, which the format's own field cannot say. */
function timestamp({ modifiedMs }: { modifiedMs: number }): Uint8Array {
  const seconds = Math.min(Math.max(Math.floor(modifiedMs / 1000), 0), 0x7fffffff)
  return record([
    [2, EXTRA_TIMESTAMP],
    [2, 5],
    [1, 1],
    [4, seconds],
  ])
}

/** From 1980 to 2107, in steps of two seconds. */
function dosTime(modifiedMs: number): Field[] {
  const at = new Date(Math.min(Math.max(modifiedMs, Date.UTC(1980, 0)), Date.UTC(2107, 11, 31)))
  return [
    [2, (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)],
    [2, ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()],
  ]
}

/** A number and how many bytes it takes, or bytes as they are. */
type Field = Uint8Array | [bytes: 1 | 2 | 4 | 8, value: number]

function record(fields: Field[]): Uint8Array {
  const total = fields.reduce((sum, field) => sum + (field instanceof Uint8Array ? field.byteLength : field[0]), 0)
  const bytes = new Uint8Array(total)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const field of fields) {
    if (field instanceof Uint8Array) bytes.set(field, at)
    else if (field[0] === 1) view.setUint8(at, field[1])
    else if (field[0] === 2) view.setUint16(at, field[1], true)
    else if (field[0] === 4) view.setUint32(at, field[1], true)
    else view.setBigUint64(at, BigInt(field[1]), true)
    at += field instanceof Uint8Array ? field.byteLength : field[0]
  }
  return bytes
}
