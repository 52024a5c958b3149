import type { Reporter, TestModule } from 'vitest/node'

/**
 * Ends the run with the plain line that continuous integration reads: `N passed, N failed, N skipped`. With `REQUIRE_ALL=1`
 * a skip counts as a failure and fails the run.
 */
export default class ClosingLineReporter implements Reporter {
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
