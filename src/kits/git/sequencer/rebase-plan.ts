// The commits of a rebase, and their order.

import { createHash } from 'node:crypto'
import { ancestorsOf, mergeBases, type Visited, walkHistory } from '../history.ts'
import type { Commit } from '../objects.ts'
import { patchOf } from '../patch.ts'
import type { Repository } from '../repository.ts'
import { treeChanges } from '../status.ts'
import { inTopologicalOrder } from '../topology.ts'

export interface Plan {
  oids: string[]
  /** Commits whose change is already upstream. */
  skipped: string[]
}

/** Commits between the other side and the head, the oldest first; merges are left out. */
export async function planRebase(
  repo: Repository,
  { upstream, head }: { upstream: string | null; head: string },
): Promise<Plan> {
  const found = await commitsOf(repo, head, upstream)
  const single = found.filter(({ commit }) => commit.parents.length < 2)
  const known = upstream === null ? new Set<string>() : await patchIds(repo, await commitsOf(repo, upstream, head))
  const plan: Plan = { oids: [], skipped: [] }
  for (const { oid, commit } of single.reverse()) {
    const isThere = known.size > 0 && known.has(await patchId(repo, commit))
    ;(isThere ? plan.skipped : plan.oids).push(oid)
  }
  return plan
}

async function commitsOf(repo: Repository, include: string, exclude: string | null): Promise<Visited[]> {
  const found: Visited[] = []
  const starts = { include: [include], exclude: exclude === null ? [] : [exclude] }
  for await (const visited of walkHistory(repo, starts)) found.push(visited)
  const parents = new Map(found.map(({ oid, commit }) => [oid, commit.parents]))
  return inTopologicalOrder(found, { parents, byDate: false })
}

async function patchIds(repo: Repository, commits: readonly Visited[]): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const { commit } of commits) if (commit.parents.length < 2) ids.add(await patchId(repo, commit))
  // A commit without changes equals no other one.
  ids.delete(EMPTY_PATCH)
  return ids
}

const EMPTY_PATCH = createHash('sha1').digest('hex')

/** The same for commits with the same change, wherever it is in a file. */
async function patchId(repo: Repository, commit: Commit): Promise<string> {
  const [parent] = commit.parents
  const before = parent === undefined ? null : (await repo.commit(parent)).tree
  const hash = createHash('sha1')
  for (const change of await treeChanges(repo, before, commit.tree)) {
    const pause = repo.pace()
    if (pause) await pause
    const patch = await patchOf(repo, change, { context: 3 })
    hash.update(patch.replace(/^(index|@@) .*$/gm, '').replace(/\s+/g, ''))
  }
  return hash.digest('hex')
}

/** Whether the commits are a linear sequence that starts at the target. */
export async function isInPlace(
  repo: Repository,
  { onto, upstream, head }: { onto: string; upstream: string | null; head: string },
): Promise<boolean> {
  const bases = await mergeBases(repo, onto, head)
  if (bases.length !== 1 || bases[0] !== onto) return false
  if (upstream !== null && upstream !== onto) {
    const others = await mergeBases(repo, upstream, head)
    if (others.length !== 1 || others[0] !== onto) return false
  }
  const hidden = await ancestorsOf(repo, [onto])
  for (let at = head; at !== onto; ) {
    const { parents } = await repo.commit(at)
    const [parent] = parents
    if (parents.length !== 1 || parent === undefined || (hidden.has(parent) && parent !== onto)) return false
    at = parent
  }
  return true
}
