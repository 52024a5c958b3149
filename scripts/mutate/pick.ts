// Which mutations a seed stands for: a line of code at random among all lines that can be mutated, then one of its mutations.

import { Random } from '../../test/simulation/random.ts'
import { filesIn, textOf } from '../../test/support/source-tree.ts'
import { isProduction } from './instrument.ts'
import { type Mutation, mutationsOf } from './mutations.ts'

/** Words of the reports, of the document and of the agent: who changes a text wants it changed. */
const CATALOGUES = /^src\/(analysis\/texts\/(en|ko|zh)|routes\/words|agent\/builtin-microagents)\//

export type Line = { path: string; line: number; mutations: Mutation[] }

export function linesOf(only: RegExp): Line[] {
  const paths = filesIn('src', 'durable-objects').filter(
    (path) => isProduction(path) && !CATALOGUES.test(path) && only.test(path),
  )
  return paths.flatMap((path) => {
    const byLine = Map.groupBy(mutationsOf(path, textOf(path)), ({ line }) => line)
    return [...byLine].map(([line, mutations]) => ({ path, line, mutations }))
  })
}

/** No line twice. */
export function* picked(seed: number, lines: readonly Line[]): Generator<Mutation> {
  const random = new Random(seed)
  const left = [...lines]
  while (left.length > 0) {
    const [line] = left.splice(random.below(left.length), 1)
    if (line) yield random.pick(line.mutations)
  }
}
