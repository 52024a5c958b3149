import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** A run that takes so long hangs: the whole suite takes a quarter of it on two cores. `npm run proof` may take its time. */
const LIMIT_MINUTES = Number(process.env.TEST_LIMIT_MINUTES ?? (process.env.PROOF === '1' ? 1_440 : 60))

/**
 * Ends the run with the plain line that continuous integration reads: `N passed, N failed, N skipped`. With `REQUIRE_ALL=1`
 * a skip counts as a failure and fails the run. A run that passes its limit of time is ended too, and says what ran by then.
 */
export default class ClosingLineReporter implements Reporter {
  readonly #running = new Map<string, string>()
  /** Files that were handed to a worker and have not ended: what hangs between two tests is in one of them. */
  readonly #files = new Set<string>()
  readonly #failed: string[] = []
  readonly #ended = { passed: 0, failed: 0, skipped: 0, pending: 0 }

  onInit(): void {
    setTimeout(() => this.#giveUp(), LIMIT_MINUTES * 60_000).unref()
  }

  onTestModuleQueued(module: TestModule): void {
    this.#files.add(fileOf(module))
  }

  onTestModuleEnd(module: TestModule): void {
    this.#files.delete(fileOf(module))
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

  #giveUp(): void {
    const { passed, failed, skipped } = this.#ended
    console.log(`\nNo end after ${LIMIT_MINUTES} minutes.`)
    list('What failed by then', this.#failed)
    list('Files that did not end', this.#files)
    list('Tests that ran', this.#running.values())
    console.log(`\n${passed} passed, ${failed + Math.max(1, this.#running.size)} failed, ${skipped} skipped`)
    process.exit(1)
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    const skipped: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1
        if (test.result().state === 'skipped') skipped.push(`${module.relativeModuleId}: ${test.fullName}`)
      }
      // A file that fails to load holds no test, yet must count.
      if (module.state() === 'failed' && [...module.children.allTests('failed')].length === 0) counts.failed += 1
    }
    if (process.env.REQUIRE_ALL === '1' && skipped.length > 0) {
      console.log(`\nSkipped, which REQUIRE_ALL=1 forbids:\n  ${skipped.join('\n  ')}`)
      counts.failed += counts.skipped
      counts.skipped = 0
      process.exitCode = 1
    }
    console.log(`\n${counts.passed} passed, ${counts.failed + counts.pending} failed, ${counts.skipped} skipped`)
  }
}

const fileOf = (module: TestModule): string => `${module.project.name} ${module.relativeModuleId}`

function list(title: string, lines: Iterable<string>): void {
  const all = [...lines]
  console.log(`\n${title}:${all.length === 0 ? ' none' : `\n  ${all.join('\n  ')}`}`)
}
