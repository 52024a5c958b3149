// `npm run dev`: wrangler's development server, with reload, on the variables and the state folder of `npm start`. It is for
// those who change the code: a client that breaks off can end it, and programs of agents run in its own process.

import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../src/lib/variables.ts'
import { Fault } from '../start/fault.ts'
import { withOwnOrigins } from '../start/own-origins.ts'
import { ROOT, WRANGLER } from '../start/paths.ts'
import { HOST } from '../start/port.ts'
import { quietEnvironment } from '../start/quiet-environment.ts'
import { runQuietly } from '../start/run-quietly.ts'
import { withSecretsKey } from '../start/secrets-key.ts'
import { readSettings } from '../start/settings.ts'
import { requireRestored, type StateFolder, takeStateFolder } from '../start/state-folder.ts'
import { formatEnvFile } from './env-file.ts'

/** Further arguments go to `wrangler dev`. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    process.exitCode = await develop(args)
  } catch (error) {
    if (!(error instanceof Fault || error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

async function develop(args: readonly string[]): Promise<number> {
  const { port, stateDir, vars } = readSettings(process.env)
  requireRestored(stateDir)
  const state = await takeStateFolder(stateDir)
  const envFile = join(state.own, 'vars.env')
  process.on('exit', () => {
    rmSync(envFile, { force: true })
    state.release()
  })
  writeFileSync(envFile, formatEnvFile(withOwnOrigins(withSecretsKey(vars, state.path), port)), { mode: 0o600 })
  const env = developmentEnvironment(state)
  const migrations = ['d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', state.path]
  await runQuietly({ name: 'Applying the D1 migrations', args: ['--no-warnings', WRANGLER, ...migrations], env })
  const listen = ['--ip', HOST, '--port', String(port), '--persist-to', state.path, '--env-file', envFile]
  const child = spawn(process.execPath, ['--no-warnings', WRANGLER, 'dev', ...listen, ...args], {
    cwd: ROOT,
    env: { ...env, CI: undefined },
    stdio: 'inherit',
  })
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  // A Ctrl-C reaches the child by itself.
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

/** Servers find each other's Workers by name in a registry; with a shared one, our own service binding may lead elsewhere. */
function developmentEnvironment(state: StateFolder): NodeJS.ProcessEnv {
  return {
    ...quietEnvironment(),
    WRANGLER_CACHE_DIR: join(state.own, 'cache'),
    WRANGLER_REGISTRY_PATH: join(state.own, 'registry'),
  }
}
