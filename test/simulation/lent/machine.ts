// A machine that lends itself: the runner's own program over a real folder, with a network and a shell of the simulation. When it
// dies its folder is as it was at that instant.

import { EventEmitter } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, contentOf, linesOf } from './command.ts'
import type { Connection, Network } from './network.ts'

/** The program is written against Node's types alone, and this project has those of the runtime as well: it is known by its use. */
type Program = { connect(): void; end(code: number): void }
type Prompt = { status: number; pid: number; user: string; host: string; interpreter: string; cwd: string }
type ShellEvents = { onOutput(bytes: Uint8Array): void; onEnded(prompt: Prompt): void; onGone(reason: string): void }
type ProgramDeps = Record<string, unknown> & {
  startShell(folder: string, events: ShellEvents): SimulatedShell
  startProgram(launch: { cwd: string }): SimulatedProgram
}

const RUNNER = new URL('../../../runner/src/runner.ts', import.meta.url).pathname
const { Runner } = (await import(RUNNER)) as { Runner: new (deps: ProgramDeps) => Program }

const GiB = 2 ** 30
const LIMITS = { diskBytes: GiB, memoryBytes: GiB, processes: 100, fileBytes: GiB, tmpBytes: GiB }
const QUIET = () => {}

export type OnRan = (command: Command, files: ReadonlyMap<string, string>) => void

export class Machine {
  readonly name: string
  readonly id: string
  readonly #root: string
  readonly #network: Network
  readonly #ran: OnRan
  #runner: Program | null = null
  #shells = new Set<SimulatedShell>()
  #programs = new Set<SimulatedProgram>()
  /** Simulated times of its deaths, and of its sandboxes'. */
  readonly deaths: number[] = []

  constructor(name: string, { root, network, ran }: { root: string; network: Network; ran: OnRan }) {
    this.name = name
    this.id = Buffer.from(name.padEnd(16, '.')).toString('hex')
    this.#root = mkdtempSync(join(root, 'machine-'))
    this.#network = network
    this.#ran = ran
  }

  get isUp(): boolean {
    return this.#runner !== null
  }

  get workspaces(): string {
    return join(this.#root, 'now')
  }

  start(): void {
    mkdirSync(this.workspaces, { recursive: true })
    this.#runner = new Runner({
      url: new URL(`http://${this.name}/`),
      key: this.name,
      description: {
        id: this.id,
        name: this.name,
        labels: [],
        version: '0',
        os: 'linux',
        arch: 'x64',
        capacity: 10,
        isolation: 'none',
        network: 'all',
        tools: [],
      },
      workspaces: this.workspaces,
      plan: { isolation: 'none', network: 'all', limits: LIMITS },
      cgroups: null,
      isAllowExact: true,
      allow: [],
      isOnce: false,
      log: QUIET,
      onEnded: QUIET,
      startShell: (folder, events) => {
        const shell = new SimulatedShell(join(folder, 'workspace'), events, this.#ran)
        this.#shells.add(shell)
        return shell
      },
      startProgram: ({ cwd }) => {
        const program = new SimulatedProgram(cwd, this.#ran)
        this.#programs.add(program)
        return program
      },
    })
    this.#runner.connect()
  }

  get connections(): Connection[] {
    return [...this.#network.connections].filter(({ client }) => client.machine === this.name)
  }

  kill(): void {
    const runner = this.#runner
    if (runner === null) return
    this.#runner = null
    this.deaths.push(Date.now())
    for (const shell of this.#shells) shell.isDead = true
    this.#shells.clear()
    for (const program of this.#programs) program.isDead = true
    this.#programs.clear()
    for (const connection of this.connections) {
      connection.client.isDead = true
      connection.cut()
    }
    const kept = join(this.#root, 'kept')
    cpSync(this.workspaces, kept, {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !path.endsWith('.sock'),
    })
    // Closes what it holds; whatever it writes then is taken back.
    runner.end(1)
    this.#restore(kept)
  }

  #restore(kept: string): void {
    rmSync(this.workspaces, { recursive: true, force: true })
    renameSync(kept, this.workspaces)
  }

  killSandbox(): void {
    if (this.#shells.size + this.#programs.size > 0) this.deaths.push(Date.now())
    for (const program of [...this.#programs]) {
      this.#programs.delete(program)
      program.killed()
    }
    for (const shell of [...this.#shells]) {
      this.#shells.delete(shell)
      shell.killed()
    }
  }

  files(conversation: string): Map<string, string> {
    return filesIn(join(this.workspaces, conversation, 'workspace'))
  }

  remove(): void {
    this.kill()
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function filesIn(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder)
      .filter((name) => !name.endsWith('.making'))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

type ToolRequest = {
  id?: unknown
  method?: string
  params?: { arguments?: { command?: string }; protocolVersion?: string }
}

/** A tool server that answers a call when its time is over. */
class SimulatedProgram extends EventEmitter {
  isDead = false
  readonly pid = undefined
  readonly stdin = Object.assign(new EventEmitter(), { writableLength: 0, write: (line: string) => this.#heard(line) })
  readonly stdout = Object.assign(new EventEmitter(), { pause: () => {}, resume: () => {} })
  readonly stderr = new EventEmitter()
  readonly #folder: string
  readonly #ran: OnRan

  constructor(folder: string, ran: OnRan) {
    super()
    this.#folder = folder
    this.#ran = ran
  }

  #heard(line: string): void {
    const { id, method, params } = JSON.parse(line) as ToolRequest
    if (id === undefined) return
    if (method === 'tools/call') this.#called(id, params?.arguments?.command ?? '')
    else this.#answer(id, GREETING, 0)
  }

  #called(id: unknown, text: string): void {
    const command = JSON.parse(text) as Command
    this.#ran(command, filesIn(this.#folder))
    const said = JSON.stringify({ output: linesOf(command).join(''), exitCode: command.exitCode })
    this.#answer(id, { content: [{ type: 'text', text: said }] }, command.restMs * 4)
  }

  #answer(id: unknown, result: object, afterMs: number): void {
    setTimeout(() => {
      if (!this.isDead) this.stdout.emit('data', Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`))
    }, afterMs)
  }

  killed(): void {
    if (this.isDead) return
    this.isDead = true
    this.emit('close', null, 'SIGKILL')
  }
}

const GREETING = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }

/** Does what a command says, a piece at a time. */
class SimulatedShell {
  readonly #folder: string
  readonly #events: ShellEvents
  readonly #ran: OnRan
  isDead = false
  isRunning = false
  prompt: Prompt | null = null

  constructor(folder: string, events: ShellEvents, ran: OnRan) {
    this.#folder = folder
    this.#events = events
    this.#ran = ran
  }

  get pid(): number | null {
    return null
  }

  get hasWork(): boolean {
    return this.isRunning
  }

  async ready(): Promise<void> {}

  async isCrowded(): Promise<boolean> {
    return false
  }

  async run({ text }: { text: string }, onTaken: () => void): Promise<void> {
    onTaken()
    const command = JSON.parse(text) as Command
    this.isRunning = true
    this.#ran(command, filesIn(this.#folder))
    const deeds = this.#deedsOf(command)
    const next = () => {
      if (this.isDead) return
      const deed = deeds.shift()
      if (deed === undefined) return this.#ended(command)
      deed()
      setTimeout(next, command.restMs)
    }
    setTimeout(next, command.restMs)
  }

  #deedsOf(command: Command): (() => void)[] {
    const { key, writes, removes } = command
    return [
      ...linesOf(command).map((line) => () => this.#events.onOutput(Buffer.from(line))),
      ...writes.map((write) => () => {
        const making = join(this.#folder, `${write.name}.making`)
        writeFileSync(making, contentOf(key, write))
        renameSync(making, join(this.#folder, write.name))
      }),
      ...removes.map((name) => () => rmSync(join(this.#folder, name), { force: true })),
    ]
  }

  #ended({ exitCode: status }: Command): void {
    this.isRunning = false
    this.prompt = { status, pid: 1, user: 'agent', host: 'sandbox', interpreter: '', cwd: '/workspace' }
    this.#events.onEnded(this.prompt)
  }

  killed(): void {
    if (this.isDead) return
    this.isDead = true
    this.isRunning = false
    this.#events.onGone('killed')
  }

  end(): void {
    this.killed()
  }

  type(): void {}
  killProgram(): void {}
  signalShell(): void {}
  pause(): void {}
  resume(): void {}
}
