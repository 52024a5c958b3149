// A runner beside the local service, with the token from its state folder.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './paths.ts'
import { HOST } from './port.ts'
import { RUNNER_TOKEN_FILE } from './secrets-key.ts'

const FIRST_WAIT_MS = 1_000
const MOST_WAIT_MS = 60_000
/** One that lived for so long was well: it is not its fault that it died. */
const WELL_MS = 60_000
/** What the runner ends with when its options or its folder are wrong: it would end so again. */
const USAGE = 2

/**
 * For `npm start -- --runner`. What it says goes to the standard error. The service goes on without it when it ends; one that was
 * killed is started again.
 */
export function startLocalRunner({ port, stateDir }: { port: number; stateDir: string }): void {
  let child: ChildProcess | null = null
  let isOver = false
  let waitMs = FIRST_WAIT_MS
  const start = () => {
    const options = ['--url', `http://${HOST}:${port}`, '--key-file', join(stateDir, RUNNER_TOKEN_FILE)]
    const beganAt = performance.now()
    child = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...options], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('exit', (code, signal) => {
      if (isOver || code === 0 || code === USAGE) return
      waitMs = performance.now() - beganAt > WELL_MS ? FIRST_WAIT_MS : Math.min(2 * waitMs, MOST_WAIT_MS)
      process.stderr.write(
        `The runner ended (${signal ?? `exit code ${code}`}) and is started again in ${waitMs / 1000} s.\n`,
      )
      setTimeout(start, waitMs).unref()
    })
  }
  start()
  process.on('exit', () => {
    isOver = true
    child?.kill('SIGKILL')
  })
}
