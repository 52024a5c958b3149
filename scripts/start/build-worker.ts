// Makes what `worker-bundle.ts` keeps, in a process of its own that pays for wrangler.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unstable_getMiniflareWorkerOptions, unstable_splitSqlQuery } from 'wrangler'
import { readProgramRuntime } from '../programs/runtime-sources.ts'
import { ROOT, WRANGLER } from './paths.ts'
import { quietEnvironment } from './quiet-environment.ts'
import { runQuietly } from './run-quietly.ts'
import type { Migration, WorkerPlan } from './worker-bundle.ts'

const CONFIG = join(ROOT, 'wrangler.toml')
const ENTRY = join(ROOT, 'scripts', 'start', 'entries', 'local.ts')

export async function build(folder: string): Promise<void> {
  const args = [
    '--no-warnings',
    WRANGLER,
    'deploy',
    ENTRY,
    '--dry-run',
    '--minify',
    '--config',
    CONFIG,
    '--outdir',
    folder,
  ]
  await runQuietly({ name: 'Bundling the Worker', args, env: quietEnvironment() })
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(CONFIG).workerOptions
  const plan: WorkerPlan = {
    options: { ...options, modules: [] },
    migrations: migrations(),
    programs: readProgramRuntime(),
  }
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan))
}

function migrations(): Migration[] {
  const folder = join(ROOT, 'migrations')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, statements: unstable_splitSqlQuery(readFileSync(join(folder, name), 'utf8')) }))
}
