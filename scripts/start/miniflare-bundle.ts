// Miniflare as `npm start` runs it: in one file that is read in half the time, made once for what package-lock.json names.

import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { BuiltFolder } from './built-folder.ts'
import { ROOT } from './paths.ts'
import { runQuietly } from './run-quietly.ts'
import { withoutSteering } from './steering.ts'

const BUILDER = join(ROOT, 'scripts', 'start', 'build-miniflare.mjs')
const TITLE = 'Bundling Miniflare'

const BUILT = new BuiltFolder({
  name: 'host',
  title: TITLE,
  sources: ['package-lock.json', 'scripts/start/build-miniflare.ts'].map((path) => join(ROOT, path)),
  proof: 'miniflare.cjs',
  async make(aside, signal) {
    mkdirSync(aside, { recursive: true })
    await runQuietly({ name: TITLE, args: [BUILDER, aside], env: withoutSteering(process.env), signal })
  },
})
const FILE = join(BUILT.path, 'miniflare.cjs')

export const isMiniflareBuilt = (): boolean => BUILT.isDone

/** Builds dist/host unless it is there already. */
export const buildMiniflare = (signal?: AbortSignal): Promise<void> => BUILT.bring(signal)

export function loadMiniflare(): typeof import('miniflare') {
  return createRequire(import.meta.url)(FILE) as typeof import('miniflare')
}
