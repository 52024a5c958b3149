import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with the plain line that continuous integration reads: `N passed, N failed, N skipped`. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      // A file that fails to load holds no test, yet must count.
      if (module.state() === 'failed' && [...module.children.allTests('failed')].length === 0) counts.failed += 1
    }
    console.log(`\n${counts.passed} passed, ${counts.failed + counts.pending} failed, ${counts.skipped} skipped`)
  }
}
