// `npm start`: check what was asked for, bring the database and the console up to date, then run the Worker and keep it
// running. The standard output carries the one line that says where; everything else goes to the standard error.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../src/config.ts'
import { buildConsole } from './console.ts'
import { fireCrons } from './cron.ts'
import { formatEnvFile } from './env-file.ts'
import { Fault } from './fault.ts'
import { isHealthy } from './health.ts'
import { applyMigrations } from './migrations.ts'
import { HOST, requireFreePort } from './port.ts'
import { launchRuntime, type Runtime } from './runtime.ts'
import { withSecretsKey } from './secrets-key.ts'
import { readSettings, type Settings } from './settings.ts'
import { type StateFolder, takeStateFolder } from './state-folder.ts'
import { stopSignal } from './stop-signal.ts'
import { supervise } from './supervisor.ts'
import { wranglerDevArguments, wranglerEnvironment } from './wrangler.ts'

/** A stop promises to be over in 5 s, whatever hangs. */
const STOP_DEADLINE_MS = 4_500

export async function main(): Promise<void> {
  // A reader that went away must not take the service with it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const stopped = stopSignal(() => process.exit(1))
  stopped.addEventListener('abort', () => setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref())
  try {
    await serve(readSettings(process.env), stopped)
  } catch (error) {
    if (!stopped.aborted) process.exitCode = 1
    if (!stopped.aborted) console.error(isForTheUser(error) ? error.message : error)
  }
  process.exit()
}

async function serve({ port, stateDir, vars }: Settings, stopped: AbortSignal): Promise<void> {
  await requireFreePort(port)
  const state = await takeStateFolder(stateDir)
  const envFile = join(state.own, 'vars.env')
  let runtime: Runtime | null = null
  // However this process ends, neither what it started nor the secrets stay behind.
  process.on('exit', () => {
    void runtime?.kill()
    rmSync(envFile, { force: true })
    state.release()
  })
  await prepare(state, stopped)
  writeFileSync(envFile, formatEnvFile(withSecretsKey(vars, state.path)), { mode: 0o600 })
  await supervise({
    launch: () => {
      runtime = launch(port, state, envFile)
      return runtime
    },
    probe: () => isHealthy(port),
    onReady: () => {
      console.log(`ready http://${HOST}:${port}`)
      void fireCrons(port, stopped)
    },
    onRestart: (restart) =>
      console.error(JSON.stringify({ level: 'warn', event: 'start.runtime_restarted', ...restart })),
    stopped,
  })
}

/** Both end before this does, so that a failure of one leaves no work of the other behind. */
async function prepare(state: StateFolder, stopped: AbortSignal): Promise<void> {
  const results = await Promise.allSettled([applyMigrations(state, stopped), buildConsole(stopped)])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

function launch(port: number, state: StateFolder, envFile: string): Runtime {
  return launchRuntime({
    args: wranglerDevArguments(port, state, envFile),
    env: wranglerEnvironment(state),
    write: (line) => console.error(line),
  })
}

function isForTheUser(error: unknown): error is Error {
  return error instanceof Fault || error instanceof ConfigError
}
