// Sorts commits so that none comes before its children.

import type { Visited } from './history.ts'

export interface Ordering {
  parents: ReadonlyMap<string, readonly string[]>
  /** The youngest of the possible next commits, instead of the one that keeps a branch together. */
  byDate: boolean
}

/** `visited` is in the order of dates. */
export function inTopologicalOrder(visited: readonly Visited[], { parents, byDate }: Ordering): Visited[] {
  const known = new Map(visited.map((one) => [one.oid, one]))
  const children = new Map<string, number>()
  for (const { oid } of visited)
    for (const parent of parents.get(oid) ?? []) children.set(parent, (children.get(parent) ?? 0) + 1)
  const ready = visited.filter(({ oid }) => (children.get(oid) ?? 0) === 0).reverse()
  const ordered: Visited[] = []
  const secondsOf = ({ commit }: Visited) => commit.committer.seconds
  for (let next = ready.pop(); next; next = ready.pop()) {
    ordered.push(next)
    for (const parent of parents.get(next.oid) ?? []) {
      const left = (children.get(parent) ?? 0) - 1
      children.set(parent, left)
      const found = known.get(parent)
      if (left !== 0 || !found) continue
      // The youngest is last; in the same second, the one that was added first.
      let at = ready.length
      if (byDate) while (at > 0 && secondsOf(ready[at - 1] ?? found) >= secondsOf(found)) at--
      ready.splice(at, 0, found)
    }
  }
  return ordered
}
