// A runner beside the local service, with the token from its state folder.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './paths.ts'
import { HOST } from './port.ts'
import { RUNNER_TOKEN_FILE } from './secrets-key.ts'

/** For `npm start -- --runner`. What it says goes to the standard error; when it ends, the service goes on without it. */
export function startLocalRunner({ port, stateDir }: { port: number; stateDir: string }): ChildProcess {
  const options = ['--url', `http://${HOST}:${port}`, '--key-file', join(stateDir, RUNNER_TOKEN_FILE)]
  const child = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}
