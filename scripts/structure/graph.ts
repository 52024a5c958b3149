// The import graph of the files, with its cycles and layers.

import { importsOf } from '../../test/support/source-tree.ts'

export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Without types it has the imports that are loaded with a file, but not lazy imports; with types it has everything that a
 * reader of the file has to know. With `lazy` it also has the imports that are loaded on first use.
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

/** All files that are loaded with this one, including itself. */
export function reachOf(graph: Graph, from: string): Set<string> {
  const reached = new Set([from])
  for (const path of reached) for (const next of graph.get(path) ?? []) reached.add(next)
  return reached
}

/** Groups of files that import each other, directly or not; each cycle once, with sorted files. */
export function circlesOf(graph: Graph): string[][] {
  return componentsOf(graph).filter(({ length }) => length > 1)
}

/** `layers` is the length of the longest import path; a cycle counts as one step. */
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
  // A component comes after all components that it imports.
  for (const [index, members] of components.entries()) {
    const below = members.flatMap((path) => [...(graph.get(path) ?? [])].map((next) => indexOf.get(next) ?? index))
    heights.set(index, 1 + Math.max(0, ...below.filter((one) => one !== index).map((one) => heights.get(one) ?? 0)))
  }
  return Math.max(0, ...heights.values())
}

/** Tarjan's strongly connected components, in reverse topological order: imported components come first. */
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
