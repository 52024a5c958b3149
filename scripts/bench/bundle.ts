// Both sides are bundled by the same tool with the same settings, those of a deployment.

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { unstable_readConfig } from 'wrangler'
import { ROOT, WRANGLER } from '../start/paths.ts'
import { runQuietly } from '../start/run-quietly.ts'

const BENCH = join(ROOT, 'scripts', 'bench')
export const CONFIG = join(ROOT, 'wrangler.toml')

/** A baseline, or an entry of the benchmark's own; `object` is its class, where it has one. */
export const SMALL = {
  hello: { file: join(BENCH, 'baselines', 'hello.ts'), object: null },
  'empty-object': { file: join(BENCH, 'baselines', 'empty-object.ts'), object: 'EmptyObject' },
  'raw-log': { file: join(BENCH, 'baselines', 'raw-log.ts'), object: 'RawLog' },
  append: { file: join(BENCH, 'entries', 'append.ts'), object: 'AppendBench' },
  search: { file: join(BENCH, 'entries', 'search.ts'), object: 'SearchBench' },
  'model-stream': { file: join(BENCH, 'entries', 'model-stream.ts'), object: null },
} as const

/** Bellwether with a way to fill it that no client has. */
const SEEDED = join(BENCH, 'entries', 'seeded.ts')

export type SmallName = keyof typeof SMALL

export type Small = { readonly name: SmallName; readonly script: string; readonly object: string | null }

export type Bundles = {
  readonly worker: { readonly script: string; readonly bytes: number; readonly gzipBytes: number }
  /** Made when it is first asked for. */
  seeded(): Promise<string>
  readonly small: readonly Small[]
}

/** Bundles below a folder what is needed: each takes seconds. `worker`: without what it is held against. */
export async function bundleAll(outDir: string, which: 'all' | 'worker'): Promise<Bundles> {
  const worker = await bundleWorker(outDir)
  const small: Small[] = []
  for (const [name, { file, object }] of which === 'all' ? Object.entries(SMALL) : []) {
    small.push({ name: name as SmallName, script: await bundleFile(file, outDir), object })
  }
  const code = readFileSync(worker)
  let seeded: Promise<string> | null = null
  return {
    worker: { script: worker, bytes: code.length, gzipBytes: gzipSync(code).length },
    seeded: () => {
      seeded ??= bundleFile(SEEDED, outDir)
      return seeded
    },
    small,
  }
}

/** The Worker as it is deployed; answers its file. */
export function bundleWorker(outDir: string): Promise<string> {
  return bundle(CONFIG, join(outDir, 'worker'), 'index.js')
}

/** Bundles an entry of one's own; answers its file. */
export async function bundleFile(file: string, outDir: string): Promise<string> {
  const name = basename(file, '.ts')
  const config = join(outDir, `${name}.json`)
  writeFileSync(config, JSON.stringify({ name, main: file, ...runtimeSettings() }))
  return bundle(config, join(outDir, name), `${name}.js`)
}

/** What changes how code is bundled and run, so that it holds for both sides. */
export function runtimeSettings() {
  const { compatibility_date, compatibility_flags, keep_names } = unstable_readConfig({ config: CONFIG })
  if (compatibility_date === undefined) throw new Error(`${CONFIG} names no compatibility date`)
  return { compatibility_date, compatibility_flags, ...(keep_names === undefined ? {} : { keep_names }) }
}

async function bundle(config: string, outDir: string, script: string): Promise<string> {
  const args = ['deploy', '--dry-run', '--minify', '--config', config, '--outdir', outDir]
  await runWrangler(`Bundling with ${basename(config)}`, args)
  return join(outDir, script)
}

/** Without a question, a word to anyone, or anything printed unless it fails. */
export async function runWrangler(name: string, args: readonly string[]): Promise<void> {
  const quiet = { WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', WRANGLER_WRITE_LOGS: 'false' }
  const env = { ...process.env, ...quiet, CI: 'true', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  await runQuietly({ name, args: ['--no-warnings', WRANGLER, ...args], env })
}
