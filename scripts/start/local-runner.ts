// A runner beside the local service, with the token from its state folder.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { DIE_WITH_PARENT, ROOT } from './paths.ts'
import { HOST } from './port.ts'
import { RUNNER_TOKEN_FILE } from './secrets-key.ts'

const FIRST_WAIT_MS = 1_000
const MOST_WAIT_MS = 60_000
/** A runner that ran for this time is not in a crash loop. */
const WELL_MS = 60_000
/** The exit code for wrong options or a wrong folder: a restart would not help. */
const USAGE = 2
/** Time to report outcomes; the service needs the rest of the time for a stop. */
const HAND_BACK_MS = 3_000

/**
 * For `npm start -- --runner`. Its output goes to standard error. The service continues without it when it exits; a runner that was
 * killed is started again. It is in a separate process group, so that a Ctrl-C only reaches this process.
 */
export function startLocalRunner({ port, stateDir }: { port: number; stateDir: string }): {
  /** Interrupts its commands after a short time and lets it report their outcomes; settles when it has exited or the time is over. */
  handBack(): Promise<void>
} {
  let child: ChildProcess | null = null
  let isOver = false
  let waitMs = FIRST_WAIT_MS
  const start = () => {
    if (isOver) return
    const beganAt = performance.now()
    child = spawnRunner(['--url', `http://${HOST}:${port}`, '--key-file', join(stateDir, RUNNER_TOKEN_FILE)])
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
  return {
    handBack() {
      isOver = true
      return child === null ? Promise.resolve() : handedBack(child)
    },
  }
}

function spawnRunner(options: readonly string[]): ChildProcess {
  const program = join(ROOT, 'runner/src/main.ts')
  return spawn(process.execPath, ['--import', DIE_WITH_PARENT, program, ...options], {
    env: { ...process.env, BELLWETHER_SUPERVISOR: String(process.pid) },
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function handedBack(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, HAND_BACK_MS)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGUSR2')
  })
}
