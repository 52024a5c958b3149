// JSZip decompresses, but never gets the original archive: the accepted entries are written to a new archive, with
// numbers as names. So no difference in how the library reads names, extra fields or ends can make it find another
// archive than the validated one; and only a few entries are in memory twice at a time.

import { crc32 } from 'node:zlib'
import JSZip from 'jszip'
import type { ZipEntry } from '../zip-directory.ts'
import { wholeArchive } from '../zip-format.ts'

/** How much of an archive is rewritten at a time, if its entries are smaller. */
const TOLD_BYTES = 4 * 1024 * 1024
const TOLD_ENTRIES = 500

/** The library has this method, its types do not. */
type Unpackable = JSZip.JSZipObject & { internalStream(type: 'uint8array'): JSZip.JSZipStreamHelper<Uint8Array> }

/**
 * The contents of each entry, which is stored or deflated; null for one whose length or checksum differs from the
 * archive's metadata. Of an entry with a wrong size, no more than the stated size is kept.
 */
export async function* contentsOf(entries: readonly ZipEntry[]): AsyncGenerator<Uint8Array | null> {
  for (const few of inGroups(entries)) {
    const archive = await JSZip.loadAsync(toldAnew(few))
    for (const [i, entry] of few.entries()) {
      const file = archive.file(String(i))
      yield file && (await unpacked(file as Unpackable, entry))
    }
  }
}

function* inGroups(entries: readonly ZipEntry[]): Generator<ZipEntry[]> {
  let group: ZipEntry[] = []
  let sizeBytes = 0
  for (const entry of entries) {
    const isFull = group.length === TOLD_ENTRIES || sizeBytes + entry.packed.byteLength > TOLD_BYTES
    if (isFull && group.length > 0) {
      yield group
      group = []
      sizeBytes = 0
    }
    group.push(entry)
    sizeBytes += entry.packed.byteLength
  }
  if (group.length > 0) yield group
}

function toldAnew(entries: readonly ZipEntry[]): Uint8Array {
  const about = { describedLater: false, modifiedMs: 0, unixMode: 0 }
  return wholeArchive(
    entries.map(({ method, crc, packed, sizeBytes }, i) => ({
      entry: {
        ...about,
        name: new TextEncoder().encode(String(i)),
        method,
        crc,
        packedBytes: packed.byteLength,
        sizeBytes,
      },
      packed,
    })),
  )
}

function unpacked(file: Unpackable, { sizeBytes, crc }: ZipEntry): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(sizeBytes)
  let filled = 0
  return new Promise((resolve) => {
    const stream = file.internalStream('uint8array')
    stream
      .on('data', (part) => {
        if (filled + part.byteLength <= sizeBytes) {
          bytes.set(part, filled)
          filled += part.byteLength
        } else {
          // Data that is already decompressed still arrives and is dropped here; decompression stops after that.
          filled = Number.POSITIVE_INFINITY
          stream.pause()
          resolve(null)
        }
      })
      // Every error of the library means the same to the caller: the file is damaged.
      .on('error', () => resolve(null))
      .on('end', () => resolve(filled === sizeBytes && crc32(bytes) === crc ? bytes : null))
      .resume()
  })
}
