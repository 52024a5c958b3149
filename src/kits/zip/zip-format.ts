// The records of a ZIP archive, as defined by PKWARE's APPNOTE.TXT, all numbers little-endian. Sizes and offsets that
// do not fit into 32 bits, and counts that do not fit into 16, are in the ZIP64 records, and all ones elsewhere.

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

/** The creator's system determines the meaning of an entry's attributes; on Unix, the upper half is the file's mode. */
export const MADE_BY_UNIX = 3
export const EXTRA_ZIP64 = 1
export const EXTRA_TIMESTAMP = 0x5455

export const ALL_ONES_16 = 0xffff
export const ALL_ONES_32 = 0xffffffff

/** Deflated contents need version 2.0, ZIP64 4.5. */
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
  /** Including the bits for the kind of file. */
  unixMode: number
  /** The position of its local header. */
  offset: number
}

export function localHeader(entry: NewEntry): Uint8Array {
  const known = entry.describedLater ? { ...entry, crc: 0, packedBytes: 0, sizeBytes: 0 } : entry
  const header = new Header(LOCAL_HEADER_BYTES + entry.name.byteLength + TIMESTAMP_BYTES)
  header.four(LOCAL_HEADER)
  header.two(VERSION)
  header.common(known, TIMESTAMP_BYTES)
  header.all(entry.name)
  header.timestamp(entry)
  return header.bytes
}

/** An archive of entries with their complete compressed contents. */
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
  const extraBytes = TIMESTAMP_BYTES + (far ? OFFSET64_BYTES : 0)
  const header = new Header(CENTRAL_HEADER_BYTES + entry.name.byteLength + extraBytes)
  const version = far ? VERSION_ZIP64 : VERSION
  header.four(CENTRAL_HEADER)
  header.two(version | (MADE_BY_UNIX << 8))
  header.two(version)
  header.common(entry, extraBytes)
  header.two(0) // length of the comment
  header.two(0) // number of the disk
  header.two(0) // internal attributes
  header.four(entry.unixMode * 0x10000)
  header.four(far ? ALL_ONES_32 : entry.offset)
  header.all(entry.name)
  header.timestamp(entry)
  if (far) header.offset64(entry.offset)
  return header.bytes
}

/** The records after the central directory. */
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

/** The maximum of one uncompressed block in a deflated stream. */
const MAX_STORED_BYTES = 0xffff

/** Uncompressed bytes, as a part of a deflated stream that is not its last. */
export function* storedParts(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += MAX_STORED_BYTES) {
    const part = bytes.subarray(from, from + MAX_STORED_BYTES)
    // RFC 1951, 3.2.4: a block that is neither the last nor compressed; its length, and the one's complement of the
    // length.
    yield record([
      [1, 0],
      [2, part.byteLength],
      [2, part.byteLength ^ MAX_STORED_BYTES],
    ])
    yield part
  }
}

/** Including the number before each extra field, and its length. */
const TIMESTAMP_BYTES = 9
const OFFSET64_BYTES = 12

/** A header of an entry, field by field: an archive of small files consists mostly of headers. */
class Header {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(size: number) {
    this.bytes = new Uint8Array(size)
    this.#view = new DataView(this.bytes.buffer)
  }

  two(value: number): void {
    this.#view.setUint16(this.#at, value, true)
    this.#at += 2
  }

  four(value: number): void {
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  all(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#at)
    this.#at += bytes.byteLength
  }

  /** The common fields of the two headers of an entry. */
  common(entry: NewEntry, extraBytes: number): void {
    this.two(NAME_IS_UTF8 | (entry.describedLater ? DESCRIBED_LATER : 0))
    this.two(entry.method)
    this.four(dosTime(entry.modifiedMs))
    this.four(entry.crc)
    this.four(entry.packedBytes)
    this.four(entry.sizeBytes)
    this.two(entry.name.byteLength)
    this.two(extraBytes)
  }

  /** The time in whole seconds of UTC, which the format's own field cannot contain. */
  timestamp({ modifiedMs }: { modifiedMs: number }): void {
    const seconds = Math.min(Math.max(Math.floor(modifiedMs / 1000), 0), 0x7fffffff)
    this.two(EXTRA_TIMESTAMP)
    this.two(5)
    this.bytes[this.#at++] = 1
    this.four(seconds)
  }

  offset64(offset: number): void {
    this.two(EXTRA_ZIP64)
    this.two(8)
    this.#view.setBigUint64(this.#at, BigInt(offset), true)
    this.#at += 8
  }
}

/** From 1980 to 2107, in steps of two seconds: the time in the lower half, the date in the upper half. */
function dosTime(modifiedMs: number): number {
  const at = new Date(Math.min(Math.max(modifiedMs, Date.UTC(1980, 0)), Date.UTC(2107, 11, 31)))
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  const day = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  return time + day * 0x10000
}

/** A number with its size in bytes, or raw bytes. */
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
