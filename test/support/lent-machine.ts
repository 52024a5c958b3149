// A service started like `npm start`, a runner with its sandbox, and a conversation whose commands run there.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ROOT } from '../../scripts/start/paths.ts'
import { type Service, startService } from '../../scripts/start/service.ts'
import { runtimeBelow } from '../../scripts/start/usage.ts'

export type LentEvent = {
  id: number
  cause?: number
  action?: string
  observation?: string
  content: string
  message?: string
  args?: Record<string, unknown>
  extras: Record<string, unknown> & { agent_state?: string; metadata?: { exit_code: number } }
}

/** The missing requirements of the tests on this machine; null if there are none. */
export function missingForSandbox(): string | null {
  const missing = [
    ['bwrap', '--version'],
    ['socat', '-V'],
    ['nsenter', '--version'],
  ].filter(([command = '', flag = '']) => spawnSync(command, [flag]).status !== 0)
  if (missing.length === 0) return null
  const why = `not installed: ${missing.map(([command]) => command).join(', ')}`
  if (process.env.REQUIRE_ALL === '1') throw new Error(why)
  process.stderr.write(`skipped: ${why}\n`)
  return why
}

/** The paths where the runner looks for Chromium; a sandbox cannot run a browser from elsewhere. */
const CHROMIUM = [
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/usr/lib/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
]

/** The same for a browser in the sandbox. */
export function missingForBrowser(): string | null {
  const missing = missingForSandbox()
  if (missing !== null || CHROMIUM.some((path) => existsSync(path))) return missing
  const why = 'not installed: Chromium, at a place that a sandbox has'
  if (process.env.REQUIRE_ALL === '1') throw new Error(why)
  process.stderr.write(`skipped: ${why}\n`)
  return why
}

export class LentMachine {
  readonly service: Service
  readonly folder: string
  runner: ChildProcess
  #log = ''
  #heard = () => {}
  readonly #options: readonly string[]

  private constructor(service: Service, folder: string, options: readonly string[]) {
    this.service = service
    this.folder = folder
    this.#options = options
    this.runner = this.#spawned()
  }

  static async start(options: readonly string[] = [], env: Record<string, string> = {}): Promise<LentMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'bellwether-lent-'))
    const service = await startService({ stateDir: join(folder, 'state'), env: { MARKET_DATA: 'sample', ...env } })
    const machine = new LentMachine(service, folder, options)
    await machine.#logged(/pool\.connected/)
    return machine
  }

  get log(): string {
    return this.#log
  }

  async stop(): Promise<void> {
    this.runner.kill('SIGKILL')
    await this.service.stop()
    for (const folder of [this.folder, `${this.folder}-copies`]) rmSync(folder, { recursive: true, force: true })
  }

  /** Kills the runner (SIGKILL) and starts it again on its folder. */
  async restartRunner(): Promise<void> {
    const gone = new Promise((resolve) => this.runner.once('exit', resolve))
    this.runner.kill('SIGKILL')
    await gone
    this.#log = ''
    this.runner = this.#spawned()
    await this.#logged(/pool\.connected/)
  }

  async restartService(): Promise<void> {
    expect(this.service.kill9Runtime()).toBeGreaterThan(0)
    await expect.poll(async () => (await fetch(`${this.service.url}/alive`).catch(() => null))?.status).toBe(200)
  }

  async call<T>(path: string, init: { method?: string; body?: unknown } = {}): Promise<T> {
    const { method = 'GET', body } = init
    const response = await fetch(`${this.service.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as T
  }

  events = async (path: string) => (await this.call<{ events: LentEvent[] }>(`${path}/events?limit=100`)).events

  /** The path of a new conversation that waits for its user. */
  async conversation(body: unknown = {}): Promise<string> {
    const answer = await this.call<{ conversation_id: string }>('/api/conversations?runtime=runner', {
      method: 'POST',
      body,
    })
    const path = `/api/conversations/${answer.conversation_id}`
    await expect.poll(async () => (await this.events(path)).at(-1)?.extras.agent_state).toBe('awaiting_user_input')
    return path
  }

  /** Sends a command as the user and waits for its observation. */
  async run(path: string, command: string): Promise<LentEvent> {
    const outcomes = async () =>
      (await this.events(path)).filter(({ observation }) => observation === 'run' || observation === 'error')
    const before = (await outcomes()).length
    await this.call(`${path}/events`, { method: 'POST', body: { action: 'message', args: { content: command } } })
    await expect.poll(async () => (await outcomes()).length).toBe(before + 1)
    return (await outcomes()).at(-1) as LentEvent
  }

  /** The memory of the service's runtime and of the runner. */
  residentBytes(): number {
    const pids = [runtimeBelow(this.service.hostPid()), this.runner.pid]
    return pids.reduce<number>((sum, pid) => {
      const [, kib = '0'] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return sum + Number(kib) * 1024
    }, 0)
  }

  /** The address of a port, as soon as its server listens. */
  async address(path: string, port: number): Promise<string> {
    const hosts = async () => (await this.call<{ hosts: Record<string, number> }>(`${path}/web-hosts`)).hosts
    await expect.poll(async () => Object.values(await hosts())).toContain(port)
    return Object.entries(await hosts()).find(([, found]) => found === port)?.[0] ?? ''
  }

  #spawned(): ChildProcess {
    const key = join(this.folder, 'state', 'runner-token')
    // The runner has another user, who needs access to its folder.
    const args = ['--url', this.service.url, '--key-file', key, ...this.#options]
    const folders = ['--workspaces', `${this.folder}-copies`]
    const child = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...args, ...folders], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        this.#log += String(text)
        this.#heard()
      })
    }
    child.once('exit', () => this.#heard())
    return child
  }

  async #logged(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#log)) {
      if (this.runner.exitCode !== null) throw new Error(`the runner ended: ${this.#log}`)
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }
}
