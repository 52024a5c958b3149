// The process that runs tests in the scratch copy. It is reused for all mutants: vitest keeps its transformed modules, and
// only the mutated file is read again.

import { join, relative } from 'node:path'
import { createVitest, type Reporter, type TestModule, type Vitest } from 'vitest/node'
import type { Marks } from './instrument.ts'

export type Order = {
  tests: readonly string[]
  /** Files that have changed since the last run. */
  changed: readonly string[]
  /** Whether to stop at the first failure. */
  stopsAtFailure: boolean
}

/** Numbers of functions by file. */
export type Called = Record<string, number[]>

export type FileOutcome = {
  path: string
  state: 'passed' | 'failed' | 'skipped'
  durationMs: number
  /** The functions that were called, by file, and those that loading called before; only from a run that marks them. */
  called: Called
  loaded: Called
  errors: string[]
}

/**
 * What ended before it was cut off counts; `cutOffIn` is the file that was running when the time was over. `unstarted` are
 * errors of test files that never ran, which say nothing of the code.
 */
export type Outcome = { files: FileOutcome[]; errors: string[]; unstarted: string[]; cutOffIn: string | null }

export type SuiteMessage =
  | { kind: 'begun'; path: string }
  | { kind: 'file'; file: FileOutcome }
  | { kind: 'done'; errors: string[]; unstarted: string[] }

function say(said: SuiteMessage): void {
  process.send?.(said)
}

const root = process.cwd()

function marksOf(): Marks {
  const { __mutateMarks } = globalThis as { __mutateMarks?: Marks }
  return __mutateMarks ?? new Map()
}

function calledBy(numbers: string | undefined): Called {
  const marks = new Set((numbers ?? '').split(' ').filter(Boolean).map(Number))
  const byFile: Called = {}
  for (const [path, { first, count }] of marksOf()) {
    const own = Array.from({ length: count }, (_, index) => index).filter((index) => marks.has(first + index))
    if (own.length > 0) byFile[path] = own
  }
  return byFile
}

function outcomeOf(module: TestModule): FileOutcome {
  const failed = [...module.children.allTests('failed')]
  // What a test says tells more than what its leftovers do to the hooks behind it.
  const errors = [...failed.flatMap((test) => test.result().errors ?? []), ...module.errors()]
  const state = module.state()
  const { called, loaded } = module.meta() as { called?: string; loaded?: string }
  return {
    path: relative(root, module.moduleId),
    state: state === 'passed' || state === 'failed' ? state : 'skipped',
    durationMs: Math.round(module.diagnostic().duration),
    called: calledBy(called),
    loaded: calledBy(loaded),
    errors: errors.map(({ message }) => message.slice(0, 300)),
  }
}

/** In the words of vitest, when the process or the runtime of a test file does not come up. */
const NOT_STARTED = /\[vitest-pool\]: (Failed to start|Timeout starting) /

async function run(vitest: Vitest, { tests, changed, stopsAtFailure }: Order): Promise<SuiteMessage> {
  for (const path of changed) vitest.invalidateFile(join(root, path))
  stopsNow = stopsAtFailure
  const specifications = tests.map((path) => {
    return vitest.getProjectByName(projectOf(path)).createSpecification(join(root, path))
  })
  const result = await vitest.runTestSpecifications(specifications)
  const all = result.unhandledErrors.map((error) => String(error).slice(0, 300))
  const { unstarted = [], errors = [] } = Object.groupBy(all, (error) =>
    NOT_STARTED.test(error) ? 'unstarted' : 'errors',
  )
  return { kind: 'done', errors, unstarted }
}

/** As `vitest.config.ts` has it. */
function projectOf(path: string): string {
  if (path.startsWith('test/e2e/')) return 'e2e'
  return /^test\/(node|simulation)\//.test(path) ? 'node' : 'workers'
}

let stopsNow = false

/** The log of the copy tells where a run stands. */
const reporter: Reporter = {
  onTestModuleStart({ relativeModuleId }) {
    console.log(`${new Date().toISOString()} begins ${relativeModuleId}`)
    say({ kind: 'begun', path: relativeModuleId })
  },
  onTestModuleEnd(module) {
    console.log(`${new Date().toISOString()} ${module.state()} ${module.relativeModuleId}`)
    say({ kind: 'file', file: outcomeOf(module) })
    if (stopsNow && module.state() === 'failed') void vitest.cancelCurrentRun('test-failure')
  },
  onTestCaseResult(test) {
    if (stopsNow && test.result().state === 'failed') void vitest.cancelCurrentRun('test-failure')
  },
}

const config = 'scripts/mutate/vitest.config.ts'
const vitest = await createVitest('test', { config, watch: false, reporters: [reporter] })
process.on('message', (order: Order) => {
  run(vitest, order).then(say, (error: unknown) =>
    say({ kind: 'done', errors: [`the run broke: ${String(error)}`], unstarted: [] }),
  )
})
process.on('disconnect', () => process.exit(0))
