import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprint, isDoneFor, markDoneFor } from './fingerprint.ts'
import { ROOT, VITE } from './paths.ts'
import { runQuietly } from './run-quietly.ts'

const SOURCES = ['src/web', 'package-lock.json'].map((path) => join(ROOT, path))
const BUILT = join(ROOT, 'dist', 'web')
const STAMP = join(ROOT, 'dist', 'web.sha256')

/**
 * Builds the console into dist/web unless that is what its sources make already. It is built aside and moved into place,
 * so a server that runs meanwhile never serves half of it.
 */
export async function buildConsole(signal?: AbortSignal): Promise<void> {
  const print = fingerprint(SOURCES)
  if (existsSync(BUILT) && isDoneFor(STAMP, print)) return
  const aside = join(ROOT, 'dist', `web-${process.pid}`)
  const args = [
    VITE,
    'build',
    '--config',
    'src/web/vite.config.ts',
    '--logLevel',
    'warn',
    '--outDir',
    aside,
    '--emptyOutDir',
  ]
  try {
    await runQuietly({ name: 'Building the console', args, env: process.env, signal })
    replace(BUILT, aside)
    markDoneFor(STAMP, print)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

function replace(folder: string, by: string): void {
  const old = `${by}-old`
  mkdirSync(join(folder, '..'), { recursive: true })
  if (existsSync(folder)) renameSync(folder, old)
  renameSync(by, folder)
  rmSync(old, { recursive: true, force: true })
}
