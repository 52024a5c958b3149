// The Worker for `npm start`: bundled once, with its configuration, and reused until one
// of its sources changes. Reading the configuration takes wrangler, whose import alone costs more than the rest of a start.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { V4WorkerOptions } from 'miniflare'
import type { ProgramRuntime } from '../programs/runtime-config.ts'
import { fingerprint, isDoneFor, markDoneFor } from './fingerprint.ts'
import { ROOT } from './paths.ts'
import { quietEnvironment } from './quiet-environment.ts'
import { runQuietly } from './run-quietly.ts'

const SOURCES = [
  'src',
  'durable-objects',
  'migrations',
  'wrangler.toml',
  'package-lock.json',
  'scripts/start/entries',
  'scripts/start/front-word.ts',
  'scripts/start/build-worker.ts',
  'scripts/programs/entries/program-worker.ts',
  'scripts/programs/runtime-sources.ts',
].map((path) => join(ROOT, path))
const BUILT = join(ROOT, 'dist', 'worker')
const STAMP = join(ROOT, 'dist', 'worker.sha256')
const BUILDER = join(ROOT, 'scripts', 'start', 'build-worker.mjs')

export type Migration = { readonly name: string; readonly statements: readonly string[] }

/** The files that the builder writes beside the script. */
export type WorkerPlan = {
  /** Bindings, assets and compatibility, as wrangler reads them from wrangler.toml. */
  readonly options: V4WorkerOptions
  readonly migrations: readonly Migration[]
  readonly programs: ProgramRuntime
}

export const SCRIPT_FILE = join(BUILT, 'local.js')
const PLAN_FILE = join(BUILT, 'plan.json')

/** Builds dist/worker unless it is up to date; it is built in another folder and moved into place. */
export async function buildWorker(signal?: AbortSignal): Promise<void> {
  const print = fingerprint(SOURCES)
  if (existsSync(PLAN_FILE) && isDoneFor(STAMP, print)) return
  const aside = join(ROOT, 'dist', `worker-${process.pid}`)
  try {
    mkdirSync(aside, { recursive: true })
    await runQuietly({ name: 'Building the Worker', args: [BUILDER, aside], env: quietEnvironment(), signal })
    rmSync(BUILT, { recursive: true, force: true })
    renameSync(aside, BUILT)
    markDoneFor(STAMP, print)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

export function readPlan(): WorkerPlan {
  return JSON.parse(readFileSync(PLAN_FILE, 'utf8')) as WorkerPlan
}

/** The script and what it imports: WebAssembly, which lies beside it under the names that the bundler gave. */
export function modulesOf(script: string) {
  const folder = dirname(script)
  const beside = readdirSync(folder).filter((name) => name.endsWith('.wasm'))
  return [
    { type: 'ESModule' as const, path: basename(script), contents: readFileSync(script, 'utf8') },
    ...beside.map((path) => ({ type: 'CompiledWasm' as const, path, contents: readFileSync(join(folder, path)) })),
  ]
}
