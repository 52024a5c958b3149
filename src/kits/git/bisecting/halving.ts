// Which commit to test next: the one that parts those that are left best. The order and the ways of counting are git's,
// so that the same one is found.

export interface Candidate {
  oid: string
  parents: string[]
  /** Whether it may be what is searched for: it changes what is asked for. */
  counts: boolean
}

export interface Halved {
  /** The best first. Without `ranksAll` it is the only one. */
  ranked: string[]
  /** How many are left, and how many of them the best one leads to. */
  all: number
  reached: number
}

interface Node extends Candidate {
  /** How many of those that count it leads to, itself among them. */
  weight: number
}

/** Takes what is between good and bad, the youngest first. */
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

/** Counts. It may end early at one that is half-way. */
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
 * The first that may be tested, where some may not. When the best one is among those, another is taken some way from
 * it, by numbers that follow from how many there are.
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
