// The graph of commits: in the order of a log, and the common ancestors of two.

import type { Commit } from './objects.ts'
import type { Repository } from './repository.ts'

export interface Visited {
  oid: string
  commit: Commit
}

/** A comparison does not walk a larger graph to its end. */
const MAX_COMMITS = 200_000

export interface WalkOrder {
  include: readonly string[]
  exclude?: readonly string[]
  /** The parents to follow; all by default. */
  parentsOf?: (visited: Visited) => Promise<readonly string[]>
}

/** Commits that are reachable from `include` and not from `exclude`, the youngest first. */
export async function* walkHistory(
  repo: Repository,
  { include, exclude = [], parentsOf = async ({ commit }) => commit.parents }: WalkOrder,
): AsyncGenerator<Visited> {
  const hidden = exclude.length > 0 ? await ancestorsOf(repo, exclude) : new Set<string>()
  const queue = new CommitQueue()
  const seen = new Set<string>()
  const push = async (oid: string) => {
    if (seen.has(oid) || hidden.has(oid)) return
    seen.add(oid)
    queue.push({ oid, commit: await repo.commit(oid) })
  }
  for (const oid of include) await push(oid)
  for (let next = queue.pop(); next; next = queue.pop()) {
    const pause = repo.pace()
    if (pause) await pause
    yield next
    for (const parent of await parentsOf(next)) await push(parent)
  }
}

/** The commits themselves and all their ancestors. */
export async function ancestorsOf(repo: Repository, oids: readonly string[]): Promise<Set<string>> {
  const seen = new Set<string>(oids)
  const open = [...oids]
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    const pause = repo.pace()
    if (pause) await pause
    for (const parent of (await repo.commit(oid)).parents) {
      if (seen.has(parent)) continue
      seen.add(parent)
      open.push(parent)
    }
    if (seen.size > MAX_COMMITS) break
  }
  return seen
}

export async function isAncestor(repo: Repository, ancestor: string, descendant: string): Promise<boolean> {
  for await (const { oid } of walkHistory(repo, { include: [descendant] })) if (oid === ancestor) return true
  return false
}

/** The best common ancestors: those that are not ancestors of another one. The youngest first. */
export async function mergeBases(repo: Repository, a: string, b: string): Promise<string[]> {
  if (a === b) return [a]
  const sides = new Map<string, number>()
  const queue = new CommitQueue()
  const mark = async (oid: string, flags: number) => {
    const known = sides.get(oid) ?? 0
    if ((known | flags) === known) return
    sides.set(oid, known | flags)
    queue.push({ oid, commit: await repo.commit(oid) })
  }
  const BOTH = 3
  const STALE = 4
  await mark(a, 1)
  await mark(b, 2)
  const common: string[] = []
  for (let next = queue.pop(); next; next = queue.pop()) {
    const pause = repo.pace()
    if (pause) await pause
    const flags = sides.get(next.oid) ?? 0
    const isCommon = (flags & BOTH) === BOTH
    if (isCommon && !(flags & STALE) && !common.includes(next.oid)) common.push(next.oid)
    // Ancestors of a common ancestor are common too, but worse.
    for (const parent of next.commit.parents) await mark(parent, isCommon ? BOTH | STALE : flags)
    if (sides.size > MAX_COMMITS || queue.every(({ oid }) => ((sides.get(oid) ?? 0) & STALE) !== 0)) break
  }
  return common.filter((oid) => !((sides.get(oid) ?? 0) & STALE))
}

/** The number of commits in each that are not in the other. */
export async function aheadBehind(repo: Repository, a: string, b: string): Promise<{ ahead: number; behind: number }> {
  if (a === b) return { ahead: 0, behind: 0 }
  const [ofA, ofB] = [await ancestorsOf(repo, [a]), await ancestorsOf(repo, [b])]
  return {
    ahead: [...ofA].filter((oid) => !ofB.has(oid)).length,
    behind: [...ofB].filter((oid) => !ofA.has(oid)).length,
  }
}

/** A heap: the youngest commit on top; in the same second, the one that was added first. */
class CommitQueue {
  readonly #heap: (Visited & { order: number })[] = []
  #order = 0

  push(visited: Visited): void {
    const heap = this.#heap
    heap.push({ ...visited, order: this.#order++ })
    for (let at = heap.length - 1; at > 0; ) {
      const above = (at - 1) >> 1
      if (!this.#swapIfBefore(at, above)) return
      at = above
    }
  }

  pop(): Visited | null {
    const heap = this.#heap
    const top = heap[0]
    const last = heap.pop()
    if (!top || !last) return null
    if (heap.length > 0) heap[0] = last
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const child = right < heap.length && this.#isBefore(right, left) ? right : left
      if (child >= heap.length || !this.#swapIfBefore(child, at)) return top
      at = child
    }
  }

  every(is: (visited: Visited) => boolean): boolean {
    return this.#heap.every(is)
  }

  #isBefore(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a], this.#heap[b]]
    if (!x || !y) return false
    const age = x.commit.committer.seconds - y.commit.committer.seconds
    return age > 0 || (age === 0 && x.order < y.order)
  }

  #swapIfBefore(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a], this.#heap[b]]
    if (!x || !y || !this.#isBefore(a, b)) return false
    this.#heap[a] = y
    this.#heap[b] = x
    return true
  }
}
