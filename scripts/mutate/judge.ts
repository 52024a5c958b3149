// Decides whether the tests detect the mutants: first many at once if their tests do not overlap, then the rest one by one.

import { textOf } from '../../test/support/source-tree.ts'
import { grouped, type Member, testsOf } from './groups.ts'
import { type Mutation, mutated } from './mutations.ts'
import type { Reach } from './reach.ts'
import type { Scratch } from './scratch.ts'
import type { Suite } from './suite.ts'
import type { FileOutcome, Order, Outcome } from './suite-process.ts'
import { durationOf, testsFor } from './tests-for.ts'
import type { Verdicts } from './verdicts.ts'

/** `error`: its tests did not start, so the verdict is unknown. */
export type Verdict = { state: 'caught' | 'survived' | 'not reached' | 'error'; by: string }

export type Court = {
  scratch: Pick<Scratch, 'write' | 'build' | 'restore'>
  suite: Suite
  reach: Reach
  files: readonly string[]
  budgetMs: number
  /** The minimum time limit of a test file. */
  leastMs: number
  verdicts: Pick<Verdicts, 'find' | 'keep'>
}

type OnVerdict = (mutation: Mutation, verdict: Verdict) => void

// A multiple of what a test file takes without a mutant, and a minute for the smallest ones.
export const LEAST_MS = 60_000
const SLOWER = 4

/** Reports each verdict as soon as it is known. */
export async function judge(mutants: readonly Mutation[], court: Court, told: OnVerdict): Promise<void> {
  const asked = new Map(mutants.map((one) => [one, testsFor(one, court)]))
  const left = new Map(asked)
  const decide = (mutation: Mutation, verdict: Verdict) => {
    left.delete(mutation)
    court.verdicts.keep(mutation, verdict, asked.get(mutation) ?? [])
    told(mutation, verdict)
  }
  for (const [one, tests] of asked) {
    const known = court.verdicts.find(one, tests)
    if (tests.length === 0) decide(one, { state: 'not reached', by: 'no test' })
    else if (known !== null) decide(one, known)
  }
  for (const group of grouped(left, court.reach)) await judgeTogether(group, court, { left, decide })
  for (const [mutation, tests] of left) decide(mutation, await alone({ mutation, tests }, court))
}

type Undecided = { left: Map<Mutation, readonly string[]>; decide: OnVerdict }

async function judgeTogether(group: readonly Member[], court: Court, undecided: Undecided): Promise<void> {
  const { left, decide } = undecided
  const { files, errors, unstarted, cutOffIn } = await tried(group, court, { stopsAtFailure: false })
  // An error outside the tests belongs to no single mutation: each mutation is tried again, alone.
  if (errors.length > 0 || unstarted.length > 0) return
  const broken = await failingAnyway(files, court)
  const rest: Member[] = []
  for (const { mutation, tests } of group) {
    const own = files.filter(({ path }) => tests.includes(path))
    const failed = await steadyFailure(
      mutation,
      own.filter(({ path }) => !broken.has(path)),
      court,
    )
    if (failed !== null) {
      decide(mutation, { state: 'caught', by: failed })
      continue
    }
    const isDone = (test: string) => own.some(({ path }) => path === test)
    left.set(mutation, left.get(mutation)?.filter((test) => !isDone(test)) ?? [])
    // The mutant that caused the timeout is tried alone; the others continue without it.
    const undone = tests.filter((test) => !isDone(test))
    if (undone.length > 0 && cutOffIn !== null && !undone.includes(cutOffIn)) rest.push({ mutation, tests: undone })
  }
  if (rest.length > 0) await judgeTogether(rest, court, undecided)
}

async function alone({ mutation, tests: wanted }: Member, court: Court): Promise<Verdict> {
  const tests = wanted.filter((test) => court.reach.tests[test]?.state === 'passed')
  if (tests.length === 0) return { state: 'survived', by: '' }
  const { files, errors, unstarted, cutOffIn } = await steadyOutcome({ mutation, tests }, court)
  const broken = await failingAnyway(files, court)
  if (broken.size > 0) {
    const ended = new Set(files.map(({ path }) => path))
    return alone({ mutation, tests: tests.filter((test) => !ended.has(test)) }, court)
  }
  const failed = await steadyFailure(mutation, files, court)
  if (failed !== null) return { state: 'caught', by: failed }
  if (failureIn(files) !== null) {
    const ended = new Set(files.map(({ path }) => path))
    return alone({ mutation, tests: tests.filter((test) => !ended.has(test)) }, court)
  }
  if (unstarted[0] !== undefined) return { state: 'error', by: unstarted[0] }
  if (cutOffIn !== null && (await isSlowAnyway(cutOffIn, court))) {
    const ended = new Set(files.map(({ path }) => path))
    return alone({ mutation, tests: tests.filter((test) => !ended.has(test)) }, court)
  }
  const by = errors[0] ?? (cutOffIn === null ? undefined : `the limit of time, in ${cutOffIn}`)
  return by === undefined ? { state: 'survived', by: '' } : { state: 'caught', by }
}

/** An error without a failed test may be the process's own: it counts when it comes twice. */
async function steadyOutcome(member: Member, court: Court): Promise<Outcome> {
  const outcome = await tried([member], court, { stopsAtFailure: true })
  if (failureIn(outcome.files) !== null || outcome.errors.length === 0) return outcome
  court.suite.close()
  return tried([member], court, { stopsAtFailure: true })
}

/** Test files that failed and do so without any mutation as well: what earlier runs left behind may do that. */
async function failingAnyway(files: readonly FileOutcome[], court: Court): Promise<Set<string>> {
  const tests = files.filter(({ state }) => state === 'failed').map(({ path }) => path)
  if (tests.length === 0) return new Set()
  const outcome = await court.suite.run({ tests, changed: [], stopsAtFailure: false }, (test) => limitMsOf(test, court))
  const passed = new Set(outcome.files.filter(({ state }) => state === 'passed').map(({ path }) => path))
  return new Set(tests.filter((test) => !passed.has(test)))
}

/** Of a test that was not run for the record the time is only a guess: it says nothing when it lasts as long without the mutation. */
async function isSlowAnyway(test: string, court: Court): Promise<boolean> {
  const guessed = court.reach.tests[test]
  if (guessed?.hash !== '') return false
  const order = { tests: [test], changed: [], stopsAtFailure: false }
  const { files } = await court.suite.run(order, () => limitMsOf(test, court))
  const passed = files.some(({ state }) => state === 'passed')
  // It does not delay other mutations.
  if (!passed) guessed.state = 'skipped'
  return !passed
}

async function tried(members: readonly Member[], court: Court, how: Pick<Order, 'stopsAtFailure'>): Promise<Outcome> {
  const { scratch, suite } = court
  const tests = [...testsOf(members)]
  const paths = members.map(({ mutation }) => mutation.path)
  for (const { mutation } of members) scratch.write(mutation.path, mutated(textOf(mutation.path), mutation))
  const changed = [...paths, ...scratch.build(paths)]
  try {
    return await suite.run({ tests, changed, ...how }, (test) => limitMsOf(test, court))
  } finally {
    for (const path of changed) scratch.restore(path)
    suite.changedSince(changed)
  }
}

function limitMsOf(test: string, { reach, leastMs }: Court): number {
  return leastMs + SLOWER * durationOf(test, reach)
}

/** A test that fails from time to time notices nothing: it counts when it fails with the mutant again. */
async function steadyFailure(mutation: Mutation, files: readonly FileOutcome[], court: Court): Promise<string | null> {
  const failed = files.find(({ state }) => state === 'failed')
  if (failed === undefined) return null
  const again = await tried([{ mutation, tests: [failed.path] }], court, { stopsAtFailure: true })
  if (failureIn(again.files) !== null) return failureIn([failed])
  return steadyFailure(
    mutation,
    files.filter((file) => file !== failed),
    court,
  )
}

function failureIn(files: readonly FileOutcome[]): string | null {
  const failed = files.find(({ state }) => state === 'failed')
  return failed ? `${failed.path}: ${failed.errors[0]?.split('\n')[0] ?? 'no message'}` : null
}
