import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { wantedNumber } from './wanted-number.ts'

/** A run longer than this counts as hanging: the whole suite takes a quarter of it on two cores. `npm run proof` has a longer limit. */
const LIMIT_MINUTES = wantedNumber('TEST_LIMIT_MINUTES', process.env.PROOF === '1' ? 1_440 : 60)
/** Shutdown after the last file takes seconds. */
const AFTER_LAST_FILE_MS = 60_000

type Counts = { passed: number; failed: number; skipped: number; pending: number }

/** The content of the file `TEST_COUNTS`, for the script that adds up several runs and prints all failures at the end. */
export type CountsFile = { passed: number; failed: number; skipped: number; failures: string[] }

/**
 * Ends the run with the plain line that continuous integration reads: `N passed, N failed, N skipped`, or writes it to the file
 * that `TEST_COUNTS` names, for the script that adds up several runs. With `REQUIRE_ALL=1` a skip is a failure and fails the run.
 * It also ends a run that exceeds its time limit, and prints the tests that were running.
 */
export default class ClosingLineReporter implements Reporter {
  readonly #running = new Map<string, string>()
  /** Files that a worker has started and not finished: a hang between two tests is in one of them. */
  readonly #files = new Set<string>()
  readonly #failed: string[] = []
  readonly #ended: Counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  readonly #modules = new Map<string, TestModule>()
  #wanted = new Set<string>()
  #vitest: Vitest | null = null

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
    setTimeout(() => this.#giveUp(), LIMIT_MINUTES * 60_000).unref()
  }

  onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#wanted = new Set(specifications.map(({ taskId }) => taskId))
  }

  onTestModuleQueued(module: TestModule): void {
    this.#files.add(fileOf(module))
  }

  /**
   * An object of a test may have been aborted during a call to the test runner, and a worker's pool ends only when
   * every such call has settled. When every file has ended, there is nothing to wait for.
   */
  onTestModuleEnd(module: TestModule): void {
    this.#files.delete(fileOf(module))
    this.#modules.set(module.id, module)
    if (this.#wanted.size === 0 || [...this.#wanted].some((id) => !this.#modules.has(id))) return
    setTimeout(() => this.#endAnyway(), AFTER_LAST_FILE_MS).unref()
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.set(test.id, `${test.module.relativeModuleId}: ${test.fullName}`)
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(test.id)
    const result = test.result()
    this.#ended[result.state] += 1
    if (result.state === 'failed') {
      this.#failed.push(`${test.module.relativeModuleId}: ${test.fullName}\n    ${result.errors[0]?.message ?? ''}`)
    }
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const counts: Counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    const skipped: string[] = []
    const failures = [
      ...this.#failed,
      ...unhandledErrors.map((error) => `outside of any test\n    ${messageOf(error)}`),
    ]
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1
        if (test.result().state === 'skipped') skipped.push(`${module.relativeModuleId}: ${test.fullName}`)
      }
      // A file that fails to load has no tests, but must count as a failure.
      if (module.state() === 'failed' && [...module.children.allTests('failed')].length === 0) {
        counts.failed += 1
        failures.push(`${module.relativeModuleId}: the file itself\n    ${messageOf(module.errors()[0])}`)
      }
    }
    if (process.env.REQUIRE_ALL === '1' && skipped.length > 0) {
      console.log(`\nSkipped, which REQUIRE_ALL=1 forbids:\n  ${skipped.join('\n  ')}`)
      counts.failed += counts.skipped
      failures.push(...skipped.map((name) => `${name}\n    skipped, which REQUIRE_ALL=1 forbids`))
      counts.skipped = 0
      process.exitCode = 1
    }
    close({ ...counts, failed: counts.failed + counts.pending }, failures)
  }

  #endAnyway(): void {
    console.log(`\nEvery file has ended ${AFTER_LAST_FILE_MS / 1000} s ago, and the pool has not: it is ended.`)
    list('What failed', this.#failed)
    const errors = this.#vitest?.state.getUnhandledErrors() ?? []
    for (const error of errors) console.error(error)
    this.onTestRunEnd([...this.#modules.values()], errors)
    process.exit(this.#failed.length > 0 || errors.length > 0 ? 1 : process.exitCode)
  }

  #giveUp(): void {
    const { failed } = this.#ended
    console.log(`\nNo end after ${LIMIT_MINUTES} minutes.`)
    list('What failed by then', this.#failed)
    list('Files that did not end', this.#files)
    list('Tests that ran', this.#running.values())
    const unended = [...this.#running.values()].map((name) => `${name}\n    did not end`)
    close({ ...this.#ended, failed: failed + Math.max(1, this.#running.size) }, [...this.#failed, ...unended])
    process.exit(1)
  }
}

function close({ passed, failed, skipped }: Counts, failures: string[]): void {
  const file = process.env.TEST_COUNTS
  if (file === undefined) console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
  else writeFileSync(file, JSON.stringify({ passed, failed, skipped, failures } satisfies CountsFile))
}

const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error ?? '')

const fileOf = (module: TestModule): string => `${module.project.name} ${module.relativeModuleId}`

function list(title: string, lines: Iterable<string>): void {
  const all = [...lines]
  console.log(`\n${title}:${all.length === 0 ? ' none' : `\n  ${all.join('\n  ')}`}`)
}
