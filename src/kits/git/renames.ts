// Pairs deleted files with new ones that they were renamed to.

import { lstatAt } from '../../workspace/stat.ts'
import { isBinary } from './bytes.ts'
import { MODE, objectId } from './objects.ts'
import type { Repository } from './repository.ts'
import type { Change } from './status.ts'
import { storedAt } from './worktree.ts'

export interface PairedChange extends Change {
  /** The previous path, for a rename. */
  from?: string
  /** In per cent. */
  similarity?: number
  /** It represents an unmerged path, which cannot be compared. */
  isUnmerged?: true
}

/** The minimum share of the larger file that must be in the other one. */
const MIN_SIMILARITY = 50
/** The score of identical files; all scores are relative to it. */
const MAX_SCORE = 60_000
/** With more pairs, files are not compared with each other: `diff.renameLimit`, squared. */
const MAX_PAIRS = 1_000_000
const MAX_CHUNK = 64
const CHUNK_NUMBERS = 107_927
const CR = 13
const LF = 10

const percent = (score: number) => Math.trunc((score * 100) / MAX_SCORE)

export async function withRenames(
  repo: Repository,
  changes: readonly Change[],
  threshold = MIN_SIMILARITY,
): Promise<PairedChange[]> {
  const gone = changes.filter(({ before, after }) => before && !after && before.mode !== MODE.gitlink)
  const added = changes.filter(({ before, after }) => !before && after && after.mode !== MODE.gitlink)
  if (gone.length === 0 || added.length === 0) return [...changes]
  const pairs = new Map<Change, { from: Change; similarity: number }>()
  let left = pairEqual(gone, added, pairs)
  if (threshold < 100) {
    const likeness = new Likeness(repo, threshold)
    left = await pairByName(likeness, left, pairs)
    if (left.gone.length * left.added.length <= MAX_PAIRS) await pairSimilar(repo, likeness, { ...left, pairs })
  }
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

/** Files with equal contents, if possible with the same name. */
function pairEqual(gone: Change[], added: Change[], pairs: Pairs): Unpaired {
  const byId = new Map<string, Change[]>()
  for (const change of gone) {
    const oid = change.before?.oid ?? ''
    byId.set(oid, [...(byId.get(oid) ?? []), change])
  }
  for (const change of added) {
    const all = byId.get(change.after?.oid ?? '') ?? []
    // A link can only be paired with a link.
    const isLink = (mode: number | undefined) => mode !== undefined && !isFile(mode)
    const sources = all.filter(({ before }) => isLink(before?.mode) === isLink(change.after?.mode))
    const from = sources.find((source) => nameOf(source) === nameOf(change)) ?? sources[0]
    if (!from) continue
    all.splice(all.indexOf(from), 1)
    pairs.set(change, { from, similarity: 100 })
  }
  const used = new Set([...pairs.values()].map(({ from }) => from))
  return { gone: gone.filter((change) => !used.has(change)), added: added.filter((change) => !pairs.has(change)) }
}

function nameOf({ path }: Change): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A file name that is unique on both sides is strong evidence: then a lower similarity is enough. */
async function pairByName(likeness: Likeness, { gone, added }: Unpaired, pairs: Pairs): Promise<Unpaired> {
  const [sources, goals] = [uniqueNames(gone), uniqueNames(added)]
  const used = new Set<Change>()
  for (const from of gone) {
    const to = sources.get(nameOf(from)) === from ? goals.get(nameOf(from)) : null
    if (!to) continue
    const score = await likeness.score(from, to)
    if (score < likeness.least + Math.trunc((MAX_SCORE - likeness.least) / 2)) continue
    used.add(from)
    pairs.set(to, { from, similarity: percent(score) })
  }
  return { gone: gone.filter((change) => !used.has(change)), added: added.filter((change) => !pairs.has(change)) }
}

/** Null for a name that several files have. */
function uniqueNames(changes: readonly Change[]): Map<string, Change | null> {
  const names = new Map<string, Change | null>()
  for (const change of changes) names.set(nameOf(change), names.has(nameOf(change)) ? null : change)
  return names
}

type Candidate = { from: Change; to: Change; score: number; sameName: boolean }

/** The number of final candidates for each new file. */
const CANDIDATES = 4

async function pairSimilar(
  repo: Repository,
  likeness: Likeness,
  { gone, added, pairs }: Unpaired & { pairs: Pairs },
): Promise<void> {
  const candidates: Candidate[] = []
  for (const to of added) {
    const best: Candidate[] = []
    for (const from of gone) {
      const pause = repo.pace()
      if (pause) await pause
      const score = await likeness.score(from, to)
      if (score >= likeness.least) keepBest(best, { from, to, score, sameName: nameOf(from) === nameOf(to) })
    }
    candidates.push(...best)
  }
  candidates.sort(byScore)
  const used = new Set<Change>()
  for (const { from, to, score } of candidates) {
    if (used.has(from) || pairs.has(to)) continue
    used.add(from)
    pairs.set(to, { from, similarity: percent(score) })
  }
}

function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.sameName) - Number(a.sameName)
}

/** Replaces the first of the worst candidates. */
function keepBest(best: Candidate[], candidate: Candidate): void {
  if (best.length < CANDIDATES) {
    best.push(candidate)
    return
  }
  let worst = 0
  for (let i = 1; i < best.length; i++) {
    const [one, other] = [best[i], best[worst]]
    if (one && other && byScore(one, other) > 0) worst = i
  }
  const last = best[worst]
  if (last && byScore(last, candidate) > 0) best[worst] = candidate
}

/** The common share of two files, computed like in git. */
class Likeness {
  readonly #repo: Repository
  readonly #known = new Map<Change, Promise<Fingerprint | null>>()
  /** The minimum similarity of a rename. */
  readonly least: number

  constructor(repo: Repository, threshold: number) {
    this.#repo = repo
    this.least = Math.trunc((threshold * MAX_SCORE) / 100)
  }

  async score(from: Change, to: Change): Promise<number> {
    const [a, b] = [await this.#fingerprint(from, 'before'), await this.#fingerprint(to, 'after')]
    if (!a || !b) return 0
    const [larger, smaller] = [Math.max(a.sizeBytes, b.sizeBytes), Math.min(a.sizeBytes, b.sizeBytes)]
    if (larger * (MAX_SCORE - this.least) < (larger - smaller) * MAX_SCORE) return 0
    let copied = 0
    for (const [chunk, size] of a.chunks) copied += Math.min(size, b.chunks.get(chunk) ?? 0)
    return Math.trunc((copied * MAX_SCORE) / larger)
  }

  #fingerprint(change: Change, side: 'before' | 'after'): Promise<Fingerprint | null> {
    const known = this.#known.get(change) ?? fingerprint(this.#repo, change, side)
    this.#known.set(change, known)
    return known
  }
}

interface Fingerprint {
  sizeBytes: number
  /** The number of the file's bytes in pieces with this hash; a piece is a line, or 64 bytes of a long one. */
  chunks: Map<number, number>
}

async function fingerprint(repo: Repository, change: Change, side: 'before' | 'after'): Promise<Fingerprint | null> {
  const state = change[side]
  const bytes = state && isFile(state.mode) ? await contentsOf(repo, change.path, state.oid) : null
  if (!bytes || bytes.byteLength === 0) return null
  return { sizeBytes: bytes.byteLength, chunks: chunksOf(bytes, !isBinary(bytes)) }
}

/** In a text, a carriage return before a line end is ignored. A last line without a line end is left out. */
function chunksOf(bytes: Uint8Array, isText: boolean): Map<number, number> {
  const chunks = new Map<number, number>()
  let [first, second, length] = [0, 0, 0]
  for (let at = 0; at < bytes.byteLength; at++) {
    const byte = bytes[at] ?? 0
    if (isText && byte === CR && bytes[at + 1] === LF) continue
    const before = first
    first = ((first << 7) ^ (second >>> 25)) >>> 0
    second = ((second << 7) ^ (before >>> 25)) >>> 0
    first = (first + byte) >>> 0
    if (++length < MAX_CHUNK && byte !== LF) continue
    const number = ((first + Math.imul(second, 0x61)) >>> 0) % CHUNK_NUMBERS
    chunks.set(number, (chunks.get(number) ?? 0) + length)
    first = second = length = 0
  }
  return chunks
}

/** From the store, or from the working tree if it was never stored. */
export async function contentsOf(repo: Repository, path: string, oid: string): Promise<Uint8Array | null> {
  const stored = await repo.objects.find(oid)
  if (stored) return stored.bytes
  const stat = lstatAt(repo.fs, `${repo.root}/${path}`)
  if (!stat || stat.kind === 'directory') return null
  const bytes = await storedAt(repo, path, stat)
  return objectId('blob', bytes) === oid ? bytes : null
}
