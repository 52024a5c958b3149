// The Worker for `npm start`: bundled once, with its configuration, and reused until one
// of its sources changes. Reading the configuration takes wrangler, whose import alone costs more than the rest of a start.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { V4WorkerOptions } from 'miniflare'
import type { ProgramRuntime } from '../programs/runtime-config.ts'
import { BuiltFolder } from './built-folder.ts'
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
const BUILDER = join(ROOT, 'scripts', 'start', 'build-worker.mjs')
const TITLE = 'Building the Worker'

const BUILT = new BuiltFolder({
  name: 'worker',
  title: TITLE,
  sources: SOURCES,
  proof: 'plan.json',
  async make(aside, signal) {
    mkdirSync(aside, { recursive: true })
    await runQuietly({ name: TITLE, args: [BUILDER, aside], env: quietEnvironment(), signal })
  },
})

export type Migration = { readonly name: string; readonly statements: readonly string[] }

/** The files that the builder writes beside the script. */
export type WorkerPlan = {
  /** Bindings, assets and compatibility, as wrangler reads them from wrangler.toml. */
  readonly options: V4WorkerOptions
  readonly migrations: readonly Migration[]
  readonly programs: ProgramRuntime
}

export const SCRIPT_FILE = join(BUILT.path, 'local.js')
const PLAN_FILE = join(BUILT.path, 'plan.json')

/** Builds dist/worker unless it is up to date. */
export const buildWorker = (signal?: AbortSignal): Promise<void> => BUILT.bring(signal)

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
