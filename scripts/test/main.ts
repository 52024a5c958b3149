// `npm test`: builds what the tests need, prints whether there is a browser, and starts vitest. The last
// line that it prints is the closing one.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium } from '../../test/support/chromium.ts'
import type { CountsFile } from '../../test/support/closing-line-reporter.ts'
import { buildConsole } from '../start/console.ts'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'

const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')

/** Runs the suite, or the part of it that these arguments name, and ends this process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const chromium = requireOrMissBrowser()
    await buildConsole()
    process.exitCode = await runAll(args, chromium)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    console.log('\n0 passed, 1 failed, 0 skipped')
    process.exitCode = 1
  }
}

function requireOrMissBrowser(): string | null {
  const chromium = findChromium()
  if (chromium !== null) return chromium
  const where = process.env.CHROMIUM_PATH ? `at CHROMIUM_PATH=${process.env.CHROMIUM_PATH}` : 'on this machine'
  if (process.env.REQUIRE_ALL === '1')
    throw new Fault(`No Chromium was found ${where}, and REQUIRE_ALL=1 asks for one.`)
  console.error(`No Chromium was found ${where}: the browser journeys are skipped. Install it, or set CHROMIUM_PATH.`)
  return null
}

/** After a stop signal no further run starts. */
let isStopped = false

/** Adds up the runs, lists all failures, prints the closing line, and returns the exit code. */
async function runAll(args: readonly string[], chromium: string | null): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-test-'))
  const sum: CountsFile = { passed: 0, failed: 0, skipped: 0, failures: [] }
  let exitCode = 0
  try {
    for (const [at, projects] of runsOf(args).entries()) {
      if (isStopped) return 1
      const file = join(folder, `counts-${at}.json`)
      const env = { ...process.env, TEST_COUNTS: file, ...(chromium !== null && { CHROMIUM_PATH: chromium }) }
      const code = await runVitest([...projects, '--passWithNoTests', ...args], env)
      exitCode ||= code
      // A run that ended before it could count is one failure.
      const counts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CountsFile) : null
      sum.passed += counts?.passed ?? 0
      sum.failed += Math.max(counts?.failed ?? 0, code === 0 ? 0 : 1)
      sum.skipped += counts?.skipped ?? 0
      sum.failures.push(...(counts?.failures ?? (code === 0 ? [] : ['the run ended before it could count'])))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (sum.passed + sum.failed + sum.skipped === 0) {
    console.error(`No test is named by: ${args.join(' ')}`)
    sum.failed = 1
    exitCode = 1
  }
  // Readers look at the end of a log, and a failure of the first run is far above it.
  if (sum.failures.length > 0) console.log(`\nWhat failed:\n  ${sum.failures.join('\n  ')}`)
  console.log(`\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`)
  return exitCode
}

/**
 * The tests in the Worker's runtime and the others are separate runs: the pool of the first may hang when it has nothing
 * more to do, and must not block the others. Runs without selected tests are not started.
 */
function runsOf(args: readonly string[]): string[][] {
  if (args.some((arg) => arg.startsWith('--project'))) return [[]]
  const paths = args.filter((arg) => !arg.startsWith('-'))
  const isAll = (pattern: RegExp) => paths.length > 0 && paths.every((path) => pattern.test(path))
  const [inRuntime, others] = [
    ['--project', 'workers'],
    ['--project', '!workers'],
  ]
  if (isAll(/^test\/(unit|integration|contract)\b/)) return [inRuntime]
  if (isAll(/^(test\/(node|simulation|e2e)|runner|client)\b/)) return [others]
  return [inRuntime, others]
}

async function runVitest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [VITEST, 'run', ...args], { cwd: ROOT, env, stdio: 'inherit' })
  const stop = (signal: NodeJS.Signals) => {
    isStopped = true
    // A Ctrl-C reaches the child directly; a signal to only this process must be forwarded.
    if (signal !== 'SIGINT') child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
