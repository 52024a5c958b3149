// Miniflare as `npm start` runs it: in one file that is read in half the time, made once for what package-lock.json names.

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fingerprint, isDoneFor, markDoneFor } from './fingerprint.ts'
import { ROOT } from './paths.ts'
import { runQuietly } from './run-quietly.ts'
import { withoutSteering } from './steering.ts'

const SOURCES = ['package-lock.json', 'scripts/start/build-miniflare.ts'].map((path) => join(ROOT, path))
const BUILT = join(ROOT, 'dist', 'host')
const STAMP = join(ROOT, 'dist', 'host.sha256')
const BUILDER = join(ROOT, 'scripts', 'start', 'build-miniflare.mjs')
const FILE = join(BUILT, 'miniflare.cjs')

export function isMiniflareBuilt(): boolean {
  return existsSync(FILE) && isDoneFor(STAMP, fingerprint(SOURCES))
}

/** Builds dist/host unless it is there already; built aside and moved into place. */
export async function buildMiniflare(signal?: AbortSignal): Promise<void> {
  if (isMiniflareBuilt()) return
  const aside = join(ROOT, 'dist', `host-${process.pid}`)
  try {
    mkdirSync(aside, { recursive: true })
    await runQuietly({ name: 'Bundling Miniflare', args: [BUILDER, aside], env: withoutSteering(process.env), signal })
    rmSync(BUILT, { recursive: true, force: true })
    renameSync(aside, BUILT)
    markDoneFor(STAMP, fingerprint(SOURCES))
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

export function loadMiniflare(): typeof import('miniflare') {
  return createRequire(import.meta.url)(FILE) as typeof import('miniflare')
}
