// Selects the next commit to test: the one that divides the rest best. The order and the counting are git's, so that
// the same commit is selected.

export interface Candidate {
  oid: string
  parents: string[]
  /** Whether it may be the searched commit: it changes one of the paths. */
  counts: boolean
}

export interface Halved {
  /** The best first. Without `ranksAll` only the best one. */
  ranked: string[]
  /** The number of remaining commits, and how many of them are reachable from the best one. */
  all: number
  reached: number
}

interface Node extends Candidate {
  /** The number of counted commits reachable from it, including itself. */
  weight: number
}

/** Expects the commits between good and bad, the youngest first. */
export function halve(commits: readonly Candidate[], { ranksAll }: { ranksAll: boolean }): Halved {
  const nodes = new Map<string, Node>()
  for (const commit of [...commits].reverse()) nodes.set(commit.oid, { ...commit, weight: -1 })
  for (const node of nodes.values()) node.parents = node.parents.filter((parent) => nodes.has(parent))
  const list = [...nodes.values()].filter(({ counts }) => counts)
  const all = list.length
  const exact = weigh(nodes, { all, endsEarly: !ranksAll })
  const distance = ({ weight }: Node) => Math.min(weight, all - weight)
  if (ranksAll) {
    list.sort((a, b) => distance(b) - distance(a) || (a.oid < b.oid ? -1 : 1))
    return { ranked: list.map(({ oid }) => oid), all, reached: list[0]?.weight ?? 0 }
  }
  const best =
    exact ??
    list.reduce((found: Node | null, node) => (found && distance(found) >= distance(node) ? found : node), null)
  return { ranked: best ? [best.oid] : [], all, reached: best?.weight ?? 0 }
}

/** Computes the weights. It may stop early at one that is half-way. */
function weigh(nodes: ReadonlyMap<string, Node>, { all, endsEarly }: { all: number; endsEarly: boolean }): Node | null {
  const isHalf = ({ weight, counts }: Node) =>
    endsEarly && counts && Math.abs(2 * weight - all) <= (all < 1024 ? 1 : all / 1024)
  for (const node of nodes.values()) if (node.parents.length === 0) node.weight = node.counts ? 1 : 0
  for (const node of nodes.values()) {
    if (node.parents.length < 2) continue
    node.weight = reachOf(nodes, node.oid)
    if (isHalf(node)) return node
  }
  for (let isMoving = true; isMoving; ) {
    isMoving = false
    for (const node of nodes.values()) {
      if (node.weight >= 0) continue
      const known = node.parents.map((parent) => nodes.get(parent)?.weight ?? -1).find((weight) => weight >= 0)
      if (known === undefined) continue
      node.weight = known + (node.counts ? 1 : 0)
      isMoving = true
      if (isHalf(node)) return node
    }
  }
  return null
}

function reachOf(nodes: ReadonlyMap<string, Node>, oid: string): number {
  const seen = new Set([oid])
  const open = [oid]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const parent of nodes.get(at)?.parents ?? []) {
      if (seen.has(parent)) continue
      seen.add(parent)
      open.push(parent)
    }
  }
  return [...seen].filter((id) => nodes.get(id)?.counts).length
}

export function stepsFor(all: number): number {
  if (all < 3) return 0
  const n = Math.floor(Math.log2(all))
  const e = 2 ** n
  return e < 3 * (all - e) ? n : n - 1
}

/**
 * Selects the first one that may be tested, if some are skipped. If the best one is skipped, another one at a distance
 * from it is selected, computed from the number of commits.
 */
export function awayFromSkipped(
  ranked: readonly string[],
  { skipped, bad }: { skipped: ReadonlySet<string>; bad: string },
): { next: string | null; tried: string[] } {
  const left = ranked.filter((oid) => !skipped.has(oid))
  const tried = ranked.filter((oid) => skipped.has(oid))
  const [first] = left
  if (first === undefined) return { next: null, tried }
  if (!skipped.has(ranked[0] ?? '')) return { next: first, tried: [] }
  const number = (Math.floor(((Math.imul(left.length, 1103515245) + 12345) >>> 0) / 65536) % 32768) >>> 0
  const root = (value: number) => Math.floor(Math.sqrt(value))
  const index = Math.floor((Math.floor((left.length * number) / 32768) * root(number)) / root(32768))
  const chosen = left[index]
  if (chosen === undefined) return { next: first, tried }
  return { next: chosen !== bad ? chosen : (left[index - 1] ?? first), tried }
}
