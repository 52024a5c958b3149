// Files that are gone and files that are new, paired where one became the other.

import { MODE, objectId } from './objects.ts'
import type { Repository } from './repository.ts'
import type { Change } from './status.ts'
import { statAt, storedAt } from './worktree.ts'

export interface PairedChange extends Change {
  /** The path that it had before, for a rename. */
  from?: string
  /** In percent. */
  similarity?: number
}

/** At least this much of the larger file has to be in the other one. */
const MIN_SIMILARITY = 50
/** Comparing every file with every other one is left when there are more. */
const MAX_PAIRS = 40_000
const MAX_BYTES = 1024 * 1024
const MAX_CHUNK = 64

export async function withRenames(
  repo: Repository,
  changes: readonly Change[],
  threshold = MIN_SIMILARITY,
): Promise<PairedChange[]> {
  const gone = changes.filter(({ before, after }) => before && !after && isFile(before.mode))
  const added = changes.filter(({ before, after }) => !before && after && isFile(after.mode))
  if (gone.length === 0 || added.length === 0) return [...changes]
  const pairs = new Map<Change, { from: Change; similarity: number }>()
  const left = pairEqual(gone, added, pairs)
  if (threshold < 100 && left.gone.length * left.added.length <= MAX_PAIRS)
    await pairSimilar(repo, left, { pairs, threshold })
  const used = new Set([...pairs.values()].map(({ from }) => from))
  return changes.flatMap((change) => {
    const pair = pairs.get(change)
    if (pair) return { ...change, before: pair.from.before, from: pair.from.path, similarity: pair.similarity }
    return used.has(change) ? [] : change
  })
}

function isFile(mode: number): boolean {
  return mode === MODE.file || mode === MODE.executable
}

type Unpaired = { gone: Change[]; added: Change[] }
type Pairs = Map<Change, { from: Change; similarity: number }>

/** The same contents, if possible under the same name. */
function pairEqual(gone: Change[], added: Change[], pairs: Pairs): Unpaired {
  const byId = new Map<string, Change[]>()
  for (const change of gone) {
    const oid = change.before?.oid ?? ''
    byId.set(oid, [...(byId.get(oid) ?? []), change])
  }
  for (const change of added) {
    const sources = byId.get(change.after?.oid ?? '') ?? []
    const from = sources.find((source) => nameOf(source) === nameOf(change)) ?? sources[0]
    if (!from) continue
    sources.splice(sources.indexOf(from), 1)
    pairs.set(change, { from, similarity: 100 })
  }
  const used = new Set([...pairs.values()].map(({ from }) => from))
  return { gone: gone.filter((change) => !used.has(change)), added: added.filter((change) => !pairs.has(change)) }
}

function nameOf({ path }: Change): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

async function pairSimilar(
  repo: Repository,
  { gone, added }: Unpaired,
  { pairs, threshold }: { pairs: Pairs; threshold: number },
): Promise<void> {
  const sources = await Promise.all(gone.map((change) => fingerprint(repo, change, 'before')))
  const goals = await Promise.all(added.map((change) => fingerprint(repo, change, 'after')))
  const candidates: { from: Change; to: Change; similarity: number; sameName: boolean }[] = []
  for (const [i, source] of sources.entries()) {
    for (const [j, goal] of goals.entries()) {
      const [from, to] = [gone[i], added[j]]
      const similarity = source && goal ? similarityOf(source, goal) : 0
      if (!from || !to || similarity < threshold) continue
      candidates.push({ from, to, similarity, sameName: nameOf(from) === nameOf(to) })
    }
    const pause = repo.pace()
    if (pause) await pause
  }
  candidates.sort((a, b) => b.similarity - a.similarity || Number(b.sameName) - Number(a.sameName))
  const used = new Set<Change>()
  for (const { from, to, similarity } of candidates) {
    if (used.has(from) || pairs.has(to)) continue
    used.add(from)
    pairs.set(to, { from, similarity: Math.floor(similarity) })
  }
}

interface Fingerprint {
  sizeBytes: number
  /** How many bytes of the file are in each of its pieces; a piece is a line, or 64 bytes of a long one. */
  chunks: Map<string, number>
}

async function fingerprint(repo: Repository, change: Change, side: 'before' | 'after'): Promise<Fingerprint | null> {
  const state = change[side]
  if (!state) return null
  const bytes = await contentsOf(repo, change.path, state.oid)
  if (!bytes || bytes.byteLength > MAX_BYTES || bytes.byteLength === 0) return null
  const chunks = new Map<string, number>()
  for (let at = 0; at < bytes.byteLength; ) {
    let end = at
    while (end < bytes.byteLength && end - at < MAX_CHUNK && bytes[end] !== 10) end++
    if (bytes[end] === 10 && end - at < MAX_CHUNK) end++
    const chunk = String.fromCharCode(...bytes.subarray(at, end))
    chunks.set(chunk, (chunks.get(chunk) ?? 0) + end - at)
    at = end
  }
  return { sizeBytes: bytes.byteLength, chunks }
}

/** From the store, or from the working tree for what was never stored. */
export async function contentsOf(repo: Repository, path: string, oid: string): Promise<Uint8Array | null> {
  const stored = await repo.objects.find(oid)
  if (stored) return stored.bytes
  const stat = statAt(repo.fs, `${repo.root}/${path}`)
  if (!stat || stat.kind === 'directory') return null
  const bytes = await storedAt(repo, path, stat)
  return objectId('blob', bytes) === oid ? bytes : null
}

function similarityOf(a: Fingerprint, b: Fingerprint): number {
  const larger = Math.max(a.sizeBytes, b.sizeBytes)
  let copied = 0
  for (const [chunk, size] of a.chunks) copied += Math.min(size, b.chunks.get(chunk) ?? 0)
  return (copied * 100) / larger
}
