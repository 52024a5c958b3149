// An archive changed by `zip`: compressed entries are kept, replaced, added and removed, and the archive is written
// again.

import { crc32, deflateRawSync } from 'node:zlib'
import { DEFLATED, readZipDirectory, STORED, wholeArchive } from '../../../zip/index.ts'
import { MAX_ARCHIVE_ENTRIES } from '../file-walk.ts'

export interface PackedEntry {
  name: string
  method: number
  crc: number
  packed: Uint8Array
  sizeBytes: number
  modifiedMs: number
  unixMode: number
}

const FIRST_TIME = Date.UTC(1980, 0, 1)
const PLAIN_FILE = 0o100644
const PLAIN_FOLDER = 0o040755

/** A text is the error. */
export function entriesOf(archive: Uint8Array): PackedEntry[] | string {
  const directory = readZipDirectory(archive, MAX_ARCHIVE_ENTRIES)
  if (!directory.ok) return directory.reason
  const entries: PackedEntry[] = []
  for (const { name, flags, method, crc, packed, sizeBytes, modifiedMs, unixMode } of directory.entries) {
    if (name === null) return 'a name that is not in UTF-8 cannot be kept here'
    if ((flags & 1) !== 0) return `${name} is encrypted and cannot be kept here`
    const mode = unixMode || (name.endsWith('/') ? PLAIN_FOLDER : PLAIN_FILE)
    entries.push({ name, method, crc, packed, sizeBytes, modifiedMs, unixMode: mode })
  }
  return entries
}

/** Level 0 stores; contents that do not shrink are stored too. */
export function packedEntry(
  about: Pick<PackedEntry, 'name' | 'modifiedMs' | 'unixMode'>,
  bytes: Uint8Array,
  level: number,
): PackedEntry {
  const deflated = level === 0 || bytes.byteLength === 0 ? bytes : new Uint8Array(deflateRawSync(bytes, { level }))
  const isSmaller = deflated.byteLength < bytes.byteLength
  return {
    ...about,
    method: isSmaller ? DEFLATED : STORED,
    crc: crc32(bytes),
    packed: isSmaller ? deflated : bytes,
    sizeBytes: bytes.byteLength,
  }
}

export function archiveOf(entries: readonly PackedEntry[]): Uint8Array {
  return wholeArchive(
    entries.map(({ name, packed, modifiedMs, ...about }) => ({
      entry: {
        ...about,
        name: new TextEncoder().encode(name),
        describedLater: false,
        packedBytes: packed.byteLength,
        modifiedMs: Math.max(modifiedMs, FIRST_TIME),
      },
      packed,
    })),
  )
}

/** Rounded like Info-ZIP. */
export function percent({ packed, sizeBytes }: { packed: Uint8Array; sizeBytes: number }): number {
  if (sizeBytes === 0 || packed.byteLength >= sizeBytes) return 0
  return Math.floor((Math.floor((200 * (sizeBytes - packed.byteLength)) / sizeBytes) + 1) / 2)
}
