// Reads the sources for the runtime of a program. This needs wrangler and a process that strips types, which takes longer than the rest of a start,
// so `npm start` does it when it builds the Worker.

import { join } from 'node:path'
import { unstable_readConfig } from 'wrangler'
import { ROOT } from '../start/paths.ts'
import { modulesFrom } from './module-texts.ts'
import type { ProgramRuntime } from './runtime-config.ts'

const ENTRY = 'scripts/programs/entries/program-worker.ts'

export function readProgramRuntime(): ProgramRuntime {
  const { compatibility_date: date } = unstable_readConfig({ config: join(ROOT, 'wrangler.toml') })
  return { modules: modulesFrom(ENTRY), compatibilityDate: date ?? '' }
}
