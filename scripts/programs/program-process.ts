// A runtime in a separate process: started for one program and killed after it, so that programs are isolated from each other.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { signalIfThere } from '../start/processes.ts'
import type { Guardian } from './guardian.ts'
import { lowerAtFirst, lowerWhenLong } from './priority.ts'

const READY_FD = 3
const LAST_WORDS_CHARS = 4096
const PAGE_BYTES = 4096

/** Limits that are safe to set with `ulimit`; a shell that lacks one of them continues without it. */
const LAUNCH = 'ulimit -c 0 2>/dev/null; ulimit -d "$1" 2>/dev/null; shift; exec "$@"'
/** Reserved memory counts as well, so this is only a second line behind the limit that the host enforces. */
const DATA_LIMIT_FACTOR = 4

export type Launch = { config: string; socketPath: string; memoryMb: number; guardian: Guardian }

export class ProgramProcess {
  readonly socketPath: string
  readonly #child: ChildProcess
  readonly #guardian: Guardian
  /** Resolves when it answers; rejects when it ends before. */
  readonly ready: Promise<void>
  /** Resolves when it has ended and all that it printed was read. */
  readonly closed: Promise<void>
  #lastWords = ''
  #stopLowering: (() => void) | null = null

  constructor({ config, socketPath, memoryMb, guardian }: Launch) {
    this.socketPath = socketPath
    this.#guardian = guardian
    const limit = String(memoryMb * 1024 * DATA_LIMIT_FACTOR)
    const serve = [workerdPath(), 'serve', '--experimental', `--socket-addr=http=unix:${socketPath}`]
    const child = spawn('/bin/sh', ['-c', LAUNCH, 'sh', limit, ...serve, `--control-fd=${READY_FD}`, config], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    this.ready = answering(child)
    this.closed = new Promise((resolve) => {
      child.once('close', () => resolve())
      child.once('error', () => resolve())
    })
    // An unhandled rejection must not end the host if nothing awaits these promises.
    this.ready.catch(() => {})
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString('latin1')).slice(-LAST_WORDS_CHARS)
    })
    child.once('exit', () => this.#forget())
    if (child.pid === undefined) return
    guardian.watch(child.pid)
    lowerAtFirst(child.pid)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isAlive(): boolean {
    return this.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The end of its standard error, which may contain the reason of its exit. */
  get lastWords(): string {
    return this.#lastWords
  }

  /** A short description of its exit. */
  get end(): string {
    return this.#child.signalCode ?? `code ${this.#child.exitCode}`
  }

  /** One piece per turn of the event loop, so that a flood of output only delays its own program. */
  onPrinted(take: (chunk: Buffer) => void): void {
    const { stdout } = this.#child
    stdout?.on('data', (chunk: Buffer) => {
      stdout.pause()
      setImmediate(() => stdout.resume())
      take(chunk)
    })
  }

  /** From now on it is in use. */
  begin(): void {
    if (this.pid !== undefined) this.#stopLowering = lowerWhenLong(this.pid)
  }

  kill(): void {
    if (this.pid !== undefined && this.isAlive) signalIfThere(this.pid, 'SIGKILL')
  }

  #forget(): void {
    this.#stopLowering?.()
    if (this.pid !== undefined) this.#guardian.forget(this.pid)
    rmSync(this.socketPath, { force: true })
  }
}

/** The binary that the package has for this machine: the one that Miniflare, which depends on it, starts as well. */
function workerdPath(): string {
  const own = createRequire(import.meta.url)
  const { default: path } = createRequire(own.resolve('miniflare'))('workerd') as { default: string }
  return path
}

/** The runtime reports on a separate pipe that its socket is open. */
async function answering(child: ChildProcess): Promise<void> {
  const start = performance.now()
  const pipe = child.stdio[READY_FD]
  await new Promise<void>((resolve, reject) => {
    const fail = () => reject(new Error(`the runtime ended after ${Math.round(performance.now() - start)} ms`))
    pipe?.once('data', () => resolve())
    child.once('exit', fail)
    child.once('error', reject)
  })
}

/** In bytes; null if the system does not provide it, or the process has ended. */
export function residentBytes(pid: number): number | null {
  const file = `/proc/${pid}/statm`
  return unlessEnded(() => (existsSync(file) ? Number(readFileSync(file, 'latin1').split(' ')[1]) * PAGE_BYTES : null))
}

function unlessEnded<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'ENOENT')) return null
    throw error
  }
}
