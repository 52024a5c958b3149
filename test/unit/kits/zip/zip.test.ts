import JSZip from 'jszip'
import { expect, test } from 'vitest'
import {
  centralHeader,
  compression,
  DEFLATED,
  dataDescriptor,
  endOfArchive,
  localHeader,
  type NewEntry,
  readZipDirectory,
  STORED,
  storedParts,
  unpackedEntries,
  type ZipEntry,
} from '../../../../src/kits/zip/index.ts'
import { joinBytes } from '../../../../src/lib/bytes.ts'
import { type CraftedEntry, craftZip } from '../../../helpers/crafted-zip.ts'

const LEVEL = 6
const MODIFIED_MS = Date.UTC(2024, 4, 5, 6, 7, 8)
const EXECUTABLE = 0o100755
const utf8 = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array | null) => (bytes === null ? null : new TextDecoder().decode(bytes))

function entriesOf(archive: Uint8Array): ZipEntry[] {
  const directory = readZipDirectory(archive, 100)
  if (!directory.ok) throw new Error(directory.reason)
  return directory.entries
}

async function contentsOf(entries: readonly ZipEntry[]): Promise<(string | null)[]> {
  const contents: (string | null)[] = []
  for await (const bytes of await unpackedEntries(entries)) contents.push(textOf(bytes))
  return contents
}

/** One entry whose size is known before its contents, one whose size is told behind them. */
async function written(): Promise<Uint8Array> {
  const { crc32, deflatePart } = await compression()
  const [short, long] = [utf8('short'), utf8('long '.repeat(30_000))]
  const shared = { modifiedMs: MODIFIED_MS, unixMode: EXECUTABLE }
  const sizes = { crc: crc32(short), packedBytes: short.byteLength, sizeBytes: short.byteLength }
  const known: NewEntry = {
    ...shared,
    ...sizes,
    name: utf8('贵州/a'),
    method: STORED,
    describedLater: false,
    offset: 0,
  }
  const first = joinBytes([localHeader(known), short])
  const unknown = { crc: 0, packedBytes: 0, sizeBytes: 0, describedLater: true }
  const told: NewEntry = { ...shared, ...unknown, name: utf8('b'), method: DEFLATED, offset: first.byteLength }
  const header = localHeader(told)
  // Two parts that are compressed, with one between them that is not.
  const parts = [long.subarray(0, 50_000), long.subarray(50_000, 120_000), long.subarray(120_000)] as const
  const packed = joinBytes([
    deflatePart(parts[0], LEVEL, false),
    ...storedParts(parts[1]),
    deflatePart(parts[2], LEVEL, true),
  ])
  Object.assign(told, { crc: crc32(long), packedBytes: packed.byteLength, sizeBytes: long.byteLength })
  const contents = joinBytes([first, header, packed, dataDescriptor(told)])
  const directory = joinBytes([centralHeader(known), centralHeader(told)])
  const end = endOfArchive({ entries: 2, sizeBytes: directory.byteLength, offset: contents.byteLength })
  return joinBytes([contents, directory, end])
}

test('what is written through the face is read through it, and an independent reader sees the same', async () => {
  const archive = await written()
  const entries = entriesOf(archive)
  expect(entries.map(({ name, method, modifiedMs, unixMode }) => [name, method, modifiedMs, unixMode])).toEqual([
    ['贵州/a', STORED, MODIFIED_MS, EXECUTABLE],
    ['b', DEFLATED, MODIFIED_MS, EXECUTABLE],
  ])
  expect(await contentsOf(entries)).toEqual(['short', 'long '.repeat(30_000)])
  const other = await JSZip.loadAsync(archive, { checkCRC32: true })
  expect(await other.file('贵州/a')?.async('string')).toBe('short')
  expect(await other.file('b')?.async('string')).toBe('long '.repeat(30_000))
})

test('only the entries that are asked for are unpacked, and a damaged one does not spoil those behind it', async () => {
  const lies: CraftedEntry[] = [
    { name: 'fine', data: 'fine', deflated: true },
    { name: 'checksum', data: 'x', claims: { crc: 1 } },
    { name: 'longer', data: 'a long text', deflated: true, claims: { size: 3 } },
    { name: 'shorter', data: 'xyz', claims: { size: 9 } },
    { name: 'noise', data: 'noise', claims: { method: DEFLATED } },
    { name: 'last', data: 'last' },
  ]
  const entries = entriesOf(craftZip(lies))
  expect(await contentsOf(entries)).toEqual(['fine', null, null, null, null, 'last'])
  expect(await contentsOf(entries.slice(-1))).toEqual(['last'])
  expect(await contentsOf([])).toEqual([])
})

test('an archive that is not exactly what its table of contents says is refused with the reason', async () => {
  const archive = await written()
  const reasonOf = (bytes: Uint8Array, most = 100) => {
    const directory = readZipDirectory(bytes, most)
    return directory.ok ? null : directory.reason
  }
  expect(reasonOf(archive)).toBeNull()
  expect(reasonOf(archive, 1)).toBe('The archive has too many entries: 1 more can be unpacked')
  expect(reasonOf(archive.subarray(1))).toBe('It is not a readable ZIP archive')
  expect(reasonOf(archive.subarray(0, -1))).toBe('It is not a readable ZIP archive')
  expect(reasonOf(craftZip([{ name: 'a', data: 'a' }], { count: 2 }))).toBe(
    'The table of contents of the archive is damaged',
  )
  expect(
    reasonOf(
      craftZip([
        { name: 'a', data: 'a' },
        { name: 'b', sameAs: 0 },
      ]),
    ),
  ).toBe('The archive contradicts its own table of contents')
  expect(
    reasonOf(
      craftZip([
        { name: 'a', data: 'a' },
        { name: 'a', data: 'a', sameAs: 0 },
      ]),
    ),
  ).toBe('Entries of the archive overlap')
})
