// A real runner behind its own simulated network. It can be killed (SIGKILL) and started again on the same
// folder, and so can its sandboxes.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from '../../start/paths.ts'
import { listProcesses, signalIfThere } from '../../start/processes.ts'
import { Relay } from './relay.ts'

const MAIN = join(ROOT, 'runner', 'src', 'main.ts')
const isSandboxed = spawnSync('bwrap', ['--version']).status === 0 && spawnSync('socat', ['-V']).status === 0

export type Kill = { readonly at: number; readonly what: 'runner' | 'sandbox' }

export class Machine {
  readonly name: string
  readonly relay: Relay
  readonly #folder: string
  readonly #token: string
  #child: ChildProcess | null = null
  #log = ''
  /** The kills on this machine, by the clock of this process. */
  readonly kills: Kill[] = []
  /** The times at which it was suspended. */
  readonly heldUp: { readonly at: number; readonly until: number }[] = []
  /** Unexpected exits of the runner, with its last output. */
  readonly ownEnds: string[] = []
  #upSince: number | null = null

  private constructor(name: string, relay: Relay, token: string) {
    this.name = name
    this.relay = relay
    this.#token = token
    this.#folder = mkdtempSync(join(tmpdir(), 'bellwether-lent-'))
    process.once('exit', () => {
      this.#child?.kill('SIGKILL')
      rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  static async start(name: string, port: number, token: string): Promise<Machine> {
    const machine = new Machine(name, await Relay.open(port), token)
    await machine.start()
    return machine
  }

  /** Settles when it has joined the pool. */
  async start(): Promise<void> {
    const options = ['--url', this.relay.url, '--workspaces', this.#folder, '--name', this.name]
    const isolation = isSandboxed ? ['--isolation', 'bwrap', '--network', 'none'] : ['--isolation', 'none']
    const child = spawn(process.execPath, [MAIN, ...options, ...isolation, '--capacity', '100'], {
      env: { ...process.env, BELLWETHER_RUNNER_KEY: this.#token },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child = child
    child.once('exit', (code, signal) => {
      this.#upSince = null
      if (this.#child === child) this.ownEnds.push(`${this.name}: ${signal ?? code} ${this.#log.slice(-1_000)}`)
    })
    let log = ''
    child.stderr?.on('data', (text) => {
      log += String(text)
      this.#log = `${this.#log}${text}`.slice(-20_000)
    })
    while (!log.includes('pool.connected')) {
      if (child.exitCode !== null) throw new Error(`the runner ended: ${log}`)
      await sleep(10)
    }
    this.#upSince = performance.now()
  }

  /** Suspends the runner for this time, like an overloaded machine: from outside it cannot be distinguished from a dead one. */
  holdUp(ms: number): void {
    const child = this.#child
    if (child?.pid === undefined) return
    this.heldUp.push({ at: performance.now(), until: performance.now() + ms })
    child.kill('SIGSTOP')
    setTimeout(() => child.kill('SIGCONT'), ms)
  }

  /** The runner's last output. */
  get said(): string {
    return this.#log.slice(-1_500)
  }

  /** Whether it was in the pool, or on its way back there, ever since then. */
  isUpSince(at: number): boolean {
    return this.#upSince !== null && this.#upSince <= at
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === null) return
    this.#child = null
    this.#upSince = null
    this.kills.push({ at: performance.now(), what: 'runner' })
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Kills all its sessions; returns their number. */
  killSandboxes(): number {
    const pid = this.#child?.pid
    const sessions = listProcesses().filter(
      ({ parent, command }) => parent === pid && /^(\S*\/)?(bwrap|bash) /.test(command),
    )
    if (sessions.length > 0) this.kills.push({ at: performance.now(), what: 'sandbox' })
    for (const session of sessions) signalIfThere(session.pid, 'SIGKILL')
    return sessions.length
  }

  /** How often a step was started here: each start writes a line outside the workspace, where nothing reverts it. */
  timesRun(conversation: string, step: string): number {
    const file = join(this.#folder, conversation, 'home', `runs-${step}`)
    return existsSync(file) ? readFileSync(file, 'utf8').length : 0
  }

  async stop(): Promise<void> {
    await this.kill()
    this.relay.close()
  }
}
