// Makes malformed archives byte by byte, independently of the production code that reads and writes archives.

import { crc32, deflateRawSync } from 'node:zlib'
import { joinBytes } from '../../src/lib/bytes.ts'

export type CraftedEntry = {
  name: string | Uint8Array
  data?: string | Uint8Array
  /** The compression method; default: stored. */
  deflated?: boolean
  /** Unix mode with the file type bits; without it the archive claims a system without modes. */
  unixMode?: number
  /** False values that the headers claim instead of the real ones. */
  claims?: { size?: number; packed?: number; crc?: number; method?: number; flags?: number; localName?: string }
  /** Makes this entry overlap: it begins at the offset of this earlier entry. */
  sameAs?: number
  zip64?: boolean
}

type Options = {
  /** The number of entries that the end record claims. */
  count?: number
  comment?: Uint8Array
  zip64End?: boolean
  prefix?: Uint8Array
}

export function craftZip(entries: CraftedEntry[], options: Options = {}): Uint8Array {
  const parts: Uint8Array[] = [options.prefix ?? new Uint8Array()]
  const central: Uint8Array[] = []
  const offsets: number[] = []
  let at = parts[0]?.byteLength ?? 0
  for (const entry of entries) {
    const { local, record } = recordsOf(entry)
    const offset = entry.sameAs === undefined ? at : (offsets[entry.sameAs] ?? 0)
    offsets.push(offset)
    central.push(record(offset))
    if (entry.sameAs !== undefined) continue
    parts.push(local)
    at += local.byteLength
  }
  const directory = joinBytes(central)
  const count = options.count ?? entries.length
  const comment = options.comment ?? new Uint8Array()
  const end64 = options.zip64End
    ? [
        numbers(
          [4, 0x06064b50],
          [8, 44],
          [2, 45],
          [2, 45],
          [4, 0],
          [4, 0],
          [8, count],
          [8, count],
          [8, directory.length],
          [8, at],
        ),
        numbers([4, 0x07064b50], [4, 0], [8, at + directory.length], [4, 1]),
      ]
    : []
  const [few, small, near] = options.zip64End
    ? [0xffff, 0xffffffff, 0xffffffff]
    : [count & 0xffff, directory.length, at]
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, few], [2, few], [4, small], [4, near], [2, comment.length])
  return joinBytes([...parts, directory, ...end64, end, comment])
}

function recordsOf({ name, data = '', deflated = false, unixMode, claims = {}, zip64 = false }: CraftedEntry) {
  const raw = typeof name === 'string' ? new TextEncoder().encode(name) : name
  const content = typeof data === 'string' ? new TextEncoder().encode(data) : data
  const packed: Uint8Array = deflated ? deflateRawSync(content) : content
  const flags = claims.flags ?? (typeof name === 'string' ? 0x800 : 0)
  const method = claims.method ?? (deflated ? 8 : 0)
  const [size, packedSize] = [claims.size ?? content.length, claims.packed ?? packed.length]
  const crc = claims.crc ?? crc32(content)
  const localName = claims.localName === undefined ? raw : new TextEncoder().encode(claims.localName)
  const local = joinBytes([
    numbers(
      [4, 0x04034b50],
      [2, 20],
      [2, flags],
      [2, method],
      [4, 0],
      [4, crc],
      [4, packedSize],
      [4, size],
      [2, localName.length],
      [2, 0],
    ),
    localName,
    packed,
  ])
  const record = (offset: number) => {
    const extra = zip64 ? numbers([2, 1], [2, 24], [8, size], [8, packedSize], [8, offset]) : new Uint8Array()
    const shown = zip64 ? [0xffffffff, 0xffffffff, 0xffffffff] : [packedSize, size, offset]
    return joinBytes([
      numbers(
        [4, 0x02014b50],
        [1, 20],
        [1, unixMode === undefined ? 0 : 3],
        [2, 20],
        [2, flags],
        [2, method],
        [4, 0],
        [4, crc],
      ),
      numbers([4, shown[0] ?? 0], [4, shown[1] ?? 0], [2, raw.length], [2, extra.length], [2, 0], [2, 0], [2, 0]),
      numbers([4, (unixMode ?? 0) * 0x10000], [4, shown[2] ?? 0]),
      raw,
      extra,
    ])
  }
  return { local, record }
}

function numbers(...fields: [bytes: 1 | 2 | 4 | 8, value: number][]): Uint8Array {
  return joinBytes(
    fields.map(([bytes, value]) =>
      Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 2 ** (8 * i)) % 256),
    ),
  )
}
