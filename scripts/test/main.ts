// `npm test`: builds what the tests need, says whether there is a browser, and hands over to vitest, whose reporter prints
// the closing line.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { findChromium } from '../../test/support/chromium.ts'
import { buildConsole } from '../start/console.ts'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'

const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')

/** Runs the suite, or the part of it that these arguments name, and ends this process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const chromium = requireOrMissBrowser()
    await buildConsole()
    process.exitCode = await runVitest(args, chromium)
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

async function runVitest(args: readonly string[], chromium: string | null): Promise<number> {
  const child = spawn(process.execPath, [VITEST, 'run', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...(chromium !== null && { CHROMIUM_PATH: chromium }) },
    stdio: 'inherit',
  })
  // A Ctrl-C reaches the child by itself; a signal to this process alone has to be passed on.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
