// The test files that are worth running against a mutant, the likeliest first.

import { dirname, join, normalize } from 'node:path'
import { importsOf } from '../../test/support/source-tree.ts'
import type { Mutation } from './mutations.ts'
import { type Reach, type Reached, textKey } from './reach.ts'

export type Choice = { reach: Reach; files: readonly string[]; budgetMs: number }

export function testsFor(mutation: Mutation, { reach, files, budgetMs }: Choice): string[] {
  const callers = new Set([mutation.path, ...(mutation.inFunction === null ? importersOf(mutation.path, files) : [])])
  const worth = Object.entries(reach.tests)
    .filter(([, { state }]) => state === 'passed')
    .filter(([, reached]) => [...callers].some((path) => calls(reached, { ...mutation, path })))
    .map(([test, reached]) => ({ test, cost: costOf(test, reached, mutation) }))
    .sort((a, b) => a.cost - b.cost)
  return within(
    budgetMs,
    worth.map(({ test }) => test),
    reach,
  )
}

/** Those that fit into the time, at least the first. */
export function within(limitMs: number, tests: readonly string[], reach: Reach): string[] {
  let spent = 0
  return tests.filter((test, index) => {
    const durationMs = durationOf(test, reach)
    const fits = index === 0 || spent + durationMs <= limitMs
    if (fits) spent += durationMs
    return fits
  })
}

export function durationOf(test: string, { tests }: Reach): number {
  return tests[test]?.durationMs ?? 0
}

/**
 * The top level of a module runs when it is loaded: a test that calls any function of it, or of a module that it imports,
 * may notice.
 */
export function calls({ called }: Reached, { path, inFunction }: Pick<Mutation, 'path' | 'inFunction'>): boolean {
  const asNow = called[textKey(path)]
  if (asNow) return inFunction === null || asNow.includes(inFunction)
  return Object.keys(called).some((key) => key.startsWith(`${path}@`))
}

function importersOf(path: string, files: readonly string[]): string[] {
  return files.filter((file) => importsOf(file).some(({ target, isType }) => target === path && !isType))
}

/** Low for a quick file that is about little else than the mutated one. */
function costOf(test: string, { called, durationMs }: Reached, { path }: Mutation): number {
  const all = Object.values(called).reduce((sum, { length }) => sum + length, 0)
  const near = Object.entries(called).filter(([key]) => dirname(key) === dirname(path))
  const share = near.reduce((sum, [, { length }]) => sum + length, 0) / Math.max(1, all)
  const isNamed = importsOf(test).some(({ target }) => normalize(join(target)) === path)
  return (durationMs + 500) / (share + 0.02) / (isNamed ? 10 : 1)
}
