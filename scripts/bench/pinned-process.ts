// A Node process of this benchmark on a core of its own, answering one call at a time over the channel to its parent.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { messageOf } from '../start/fault.ts'

export type Calls = Record<string, (job: never) => Promise<unknown>>
type Request = { name: string; job: unknown }
type Answer = { value: unknown } | { error: string }

const STOP_TIMEOUT_MS = 5_000

export type Cores = { server: number; client: number }

/** Two different cores this process may use; null when there is only one, or no way to choose. */
export function chooseCores(): Cores | null {
  if (!existsSync('/proc/self/status')) return null
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
  const cores = list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
  const [server, client] = cores
  if (server === undefined || client === undefined || !canPin()) return null
  return { server, client }
}

function canPin(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

export class PinnedProcess<C extends Calls> {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts a file that calls `serveCalls`. */
  static start<C extends Calls>(file: string, core: number | null): PinnedProcess<C> {
    const [command, ...args] = [...(core === null ? [] : ['taskset', '-c', String(core)]), process.execPath, file]
    const child = spawn(command ?? process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    return new PinnedProcess(child)
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  call<Name extends keyof C & string>(name: Name, job: Parameters<C[Name]>[0]): ReturnType<C[Name]> {
    const answer = new Promise((resolve, reject) => {
      const onExit = () => reject(new Error(`the process ended while it was asked to ${name}`))
      this.#child.once('exit', onExit)
      this.#child.once('message', (message: Answer) => {
        this.#child.off('exit', onExit)
        if ('error' in message) reject(new Error(message.error))
        else resolve(message.value)
      })
      this.#child.send({ name, job } satisfies Request)
    })
    return answer as ReturnType<C[Name]>
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    this.#child.disconnect()
    await gone
    clearTimeout(timer)
  }
}

/** The other end: answers calls until the parent is gone, then cleans up and exits. */
export function serveCalls(calls: Calls, cleanUp: () => Promise<void> = async () => {}): void {
  process.on('message', ({ name, job }: Request) => {
    const answer = (message: Answer) => void process.send?.(message)
    const call = calls[name]
    if (call === undefined) return answer({ error: `no call ${name}` })
    call(job as never).then(
      (value) => answer({ value }),
      (error: unknown) => answer({ error: messageOf(error) }),
    )
  })
  process.once('disconnect', () => void cleanUp().finally(() => process.exit()))
}
