// Which file imports which, and what that says about circles and layers.

import { importsOf } from '../../test/support/source-tree.ts'

export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Without types it is what one file loads with it, and not what it loads when that is needed; with them it is what one who
 * reads it has to know. With `lazy` it is also what is loaded on first use.
 */
export function importGraph(
  files: readonly string[],
  { types, lazy = types }: { types: boolean; lazy?: boolean },
): Graph {
  const known = new Set(files)
  return new Map(
    files.map((path) => {
      const imports = importsOf(path).filter(({ isType, isLazy }) => (types || !isType) && (lazy || !isLazy))
      const targets = imports.map(({ target }) => target)
      return [path, new Set(targets.filter((target) => known.has(target) && target !== path))]
    }),
  )
}

/** All files that are there when this one is, itself included. */
export function reachOf(graph: Graph, from: string): Set<string> {
  const reached = new Set([from])
  for (const path of reached) for (const next of graph.get(path) ?? []) reached.add(next)
  return reached
}

/** Files that import each other, by way of whatever else; each circle once, its files sorted. */
export function circlesOf(graph: Graph): string[][] {
  return componentsOf(graph).filter(({ length }) => length > 1)
}

/** `layers` counts the longest way down, a circle as one step of it. */
export function layersOf(graph: Graph, folder: string): { entries: number; imports: number; layers: number } {
  const entries = new Map<string, Set<string>>()
  for (const [path, targets] of graph) {
    const entry = entryOf(path, folder)
    if (entry === null) continue
    const imports = entries.get(entry) ?? new Set<string>()
    entries.set(entry, imports)
    for (const target of targets) {
      const other = entryOf(target, folder)
      if (other !== null && other !== entry) imports.add(other)
    }
  }
  const imports = [...entries.values()].reduce((sum, { size }) => sum + size, 0)
  return { entries: entries.size, imports, layers: layerCount(entries) }
}

function entryOf(path: string, folder: string): string | null {
  return path.startsWith(`${folder}/`) ? (path.slice(folder.length + 1).split('/')[0] ?? null) : null
}

function layerCount(graph: Graph): number {
  const components = componentsOf(graph)
  const indexOf = new Map(components.flatMap((members, index) => members.map((path) => [path, index] as const)))
  const heights = new Map<number, number>()
  // Components come after all that they lead to.
  for (const [index, members] of components.entries()) {
    const below = members.flatMap((path) => [...(graph.get(path) ?? [])].map((next) => indexOf.get(next) ?? index))
    heights.set(index, 1 + Math.max(0, ...below.filter((one) => one !== index).map((one) => heights.get(one) ?? 0)))
  }
  return Math.max(0, ...heights.values())
}

/** Tarjan's strongly connected components, in the order in which they are found: what a component leads to comes first. */
function componentsOf(graph: Graph): string[][] {
  const components: string[][] = []
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (path: string): number => {
    const number = numbers.size
    numbers.set(path, number)
    lowest.set(path, number)
    open.push(path)
    for (const next of graph.get(path) ?? []) {
      const reached = numbers.has(next) ? (open.includes(next) ? numbers.get(next) : undefined) : visit(next)
      lowest.set(path, Math.min(lowest.get(path) ?? number, reached ?? number))
    }
    if (lowest.get(path) === number) components.push(open.splice(open.indexOf(path)).sort())
    return lowest.get(path) ?? number
  }
  for (const path of graph.keys()) if (!numbers.has(path)) visit(path)
  return components
}
