// A runner beside the local service: it finds the service's port and the token in the state folder by itself.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './paths.ts'
import { HOST } from './port.ts'
import { RUNNER_TOKEN_FILE } from './secrets-key.ts'
import { readSettings } from './settings.ts'

const NAMES_SERVICE = /^--(url|key|key-file)(=|$)/
const ENDS_AT_ONCE = /^(--help|--version|-h)$/

/** The arguments of the runner, with the address and the token of the local service where they name no other. */
export function runnerArguments(args: readonly string[], env: Readonly<Record<string, string | undefined>>): string[] {
  if (args.some((arg) => ENDS_AT_ONCE.test(arg))) return [...args]
  const isTold = args.some((arg) => NAMES_SERVICE.test(arg)) || env.BELLWETHER_RUNNER_URL !== undefined
  if (isTold) return [...args]
  const { port, stateDir } = readSettings({ ...env })
  return ['--url', `http://${HOST}:${port}`, '--key-file', join(stateDir, RUNNER_TOKEN_FILE), ...args]
}

/** For `npm start -- --runner`. What it says goes to the standard error; when it ends, the service goes on without it. */
export function startLocalRunner({ port, stateDir }: { port: number; stateDir: string }): ChildProcess {
  const options = ['--url', `http://${HOST}:${port}`, '--key-file', join(stateDir, RUNNER_TOKEN_FILE)]
  const child = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}
