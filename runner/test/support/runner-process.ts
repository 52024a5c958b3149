// The runner as its users start it: a process of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { KEY, StandIn } from './stand-in.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

export class RunnerProcess {
  readonly child: ChildProcess
  #log = ''
  readonly ended: Promise<{ code: number | null; signal: string | null }>
  #waiters: (() => void)[] = []

  /** `within`: what starts it, such as a sandbox with a small disk. */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, within: readonly string[] = []) {
    const [command = process.execPath, ...line] = [...within, process.execPath, MAIN, ...args]
    this.child = spawn(command, line, {
      env: { ...process.env, BELLWETHER_RUNNER_KEY: KEY, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#log += String(chunk)
        for (const waiter of this.#waiters.splice(0)) waiter()
      })
    }
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      for (const waiter of this.#waiters.splice(0)) waiter()
      return { code, signal }
    })
  }

  get log(): string {
    return this.#log
  }

  async logged(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#log)) {
      if (this.child.exitCode !== null) throw new Error(`the runner ended: ${this.#log}`)
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal)
    await this.ended
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-runner-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export type Lent = { service: StandIn; runner: RunnerProcess; folder: string; restart: () => Promise<RunnerProcess> }

/** A service and a runner that is connected to it; both end with the test. `within`: what starts it, given its folder. */
export async function startRunner(
  more: readonly string[] = ['--isolation', 'none'],
  within: (folder: string) => readonly string[] = () => [],
): Promise<Lent> {
  const service = await StandIn.start()
  const folder = temporaryFolder()
  const args = ['--url', service.url, '--workspaces', folder, ...more]
  const lent: Lent = {
    service,
    folder,
    runner: new RunnerProcess(args, {}, within(folder)),
    restart: async () => {
      service.forget()
      lent.runner = new RunnerProcess(args, {}, within(folder))
      await service.runner()
      return lent.runner
    },
  }
  onTestFinished(async () => {
    await lent.runner.kill()
    await service.stop()
  })
  await Promise.race([service.runner(), lent.runner.ended])
  if (service.hello === null) throw new Error(lent.runner.log)
  return lent
}
