// Starts processes in advance, so that a program does not have to wait for a start.

import { join } from 'node:path'
import type { Guardian } from './guardian.ts'
import type { Limits } from './limits.ts'
import { ProgramProcess } from './program-process.ts'

/** The pause after a failed start, because an immediate retry would fail, too. */
const RETRY_MS = 1000
const ATTEMPTS = 3

type PoolDeps = { folder: string; config: string; guardian: Guardian; limits: Limits }

export class Pool {
  readonly #deps: PoolDeps
  readonly #all = new Set<ProgramProcess>()
  #spares: ProgramProcess[] = []
  #made = 0
  #isStopped = false
  #retry: NodeJS.Timeout | null = null

  constructor(deps: PoolDeps) {
    this.#deps = deps
  }

  /** Starts the processes in advance. */
  prepare(): void {
    this.#refill()
  }

  /** All running processes. */
  get pids(): number[] {
    return [...this.#all].flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  }

  /** A ready process, for this caller only. */
  async take(): Promise<ProgramProcess> {
    for (let attempt = 1; ; attempt++) {
      const process = this.#spares.shift() ?? this.#launch()
      this.#refill()
      try {
        await process.ready
        if (process.isAlive) return process
      } catch (error) {
        if (attempt === ATTEMPTS || this.#isStopped)
          throw new Error(`no process for a program: ${process.lastWords}`, { cause: error })
      }
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    const left = [...this.#all]
    for (const process of left) process.kill()
    await Promise.all(left.map(({ closed }) => closed))
  }

  #refill(): void {
    while (!this.#isStopped && this.#retry === null && this.#spares.length < this.#deps.limits.spares) {
      const process = this.#launch()
      this.#spares.push(process)
      process.ready.catch(() => this.#refillLater())
    }
  }

  #refillLater(): void {
    if (this.#isStopped) return
    this.#retry ??= setTimeout(() => {
      this.#retry = null
      this.#refill()
    }, RETRY_MS)
  }

  #launch(): ProgramProcess {
    const { folder, config, guardian, limits } = this.#deps
    const socketPath = join(folder, `program-${++this.#made}.sock`)
    const process = new ProgramProcess({ config, socketPath, guardian, memoryMb: limits.memoryMb })
    this.#all.add(process)
    const gone = () => {
      this.#all.delete(process)
      const wasSpare = this.#spares.includes(process)
      this.#spares = this.#spares.filter((one) => one !== process)
      if (wasSpare) this.#refillLater()
    }
    process.closed.then(gone, gone)
    return process
  }
}
