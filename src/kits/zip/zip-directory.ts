// Reads and validates an archive's metadata. Everything is read from the central directory, and must match the headers
// before the contents: an archive with contradictory data would be one thing to a scanner and another to this code. The
// available libraries merge duplicates, resolve names themselves and do not return the positions of contents, so
// overlaps could not be detected.

import { equalBytes } from '../../lib/bytes.ts'
import {
  ALL_ONES_16,
  ALL_ONES_32,
  CENTRAL_HEADER,
  CENTRAL_HEADER_BYTES,
  ENCRYPTED,
  END,
  END_BYTES,
  END64,
  END64_BYTES,
  EXTRA_TIMESTAMP,
  EXTRA_ZIP64,
  LOCAL_HEADER,
  LOCAL_HEADER_BYTES,
  LOCATOR64,
  LOCATOR64_BYTES,
  MADE_BY_UNIX,
} from './zip-format.ts'

export type ZipEntry = {
  /** Null if it is not in UTF-8. */
  name: string | null
  flags: number
  method: number
  crc: number
  packed: Uint8Array
  /** As stated in the archive. */
  sizeBytes: number
  /** As written in the archive: `YYYY-MM-DD hh:mm`, in the time zone of its creator. */
  changed: string
  /** As precise as the archive has it; a time without a zone counts as UTC. */
  modifiedMs: number
  /** Whether that is in UTC, and not in the creator's local time. */
  hasExactTime: boolean
  /** Null if it was created on a system without modes. */
  unixMode: number | null
}

export type ZipDirectory = { ok: true; entries: ZipEntry[] } | { ok: false; reason: string; isTooMany?: true }

/** The longest comment at the end of an archive. */
const MAX_COMMENT_BYTES = 0xffff

type Extent = { entries: number; sizeBytes: number; offset: number; end: number }

type Claim = Omit<ZipEntry, 'name' | 'packed'> & { rawName: Uint8Array; packedBytes: number; offset: number }

export function readZipDirectory(archive: Uint8Array, maxEntries: number): ZipDirectory {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  const extent = findDirectory(view)
  if (extent === null) return { ok: false, reason: 'It is not a readable ZIP archive' }
  if (extent.entries > maxEntries)
    return {
      ok: false,
      reason: `The archive has too many entries: ${maxEntries} more can be unpacked`,
      isTooMany: true,
    }
  const claims = readClaims(view, extent)
  if (claims === null) return { ok: false, reason: 'The table of contents of the archive is damaged' }
  const starts = claims.map((claim) => startOfContents(view, claim, extent.offset))
  if (starts.includes(null)) return { ok: false, reason: 'The archive contradicts its own table of contents' }
  const places = claims.map(({ packedBytes, offset }, i) => ({ from: offset, to: (starts[i] ?? 0) + packedBytes }))
  if (overlap(places, extent.offset)) return { ok: false, reason: 'Entries of the archive overlap' }
  const entries = claims.map(({ rawName, packedBytes: _, offset: __, ...claim }, i) => ({
    ...claim,
    name: decodeName(rawName),
    packed: archive.subarray(starts[i] ?? 0, places[i]?.to),
  }))
  return { ok: true, entries }
}

/** The comment of a readable archive, such as the commit that it was created from; empty if there is none. */
export function zipComment(archive: Uint8Array): string {
  const at = findEnd(new DataView(archive.buffer, archive.byteOffset, archive.byteLength))
  return at === null ? '' : new TextDecoder().decode(archive.subarray(at + END_BYTES))
}

function findEnd(view: DataView): number | null {
  const size = view.byteLength
  let at = size - END_BYTES
  const first = Math.max(0, at - MAX_COMMENT_BYTES)
  while (at >= first && view.getUint32(at, true) !== END) at--
  return at < first || at + END_BYTES + view.getUint16(at + 20, true) !== size ? null : at
}

/**
 * Null unless the archive has a valid end, with no unknown data before it or between its parts. The last possible end
 * record must be the real one, because readers differ in which one they use.
 */
function findDirectory(view: DataView): Extent | null {
  const at = findEnd(view)
  if (at === null) return null
  const extent = {
    entries: view.getUint16(at + 10, true),
    sizeBytes: view.getUint32(at + 12, true),
    offset: view.getUint32(at + 16, true),
    end: at,
  }
  const isLarge = extent.entries === ALL_ONES_16 || extent.sizeBytes === ALL_ONES_32 || extent.offset === ALL_ONES_32
  const final = isLarge ? (findDirectory64(view, at) ?? extent) : extent
  return final.offset + final.sizeBytes === final.end ? final : null
}

function findDirectory64(view: DataView, end: number): Extent | null {
  const locator = end - LOCATOR64_BYTES
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR64) return null
  const at = Number(view.getBigUint64(locator + 8, true))
  if (at + END64_BYTES > locator || view.getUint32(at, true) !== END64) return null
  return {
    entries: Number(view.getBigUint64(at + 32, true)),
    sizeBytes: Number(view.getBigUint64(at + 40, true)),
    offset: Number(view.getBigUint64(at + 48, true)),
    end: at,
  }
}

function timeText(date: number, time: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${1980 + (date >> 9)}-${two((date >> 5) & 15)}-${two(date & 31)}`
  return `${day} ${two(time >> 11)}:${two((time >> 5) & 63)}`
}

function dosTime(date: number, time: number): number {
  const day = Date.UTC(1980 + (date >> 9), ((date >> 5) & 15) - 1, date & 31)
  return day + ((time >> 11) * 3600 + ((time >> 5) & 63) * 60 + (time & 31) * 2) * 1000
}

/** The extra field with the time of the last change in seconds since 1970; null if there is none. */
function unixTime(view: DataView, from: number, to: number): number | null {
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== EXTRA_TIMESTAMP || at + 9 > to) continue
    return (view.getUint8(at + 4) & 1) === 1 ? view.getInt32(at + 5, true) * 1000 : null
  }
  return null
}

/** Null if the directory does not contain exactly the stated number of entries. */
function readClaims(view: DataView, { entries, offset, end }: Extent): Claim[] | null {
  const claims: Claim[] = []
  let at = offset
  for (let i = 0; i < entries; i++) {
    if (at + CENTRAL_HEADER_BYTES > end || view.getUint32(at, true) !== CENTRAL_HEADER) return null
    const nameAt = at + CENTRAL_HEADER_BYTES
    const extraAt = nameAt + view.getUint16(at + 28, true)
    const commentAt = extraAt + view.getUint16(at + 30, true)
    const next = commentAt + view.getUint16(at + 32, true)
    if (next > end) return null
    const large = numbers64(view, extraAt, commentAt)
    const far = (value: number) => (value === ALL_ONES_32 ? (large.shift() ?? value) : value)
    // The order of the 64-bit values in the extra field.
    const sizeBytes = far(view.getUint32(at + 24, true))
    const packedBytes = far(view.getUint32(at + 20, true))
    claims.push({
      rawName: bytesOf(view, nameAt, extraAt),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      sizeBytes,
      changed: timeText(view.getUint16(at + 14, true), view.getUint16(at + 12, true)),
      hasExactTime: unixTime(view, extraAt, commentAt) !== null,
      modifiedMs:
        unixTime(view, extraAt, commentAt) ?? dosTime(view.getUint16(at + 14, true), view.getUint16(at + 12, true)),
      packedBytes,
      offset: far(view.getUint32(at + 42, true)),
      unixMode: view.getUint8(at + 5) === MADE_BY_UNIX ? view.getUint32(at + 38, true) >>> 16 : null,
    })
    at = next
  }
  return at === end ? claims : null
}

function numbers64(view: DataView, from: number, to: number): number[] {
  for (let at = from; at + 4 <= to; ) {
    const end = Math.min(at + 4 + view.getUint16(at + 2, true), to)
    if (view.getUint16(at, true) === EXTRA_ZIP64) {
      const count = Math.floor((end - at - 4) / 8)
      return Array.from({ length: count }, (_, i) => Number(view.getBigUint64(at + 4 + 8 * i, true)))
    }
    at = end
  }
  return []
}

/** Null if the header before the contents is missing or differs from the directory. */
function startOfContents(view: DataView, claim: Claim, limit: number): number | null {
  const { offset, rawName, flags, method, packedBytes } = claim
  if (offset + LOCAL_HEADER_BYTES > limit || view.getUint32(offset, true) !== LOCAL_HEADER) return null
  const nameAt = offset + LOCAL_HEADER_BYTES
  const extraAt = nameAt + view.getUint16(offset + 26, true)
  const start = extraAt + view.getUint16(offset + 28, true)
  if (start + packedBytes > limit) return null
  const difference = (view.getUint16(offset + 6, true) ^ flags) & ENCRYPTED
  const agrees = difference === 0 && view.getUint16(offset + 8, true) === method
  return agrees && equalBytes(bytesOf(view, nameAt, extraAt), rawName) ? start : null
}

function overlap(places: { from: number; to: number }[], limit: number): boolean {
  const sorted = places.toSorted((a, b) => a.from - b.from)
  return sorted.some(({ to }, i) => to > (sorted[i + 1]?.from ?? limit))
}

/** Without the UTF-8 flag a name may be in any encoding; but if it is valid UTF-8, it almost certainly is UTF-8. */
function decodeName(raw: Uint8Array): string | null {
  try {
    return utf8.decode(raw)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function bytesOf(view: DataView, from: number, to: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + from, to - from)
}
