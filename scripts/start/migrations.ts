import { join } from 'node:path'
import { fingerprint, isDoneFor, markDoneFor } from './fingerprint.ts'
import { ROOT, WRANGLER } from './paths.ts'
import { runQuietly } from './run-quietly.ts'
import type { StateFolder } from './state-folder.ts'
import { wranglerEnvironment } from './wrangler.ts'

/**
 * Applies the D1 migrations to the local database. The stamp lies beside the database, so that whoever deletes one deletes
 * both, and skips a second of work when nothing changed.
 */
export async function applyMigrations(state: StateFolder, signal?: AbortSignal): Promise<void> {
  const stamp = join(state.path, 'v3', 'd1', 'migrations.sha256')
  const print = fingerprint([join(ROOT, 'migrations'), join(ROOT, 'wrangler.toml')])
  if (isDoneFor(stamp, print)) return
  const args = ['--no-warnings', WRANGLER, 'd1', 'migrations', 'apply', 'DB', '--local', '--persist-to', state.path]
  await runQuietly({ name: 'Applying the D1 migrations', args, env: wranglerEnvironment(state), signal })
  markDoneFor(stamp, print)
}
