// The console: built into dist/web, and taken from there by each service that serves it.

import { copyFileSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BuiltFolder } from './built-folder.ts'
import { messageOf } from './fault.ts'
import { ROOT, VITE } from './paths.ts'
import { runQuietly } from './run-quietly.ts'

const TITLE = 'Building the console'
const VITE_BUILD = [VITE, 'build', '--config', 'src/web/vite.config.ts', '--logLevel', 'warn', '--emptyOutDir']

const BUILT = new BuiltFolder({
  name: 'web',
  title: TITLE,
  sources: ['src/web', 'package-lock.json'].map((path) => join(ROOT, path)),
  proof: 'index.html',
  make: (aside, signal) =>
    runQuietly({ name: TITLE, args: [...VITE_BUILD, '--outDir', aside], env: process.env, signal }),
})

/** Builds the console into dist/web unless that is what its sources make already. */
export const buildConsole = (signal?: AbortSignal): Promise<void> => BUILT.bring(signal)

/**
 * Gives a service the console in a folder of its own. The runtime learns which files there are when it starts, and answers 500 for
 * each that is gone: a build while the service runs must not take them away.
 */
export async function takeConsole(into: string, signal?: AbortSignal): Promise<void> {
  for (;;) {
    await buildConsole(signal)
    if (tookWhole(BUILT, into)) return
  }
}

/** False when another build came between. */
export function tookWhole(built: Pick<BuiltFolder, 'path' | 'stamp'>, into: string): boolean {
  const before = built.stamp
  try {
    rmSync(into, { recursive: true, force: true })
    linkAll(built.path, into)
  } catch (error) {
    if (built.stamp === before) throw error
    return false
  }
  return before !== null && built.stamp === before
}

function linkAll(from: string, into: string): void {
  mkdirSync(into)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(into, entry.name)]
    if (entry.isDirectory()) linkAll(source, target)
    else linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch (error) {
    // Another disk, or one that knows no links. A file that is gone has no copy either.
    if (messageOf(error).startsWith('ENOENT')) throw error
    copyFileSync(source, target)
  }
}
