// Reads exported archives of owners in tests: entries, the manifest and every checksum.

import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { joinBytes } from '../../src/lib/bytes.ts'
import { TAR_END, tarHeader, tarPadding } from '../../src/lib/tar.ts'
import type { Client } from './app.ts'
import type { Row } from './owned.ts'

export type Entries = Map<string, Uint8Array>
export type Standing = { export_id: string; state: string; bytes: number; units: number; units_done: number }

export const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
export const lines = <T>(bytes: Uint8Array | undefined): T[] =>
  text(bytes)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)

/** The entries of a tar; checks every block. */
export function entriesOf(archive: Uint8Array): Entries {
  const entries: Entries = new Map()
  for (let at = 0; ; ) {
    const block = archive.subarray(at, at + 512)
    const field = (from: number, length: number) => text(block.subarray(from, from + length)).replace(/\0.*$/s, '')
    if (field(0, 100) === '') {
      expect([archive.length - at, archive.subarray(at).every((byte) => byte === 0)]).toEqual([1024, true])
      return entries
    }
    const sum = block.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0)
    expect([field(257, 5), Number.parseInt(field(148, 8), 8)]).toEqual(['ustar', sum])
    const size = Number.parseInt(field(124, 12), 8)
    const prefix = field(345, 155)
    entries.set(
      prefix === '' ? field(0, 100) : `${prefix}/${field(0, 100)}`,
      archive.subarray(at + 512, at + 512 + size),
    )
    at += 512 + Math.ceil(size / 512) * 512
  }
}

export async function ready(by: Client): Promise<Standing> {
  await expect.poll(async () => (await by.json<Standing>('/api/export/state')).state).toBe('ready')
  return by.json<Standing>('/api/export/state')
}

export const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())

/** All entries of an archive; fails if the manifest or a checksum is wrong. */
export async function exported(by: Client): Promise<{ entries: Entries; archive: Uint8Array; standing: Standing }> {
  const standing = await ready(by)
  const response = await by.ask('/api/export')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
  const archive = await bytesOf(response)
  expect([archive.length, standing.units_done]).toEqual([standing.bytes, standing.units])
  const entries = entriesOf(archive)
  const { lists, ...manifest } = JSON.parse(text(entries.get('manifest.json')))
  expect(manifest).toMatchObject({ format: 'bellwether-export', version: 1, id: standing.export_id, owner: by.owner })
  expect([...entries.keys()][0]).toBe('export.json')
  const listed = [...entries].filter(([path]) => path.startsWith('manifest/')).flatMap(([, bytes]) => lines<Row>(bytes))
  const right = [...entries].filter(([path]) => path !== 'manifest.json')
  expect([...listed, ...lists]).toEqual(
    right.map(([path, bytes]) => ({ path, bytes: bytes.length, sha256: sha256(bytes) })),
  )
  return { entries, archive, standing }
}

export const part = (entries: Entries, folder: string) =>
  [...entries].filter(([path]) => path.startsWith(`${folder}/`)).flatMap(([, bytes]) => lines<Row>(bytes))

/** An archive of these entries, with a matching manifest. */
export function archiveWith(entries: Entries, { manifest = true } = {}): Uint8Array {
  const parts: Uint8Array[] = []
  const add = (path: string, bytes: Uint8Array) =>
    parts.push(tarHeader({ path, size: bytes.length, mtime: 0 }), bytes, tarPadding(bytes.length))
  const lists: Row[] = []
  for (const [path, bytes] of entries) {
    if (path.startsWith('manifest')) continue
    add(path, bytes)
    lists.push({ path, bytes: bytes.length, sha256: sha256(bytes) })
  }
  const about = JSON.parse(text(entries.get('export.json'))) as Row
  if (manifest) add('manifest.json', new TextEncoder().encode(JSON.stringify({ ...about, lists })))
  return joinBytes([...parts, TAR_END])
}
