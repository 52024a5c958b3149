// A service for the demo, the benchmarks and the tests: `scripts/start.mjs` as a child process.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.ts'
import { ROOT } from './paths.ts'
import { freePort } from './port.ts'
import { listProcesses, signalIfThere } from './processes.ts'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 6_000

export type Service = {
  readonly url: string
  readonly port: number
  /** Ends it as a user would, and settles when all its processes are gone. */
  readonly restarts: number
  /** Its standard error so far: the Worker's log lines and errors. */
  readonly log: string
  /** Stops it as a user would; settles when all of its processes have ended. */
  stop(): Promise<void>
  /** Kills every runtime process (SIGKILL), like a crash; returns their number. */
  kill9Runtime(): number
  /** The process that currently hosts the runtime. */
  hostPid(): number
}

type Options = {
  readonly stateDir: string
  /** Default: a free port. */
  readonly port?: number
  /** The port of its inspector. */
  readonly inspectorPort?: number
  /** Added to the environment of this process; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Starts the service and settles when it is ready; throws a `Fault` with what it printed when it does not come up. */
export async function startService({ stateDir, port: wanted, inspectorPort, env }: Options): Promise<Service> {
  const port = wanted ?? (await freePort())
  const inspect = inspectorPort === undefined ? [] : ['--inspect', String(inspectorPort)]
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.mjs'), ...inspect], {
    cwd: ROOT,
    env: { ...process.env, ...env, PORT: String(port), BELLWETHER_STATE: stateDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  await ready(child, () => lines.join('\n'))
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get restarts() {
      return lines.filter((line) => line.includes('"event":"start.runtime_restarted"')).length
    },
    get log() {
      return lines.join('\n')
    },
    stop: () => stop(child),
    kill9Runtime: () => killRuntimes(child),
    hostPid: () => groupOf(child) ?? 0,
  }
}

function ready(child: ChildProcessByStdio<null, Readable, Readable>, log: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer)
      child.kill('SIGTERM')
      reject(new Fault(`The service did not start: ${why}.\n${log()}`))
    }
    const timer = setTimeout(() => fail(`it was not ready within ${START_TIMEOUT_MS / 1000} s`), START_TIMEOUT_MS)
    child.once('close', (code) => fail(`it ended with ${code}`))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith('ready ')) return
      clearTimeout(timer)
      child.removeAllListeners('close')
      resolve()
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const group = groupOf(child)
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const isStopped = await Promise.race([closed.then(() => true), sleep(STOP_TIMEOUT_MS, false, { ref: false })])
  if (isStopped) return
  child.kill('SIGKILL')
  if (group !== null) signalIfThere(-group, 'SIGKILL')
  throw new Fault(`The service did not stop within ${STOP_TIMEOUT_MS / 1000} s.`)
}

/** The supervisor's one child leads the group of everything that serves. */
function groupOf(child: ChildProcess): number | null {
  return listProcesses().find(({ pid, parent, group }) => parent === child.pid && pid === group)?.pid ?? null
}

function killRuntimes(child: ChildProcess): number {
  const group = groupOf(child)
  const runtimes = listProcesses().filter((one) => one.group === group && /\/workerd serve --binary/.test(one.command))
  for (const { pid } of runtimes) signalIfThere(pid, 'SIGKILL')
  return runtimes.length
}
