// The test files to run against a mutant, the most likely to detect it first.

import { dirname, join, normalize } from 'node:path'
import { importsOf } from '../../test/support/source-tree.ts'
import type { Mutation } from './mutations.ts'
import { type Reach, type Reached, textKey } from './reach.ts'
import { PROGRAM_RUNTIME } from './scratch.ts'

/** Code in the isolate of a program leaves no mark, so every test that loads it may detect the mutant. */
const RUNTIME_LOADER = 'src/kits/node-program/isolate.ts'

export type Choice = { reach: Reach; files: readonly string[]; budgetMs: number }

export function testsFor(mutation: Mutation, { reach, files, budgetMs }: Choice): string[] {
  const isLoad = runsOnLoad(mutation, reach)
  const callers = isLoad ? withImporters(mutation.path, files) : new Set([mutation.path])
  const inFunction = isLoad ? null : mutation.inFunction
  const isBuilt = mutation.path.startsWith(PROGRAM_RUNTIME)
  const worth = Object.entries(reach.tests)
    .filter(([, { state }]) => state === 'passed')
    .filter(
      ([, reached]) =>
        [...callers].some((path) => calls(reached, { path, inFunction })) ||
        (isBuilt && calls(reached, { path: RUNTIME_LOADER, inFunction: null })),
    )
    .map(([test, reached]) => ({ test, cost: costOf(test, reached, mutation) }))
    .sort((a, b) => a.cost - b.cost)
  return testsWithin(
    budgetMs,
    worth.map(({ test }) => test),
    reach,
  )
}

/** The tests that fit into the time budget, at least the first. */
export function testsWithin(limitMs: number, tests: readonly string[], reach: Reach): string[] {
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
export function calls(
  { called, steps }: Reached,
  { path, inFunction }: Pick<Mutation, 'path' | 'inFunction'>,
): boolean {
  if (steps?.has(path)) return true
  const asNow = called[textKey(path)]
  if (asNow) return inFunction === null || asNow.includes(inFunction)
  return Object.keys(called).some((key) => key.startsWith(`${path}@`))
}

/** Also a function that the top level of a module calls, such as one that makes a schema. */
export function runsOnLoad({ path, inFunction }: Mutation, { loaded }: Reach): boolean {
  return inFunction === null || (loaded[textKey(path)] ?? []).includes(inFunction)
}

/** So many imports away is whoever uses what a module made when it was loaded. */
const IMPORTS_AWAY = 3

function withImporters(path: string, files: readonly string[]): Set<string> {
  const found = new Set([path])
  for (let away = 0; away < IMPORTS_AWAY; away++) {
    const known = new Set(found)
    for (const file of files) if (importedBy(file).some((target) => known.has(target))) found.add(file)
  }
  return found
}

const imported = new Map<string, readonly string[]>()

/** Every mutant asks for all of them. */
function importedBy(file: string): readonly string[] {
  const known = imported.get(file)
  if (known) return known
  const targets = importsOf(file).flatMap(({ target, isType }) => (isType ? [] : [target]))
  imported.set(file, targets)
  return targets
}

/** Low for a quick file that is about little else than the mutated one. */
function costOf(test: string, reached: Reached, { path }: Mutation): number {
  const { steps, durationMs } = reached
  const share = steps ? kinship(test, path) / (steps.get(path) ?? steps.size) : shareOf(reached, path)
  const isNamed = importsOf(test).some(({ target }) => normalize(join(target)) === path)
  return (durationMs + 500) / (share + 0.02) / (isNamed ? 10 : 1)
}

/** Of the functions that a test calls, how many are in the folder of the mutated one. */
function shareOf({ called }: Reached, path: string): number {
  const all = Object.values(called).reduce((sum, { length }) => sum + length, 0)
  const near = Object.entries(called).filter(([key]) => dirname(key) === dirname(path))
  return near.reduce((sum, [, { length }]) => sum + length, 0) / Math.max(1, all)
}

/** How many of the words in the path of a file are in that of a test, as the folders of tests are named like those they test. */
function kinship(test: string, path: string): number {
  const ofTest = new Set(wordsIn(test))
  const own = wordsIn(path)
  return own.filter((word) => ofTest.has(word)).length / own.length
}

function wordsIn(path: string): string[] {
  const words = path.split(/[^a-z0-9]+/i).slice(1, -1)
  return words.map((word) => word.replace(/s$/, ''))
}
