import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** A run that takes so long hangs: the whole suite takes a quarter of it on two cores. `npm run proof` may take its time. */
const LIMIT_MINUTES = Number(process.env.TEST_LIMIT_MINUTES ?? (process.env.PROOF === '1' ? 1_440 : 60))

/**
 * Ends the run with the plain line that continuous integration reads: `N passed, N failed, N skipped`. With `REQUIRE_ALL=1`
 * a skip counts as a failure and fails the run. A run that passes its limit of time is ended too, and says what ran by then.
 */
export default class ClosingLineReporter implements Reporter {
  readonly #running = new Map<string, string>()
  readonly #ended = { passed: 0, failed: 0, skipped: 0, pending: 0 }

  onInit(): void {
    setTimeout(() => this.#giveUp(), LIMIT_MINUTES * 60_000).unref()
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.set(test.id, `${test.module.relativeModuleId}: ${test.fullName}`)
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(test.id)
    this.#ended[test.result().state] += 1
  }

  #giveUp(): void {
    const { passed, failed, skipped } = this.#ended
    console.log(
      `\nNo end after ${LIMIT_MINUTES} minutes. What ran by then:\n  ${[...this.#running.values()].join('\n  ')}`,
    )
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
