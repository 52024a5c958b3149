// Mutants that can be tried in one run: whatever test fails calls only one of them.

import type { Mutation } from './mutations.ts'
import type { Reach } from './reach.ts'
import { calls, durationOf, runsOnLoad, testsWithin } from './tests-for.ts'

export type Member = { mutation: Mutation; tests: string[] }

/** The likeliest tests of a mutant, by how long they take. */
const LIKELY_MS = 15_000
const GROUP_MS = 90_000

/**
 * Uses as few groups as possible. A mutant that reaches every test because it runs on load, or that shares all its tests, is in
 * no group.
 */
export function grouped(mutants: ReadonlyMap<Mutation, readonly string[]>, reach: Reach): Member[][] {
  const groups: Member[][] = []
  for (const [mutation, tests] of mutants) {
    if (tests.length === 0 || runsOnLoad(mutation, reach)) continue
    const recorded = tests.filter((test) => reach.tests[test]?.hash !== '')
    if (recorded.length === 0) continue
    const member = { mutation, tests: testsWithin(LIKELY_MS, recorded, reach) }
    const at = groups.findIndex((group) => joined(group, member, reach) !== null)
    const together = groups[at] && joined(groups[at], member, reach)
    if (together) groups[at] = together
    else groups.push([member])
  }
  return groups.filter(({ length }) => length > 1)
}

/** Null if one of them would have no test of its own. */
function joined(group: readonly Member[], added: Member, reach: Reach): Member[] | null {
  const all = [...group, added]
  if (group.some(({ mutation }) => mutation.path === added.mutation.path)) return null
  const members = all.map(({ mutation, tests }) => {
    const others = all.filter((other) => other.mutation !== mutation)
    const own = tests.filter((test) => !others.some((other) => isCalled(other.mutation, test, reach)))
    return { mutation, tests: own }
  })
  const spent = [...testsOf(members)].reduce((sum, test) => sum + durationOf(test, reach), 0)
  return spent <= GROUP_MS && members.every(({ tests }) => tests.length > 0) ? members : null
}

export function testsOf(members: readonly Member[]): Set<string> {
  return new Set(members.flatMap(({ tests }) => tests))
}

function isCalled(mutation: Mutation, test: string, { tests }: Reach): boolean {
  const reached = tests[test]
  return reached !== undefined && calls(reached, mutation)
}
