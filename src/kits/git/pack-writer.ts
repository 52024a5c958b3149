// Creates a pack with the objects that a remote does not have: new commits with their trees and files, each object
// complete.

import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { joinBytes } from '../../lib/bytes.ts'
import { utf8 } from './bytes.ts'
import { fatal } from './failure.ts'
import { walkHistory } from './history.ts'
import { MODE, type ObjectType, parseTag, parseTree } from './objects.ts'
import type { Repository } from './repository.ts'

/** A pack is in memory twice when it is sent. */
const MAX_PACK_BYTES = 32 * 1024 * 1024
const TYPE_BITS: Record<ObjectType, number> = { commit: 1, tree: 2, blob: 3, tag: 4 }
const HEADER_BYTES = 12

/** Ids of all objects that are reachable from `wanted` and not known to be reachable from `known`, which the remote has. */
export async function objectsBetween(
  repo: Repository,
  wanted: readonly string[],
  known: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  const commits: string[] = []
  for (const oid of wanted) {
    for (let at = oid; ; ) {
      const { type, bytes } = await repo.objects.read(at)
      if (type === 'commit') commits.push(at)
      else if (type === 'tree') await addTree(repo, at, { before: null, found })
      else found.add(at)
      if (type !== 'tag') break
      at = parseTag(bytes).object
    }
  }
  const there: string[] = []
  for (const oid of known) if ((await repo.objects.find(oid))?.type === 'commit') there.push(oid)
  for await (const { oid, commit } of walkHistory(repo, { include: commits, exclude: there })) {
    found.add(oid)
    const [parent] = commit.parents
    // The parent's files are sent with the parent, or are at the remote already.
    const before = parent === undefined ? null : (await repo.commit(parent)).tree
    await addTree(repo, commit.tree, { before, found })
  }
  return found
}

async function addTree(
  repo: Repository,
  oid: string,
  { before, found }: { before: string | null; found: Set<string> },
): Promise<void> {
  if (oid === before || found.has(oid)) return
  const pause = repo.pace()
  if (pause) await pause
  found.add(oid)
  const old = new Map(before === null ? [] : (await entriesOf(repo, before)).map((entry) => [entry.name, entry]))
  for (const { name, mode, oid: own } of await entriesOf(repo, oid)) {
    const last = old.get(name)
    if (mode === MODE.gitlink || last?.oid === own) continue
    if (mode === MODE.tree) await addTree(repo, own, { before: last?.mode === MODE.tree ? last.oid : null, found })
    else found.add(own)
  }
}

async function entriesOf(repo: Repository, oid: string) {
  return parseTree((await repo.objects.read(oid)).bytes)
}

export async function packOf(repo: Repository, oids: ReadonlySet<string>): Promise<Uint8Array> {
  const head = new Uint8Array(HEADER_BYTES)
  head.set(utf8('PACK'))
  const view = new DataView(head.buffer)
  view.setUint32(4, 2)
  view.setUint32(8, oids.size)
  const parts: Uint8Array[] = [head]
  const hash = createHash('sha1').update(head)
  let sizeBytes = 0
  for (const oid of oids) {
    const pause = repo.pace()
    if (pause) await pause
    const { type, bytes } = await repo.objects.read(oid)
    for (const part of [entryHead(TYPE_BITS[type], bytes.byteLength), new Uint8Array(deflateSync(bytes))]) {
      sizeBytes += part.byteLength
      hash.update(part)
      parts.push(part)
    }
    if (sizeBytes > MAX_PACK_BYTES)
      throw fatal(`what is to be pushed is larger than ${MAX_PACK_BYTES} bytes; push fewer commits at a time`, {
        reason: 'too-large',
      })
  }
  return joinBytes([...parts, new Uint8Array(hash.digest())])
}

/** Four bits of the size with the kind, then seven at a time. */
function entryHead(type: number, sizeBytes: number): Uint8Array {
  const bytes = [(type << 4) | (sizeBytes & 15)]
  for (let left = Math.floor(sizeBytes / 16); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(left & 0x7f)
  }
  return Uint8Array.from(bytes)
}
