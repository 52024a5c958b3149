// A program host: an HTTP server on a Unix socket that runs each received JavaScript program in a separate process. A
// program that never ends, or uses all its memory, only affects its own process.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { messageOf } from '../start/fault.ts'
import { Guardian } from './guardian.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { MemoryWatch } from './memory-watch.ts'
import { makeOwnFolder } from './own-folder.ts'
import { Pool } from './pool.ts'
import { ending, runInProcess, type Stop } from './program-run.ts'
import { ProgramSlots } from './program-slots.ts'
import { type ProgramRuntime, writeRuntimeConfig } from './runtime-config.ts'

export type ProgramHost = {
  readonly socketPath: string
  /** The current processes: those of programs, those that wait for a program, and the guardian. */
  pids(): number[]
  stop(): Promise<void>
}

export type HostOptions = Partial<Limits> & {
  /** A private folder; it is created if it is missing. */
  readonly folder: string
  readonly runtime: ProgramRuntime
  /** What is more urgent than processes that wait ready; a program that comes before it is over starts its own. */
  readonly sparesAfter?: Promise<unknown>
}

type Deps = { pool: Pool; places: ProgramSlots; memory: MemoryWatch; limits: Limits }

/** The time that a program that checks the clock gets to end by itself, with all its output. */
const OWN_END_MS = 300
const EXIT_STOPPED = 124
/** The maximum delay of a timer: with a longer one it fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

export async function startProgramHost(options: HostOptions): Promise<ProgramHost> {
  const { folder, runtime, sparesAfter, ...limited } = options
  const limits: Limits = { ...DEFAULT_LIMITS, ...limited }
  const own = makeOwnFolder(folder)
  const guardian = new Guardian(own)
  const config = writeRuntimeConfig(own, runtime, limits.memoryMb)
  const pool = new Pool({ folder: own, config, guardian, limits })
  if (sparesAfter === undefined) pool.prepare()
  else void sparesAfter.then(() => pool.prepare())
  const deps: Deps = { pool, limits, places: new ProgramSlots(limits.concurrency), memory: new MemoryWatch() }
  const server = createServer((incoming, answer) => void serve(deps, incoming, answer))
  // How long a program may take is said by who sends it, and one that waits for a place has not been read.
  server.requestTimeout = 0
  const socketPath = join(own, 'host.sock')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, resolve)
  })
  return {
    socketPath,
    pids: () => [...pool.pids, ...(guardian.pid === undefined ? [] : [guardian.pid])],
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await pool.stop()
      await closed
      await guardian.stop()
    },
  }
}

async function serve(deps: Deps, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const deadline = Number(incoming.headers['x-program-deadline'])
  if (incoming.method !== 'POST' || !Number.isFinite(deadline)) {
    answer.writeHead(400, { 'content-type': 'text/plain' }).end('a program with a deadline is expected')
    return
  }
  const controller = new AbortController()
  const stop = (reason: Stop) => controller.abort(reason)
  answer.once('close', () => stop('left'))
  // From here on the client may disconnect, before or after the program has started.
  answer.writeHead(200, { 'content-type': 'application/octet-stream' }).flushHeaders()
  const leftMs = Math.max(0, deadline - Date.now()) + OWN_END_MS
  const timer = setTimeout(() => stop('timeout'), Math.min(leftMs, MAX_TIMER_MS))
  try {
    await takeTurn(deps, { incoming, answer, signal: controller.signal, stop })
  } catch (error) {
    answer.end(ending({ code: 1, why: `the program cannot be run: ${messageOf(error)}` }))
  } finally {
    clearTimeout(timer)
  }
}

type Turn = Pick<Parameters<typeof runInProcess>[0], 'incoming' | 'answer' | 'signal' | 'stop'>

async function takeTurn({ pool, places, memory, limits }: Deps, turn: Turn): Promise<void> {
  const { incoming, answer, signal } = turn
  const leave = await places.take(String(incoming.headers['x-program-group'] ?? ''), signal).catch(() => null)
  if (leave === null) {
    answer.end(
      ending({ code: EXIT_STOPPED, why: 'stopped: its time was up before other programs left a place for it' }),
    )
    return
  }
  try {
    await runInProcess({ ...turn, process: await pool.take(), memory, limits })
  } finally {
    leave()
  }
}
