// The mutants of the seeds: as many as are wanted of those that could change behaviour and that the compiler lets pass.

import { contentHash, knownEquivalents } from './equivalents.ts'
import type { Mutation } from './mutations.ts'
import { type Line, picked } from './pick.ts'
import type { Scratch } from './scratch.ts'
import { refusedOf } from './types.ts'

export type Chosen = { seed: number; mutants: Mutation[]; refused: number; equivalent: [Mutation, string][] }

export type MutationPlan = { seeds: readonly number[]; count: number; lines: readonly Line[] }

/** About one pick in three is refused, and another compiler run is expensive. */
const SPARE = 2

export function chooseMutants({ seeds, count, lines }: MutationPlan, scratch: Scratch): Chosen[] {
  const known = knownEquivalents()
  const sources = new Map<Chosen, Iterator<Mutation>>()
  for (const seed of seeds) sources.set({ seed, mutants: [], refused: 0, equivalent: [] }, picked(seed, lines))
  const open = new Map(sources)
  while (open.size > 0) {
    const batches = [...open].map(([chosen, source]) => {
      return [chosen, take(source, Math.ceil((count - chosen.mutants.length) * SPARE))] as const
    })
    const refused = refusedOf(scratch, [...new Set(batches.flatMap(([, batch]) => batch))])
    for (const [chosen, batch] of batches) {
      for (const mutation of batch) {
        if (chosen.mutants.length < count) add(chosen, mutation, { known, refused })
      }
      if (chosen.mutants.length === count || batch.length === 0) open.delete(chosen)
    }
  }
  return [...sources.keys()]
}

type Facts = { known: ReadonlyMap<string, string>; refused: ReadonlySet<Mutation> }

function add(chosen: Chosen, mutation: Mutation, { known, refused }: Facts): void {
  const reason = known.get(contentHash(mutation))
  if (refused.has(mutation)) chosen.refused += 1
  else if (reason !== undefined) chosen.equivalent.push([mutation, reason])
  else chosen.mutants.push(mutation)
}

function take<T>(source: Iterator<T>, count: number): T[] {
  const taken: T[] = []
  while (taken.length < count) {
    const next = source.next()
    if (next.done) break
    taken.push(next.value)
  }
  return taken
}
