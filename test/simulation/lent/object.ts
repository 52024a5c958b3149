// One life of the service's side: a conversation that takes one command after the other, and the pool of its owner. The classes are
// those that run in the objects; what they stood on is lost with them, but for what is stored.

import { ConversationRunner } from '../../../durable-objects/conversation/turn/runner/conversation-runner.ts'
import { TreeChanges } from '../../../durable-objects/conversation/turn/runner/tree-changes.ts'
import { WorkspaceStore } from '../../../durable-objects/conversation/workspace/store.ts'
import { RunnerPool, type WantedRunner } from '../../../durable-objects/owner/runner-pool.ts'
import type { RunnerCall } from '../../../src/agent/runtime.ts'
import { type McpServers, toolServers } from '../../../src/mcp/remote-server.ts'
import { callMcpTool } from '../../../src/mcp/session-tools.ts'
import { ticketIn } from '../../../src/runners/ticket.ts'
import type { Disk, Grip } from '../disk.ts'
import { type Command, isCall } from './command.ts'
import { ServerEnd } from './network.ts'

export const CONVERSATION = 'one'
const NEVER = new Promise<never>(() => {})
const VARIABLES = { LOG_LEVEL: 'silent', AUTH_MODE: 'local', SECRETS_KEY: Buffer.alloc(32).toString('base64') }

export type Result = { output: string; exitCode: number; failure: string | null; missing: boolean }
export type Step = { key: string; state: string; command: string; result: string | null }

/** A program on the machine that tools are called of. */
const SERVERS: McpServers = { sse: [], shttp: [], stdio: [{ name: 'program', command: 'program', args: [], env: {} }] }

export const STEPS_TABLE = `CREATE TABLE steps (
  key TEXT PRIMARY KEY, state TEXT NOT NULL, command TEXT NOT NULL, result TEXT
)`

/** What the events tell of machines. */
export const TOLD_TABLE = 'CREATE TABLE told (text TEXT NOT NULL)'

/** An isolate that holds sockets: what it sends goes out when what it wrote before is stored. */
abstract class Holder implements Grip {
  isDead = false
  readonly sockets: ServerEnd[] = []
  #unsent: (() => void)[] | null = null
  readonly #isDeadly: () => boolean
  readonly #died: () => void

  constructor(isDeadly: () => boolean, died: () => void) {
    this.#isDeadly = isDeadly
    this.#died = died
  }

  abstract heard(end: ServerEnd, data: string | ArrayBuffer): void
  abstract left(end: ServerEnd): void

  beforeCommit(): 'doomed' | 'commit' {
    return this.isDead || this.#isDeadly() ? 'doomed' : 'commit'
  }

  lost(): void {
    this.die()
  }

  afterCommit(): void {
    const sends = this.#unsent ?? []
    this.#unsent = null
    if (this.#isDeadly()) this.die()
    else for (const send of sends) send()
  }

  began(): void {
    this.#unsent ??= []
  }

  gated(send: () => void): void {
    if (this.isDead) return
    if (this.#unsent === null) send()
    else this.#unsent.push(send)
  }

  die(): void {
    if (this.isDead) return
    this.isDead = true
    this.#unsent = null
    for (const { connection } of this.sockets) connection?.cut()
    this.#died()
  }

  /** What the runtime gives the object. */
  protected context(storage: DurableObjectStorage): DurableObjectState {
    return {
      id: { toString: () => 'holder' },
      storage,
      // Nobody looks at its terminal.
      getWebSockets: (tag?: string) =>
        tag === 'terminal' ? [] : this.sockets.filter(({ readyState }) => readyState < 3),
      acceptWebSocket: (end: ServerEnd) => {
        end.holder = this
        this.sockets.push(end)
      },
      waitUntil: (work: Promise<unknown>) => void work.catch((error) => this.failed(error)),
    } as unknown as DurableObjectState
  }

  /** What a dead isolate throws nobody hears. */
  protected failed(error: unknown): void {
    if (!this.isDead) throw error
  }
}

export class PoolLife extends Holder {
  readonly pool: RunnerPool

  constructor(disk: Disk) {
    super(
      () => false,
      () => {},
    )
    this.pool = new RunnerPool(this.context(disk.storage(this)), { unknown: () => [], changed: () => {} })
  }

  heard(end: ServerEnd, data: string | ArrayBuffer): void {
    if (!this.isDead) void this.pool.receive(end as unknown as WebSocket, data).catch((error) => this.failed(error))
  }

  left(end: ServerEnd): void {
    if (!this.isDead) this.pool.left(end as unknown as WebSocket)
  }

  accept(): ServerEnd {
    return clientOf(this.pool.accept(null, null))
  }
}

type LentObjectDeps = {
  disk: Disk
  pool: () => PoolLife | null
  isDeadly: () => boolean
  died: () => void
  fault: (text: string) => void
  settled: (step: Step) => void
}

export class ConversationLife extends Holder {
  readonly files: WorkspaceStore
  readonly runner: ConversationRunner
  readonly #outside: LentObjectDeps
  readonly #sql: SqlStorage
  #isWorking = false

  constructor(outside: LentObjectDeps) {
    super(outside.isDeadly, outside.died)
    this.#outside = outside
    const storage = outside.disk.storage(this)
    this.#sql = storage.sql
    const changes = new TreeChanges(this.#sql)
    this.files = new WorkspaceStore({
      storage,
      bucket: {} as R2Bucket,
      prefix: '',
      observe: (path, event) => changes.note(path, event),
    })
    const stub = { wantRunner: (wanted: WantedRunner) => this.#want(wanted), isGoodRunner: async () => true }
    this.runner = new ConversationRunner({
      ctx: this.context(storage),
      env: { ...VARIABLES, OWNER: { idFromName: String, get: () => stub } } as unknown as Env,
      whose: { owner: 'owner', id: CONVERSATION },
      wish: () => ({ kind: 'runner', labels: [] }),
      files: this.files,
      changes,
      maskText: (text) => text,
      credential: async () => ({ username: null, password: null }),
      isGitHost: async () => false,
      tell: (text) => void this.#sql.exec('INSERT INTO told (text) VALUES (?)', text),
      left: () => undefined,
      expireAt: () => undefined,
    })
  }

  heard(end: ServerEnd, data: string | ArrayBuffer): void {
    if (!this.isDead) void this.runner.receive(end as unknown as WebSocket, data).catch((error) => this.failed(error))
  }

  left(end: ServerEnd): void {
    if (!this.isDead) this.runner.left(end as unknown as WebSocket)
  }

  async accept(ticket: string): Promise<ServerEnd | number> {
    const response = await this.runner.accept(ticketIn(ticket)?.secret ?? '')
    return response.status === 101 ? clientOf(response.webSocket) : response.status
  }

  add(command: Command): void {
    this.#sql.exec('INSERT INTO steps VALUES (?, ?, ?, NULL)', command.key, 'new', JSON.stringify(command))
    this.work()
  }

  /** One step after the other, as the loop of a turn takes them. */
  work(): void {
    if (this.#isWorking || this.isDead) return
    this.#isWorking = true
    this.#all().then(
      () => {
        this.#isWorking = false
      },
      (error) => {
        if (!this.isDead) this.#outside.fault(`a step threw ${String(error)}`)
      },
    )
  }

  async #all(): Promise<void> {
    for (;;) {
      const [step] = this.#sql.exec("SELECT * FROM steps WHERE state <> 'done' LIMIT 1").toArray() as Step[]
      if (step === undefined) return
      const isOurs = step.state === 'new' || this.runner.isOpen(step.key)
      this.#sql.exec("UPDATE steps SET state = 'started' WHERE key = ?", step.key)
      const result = isOurs
        ? await (isCall(step) ? this.#call(step) : this.#run(step))
        : { output: '', exitCode: -1, failure: 'interrupted', missing: false }
      if (this.isDead) return NEVER
      this.#sql.exec("UPDATE steps SET state = 'done', result = ? WHERE key = ?", JSON.stringify(result), step.key)
      this.gated(() => this.#outside.settled({ ...step, result: JSON.stringify(result) }))
    }
  }

  async #run({ key, command }: Step): Promise<Result> {
    const runtime = await this.runner.choose(key)
    if (runtime.kind !== 'runner')
      return { output: '', exitCode: -1, failure: runtime.kind === 'missing' ? runtime.why : 'edge', missing: true }
    const call: RunnerCall = {
      key,
      kind: 'run',
      text: command,
      cwd: '/workspace',
      env: {},
      timeoutMs: null,
      signal: new AbortController().signal,
      filter: { push: (text) => text, end: () => '' } as RunnerCall['filter'],
      onOutput: () => {},
    }
    try {
      const { output, exitCode, failure } = await runtime.run(call)
      return { output, exitCode, failure, missing: false }
    } catch (error) {
      // As the loop of a turn: the step ends with it.
      return { output: '', exitCode: -1, failure: String(error), missing: false }
    }
  }

  /** A call of a tool, as a step of the agent makes it. */
  async #call({ key, command }: Step): Promise<Result> {
    this.runner.processes.call.plan(key)
    const [server] = await toolServers(SERVERS)
    const tool = { name: 't', remoteName: 't', description: '', parameters: {}, repeatable: false }
    const listed = { ...tool, serverId: server?.id ?? '', serverLabel: 'program' }
    const { processes } = this.runner
    const door = () => Promise.reject(new Error('nothing is asked over HTTP'))
    const deps = { servers: SERVERS, door: () => door, processes, conversationId: CONVERSATION, effect: key }
    const { content, isError } = await callMcpTool(listed, { command }, deps)
    const [part] = content
    const text = part?.type === 'text' ? part.text : ''
    if (!isError)
      return { ...(JSON.parse(text) as { output: string; exitCode: number }), failure: null, missing: false }
    const missing =
      /No runner is connected|not connected|runners are busy|was told to connect|could not be found out/.test(text)
    return { output: '', exitCode: -1, failure: text, missing }
  }

  async #want(wanted: WantedRunner) {
    const pool = this.#outside.pool()
    if (this.isDead) return NEVER
    if (pool === null) throw new Error('the owner is away')
    const answer = await pool.pool.want(wanted)
    if (pool.isDead) throw new Error('the owner was lost')
    return this.isDead ? NEVER : answer
  }
}

/** A pair of the runtime's: the one that is given out stands for the other. */
export class Pair {
  readonly 0: ServerEnd
  readonly 1: ServerEnd
  constructor() {
    this[1] = new ServerEnd()
    this[0] = this[1]
  }
}

function clientOf(end: unknown): ServerEnd {
  if (!(end instanceof ServerEnd)) throw new Error('no socket came')
  return end
}
