import { join } from 'node:path'
import { ROOT } from '../../test/support/source-tree.ts'
import { Fault } from '../start/fault.ts'
import { type Chosen, chooseMutants } from './choose.ts'
import { contentHash } from './equivalents.ts'
import { type Court, judge, LEAST_MS } from './judge.ts'
import type { Mutation } from './mutations.ts'
import { readOptions, USAGE } from './options.ts'
import { linesOf } from './pick.ts'
import { findReach } from './reach.ts'
import { Scratch } from './scratch.ts'
import { Suite } from './suite.ts'
import { Verdicts } from './verdicts.ts'

const KEPT = join(ROOT, 'node_modules', '.cache', 'mutate', 'verdicts.json')

/** The required share of detected mutants. */
const GOAL = 0.85

export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(USAGE)
  try {
    await mutate(args)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

async function mutate(args: readonly string[]): Promise<void> {
  const { seeds, count, only, budgetMs, ...which } = readOptions(args)
  const all = linesOf(/./)
  const lines = all.filter(({ path }) => only.test(path))
  if (lines.length === 0) throw new Fault(`No production code matches ${only}.`)
  const files = [...new Set(all.map(({ path }) => path))]
  console.log(`${lines.length} lines of ${new Set(lines.map(({ path }) => path)).size} files can be mutated`)
  const scratch = new Scratch()
  const suite = new Suite(scratch.root, { marksFunctions: false })
  try {
    const reach = await findReach(scratch, which)
    const verdicts = new Verdicts(KEPT, which)
    await trySeeds(chooseMutants({ seeds, count, lines }, scratch), {
      scratch,
      suite,
      reach,
      files,
      budgetMs,
      leastMs: LEAST_MS,
      verdicts,
    })
  } finally {
    suite.close()
    scratch.remove()
  }
}

/** The mutants of all seeds together, so that many can share a run. */
async function trySeeds(chosen: readonly Chosen[], court: Court): Promise<void> {
  for (const { seed, equivalent } of chosen) {
    for (const [one, reason] of equivalent) console.log(`seed ${seed}  equivalent   ${named(one)}: ${reason}`)
  }
  const [caught, errors] = [new Set<Mutation>(), new Set<Mutation>()]
  await judge([...new Set(chosen.flatMap(({ mutants }) => mutants))], court, (mutation, { state, by }) => {
    if (state === 'caught') caught.add(mutation)
    if (state === 'error') errors.add(mutation)
    const seeds = chosen.filter(({ mutants }) => mutants.includes(mutation)).map(({ seed }) => seed)
    console.log(`seed ${seeds}  ${state.padEnd(12)} ${named(mutation)}${by === '' ? '' : `  [${by}]`}`)
  })
  for (const { seed, mutants, refused, equivalent } of chosen) {
    const count = mutants.filter((one) => caught.has(one)).length
    const unknown = mutants.filter((one) => errors.has(one)).length
    const judged = mutants.length - unknown
    const rate = count / Math.max(1, judged)
    const beside = `beside them ${refused} refused by the compiler, ${equivalent.length} equivalent, ${unknown} without a run`
    console.log(`seed ${seed}: ${count} of ${judged} caught (${Math.floor(rate * 100)} %); ${beside}`)
    if (rate < GOAL || unknown > 0) process.exitCode = 1
  }
}

function named(mutation: Mutation): string {
  const { path, line, kind, original, replacement } = mutation
  return `${path}:${line} ${kind}: ${original} → ${replacement} (${contentHash(mutation)})`
}
