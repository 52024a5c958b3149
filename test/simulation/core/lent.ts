// The service's side of a lent machine: a conversation that gives one command after the other to a machine, and the pool of its
// owner, which knows the machines. The classes are those of the objects.

import { Alarms } from '../../../durable-objects/alarms.ts'
import { ConversationRunner } from '../../../durable-objects/conversation/turn/runner/conversation-runner.ts'
import { TreeChanges } from '../../../durable-objects/conversation/turn/runner/tree-changes.ts'
import { WorkspaceStore } from '../../../durable-objects/conversation/workspace/store.ts'
import { RunnerPool, type WantedRunner } from '../../../durable-objects/owner/runner-pool.ts'
import type { RunnerCall } from '../../../src/agent/runtime.ts'
import { ticketIn } from '../../../src/runners/ticket.ts'
import type { Disk } from '../disk.ts'
import { ObjectHost } from './object-host.ts'
import type { ClientEnd } from './sockets.ts'
import type { CoreWorld } from './world.ts'

export const STEPS_TABLE = `CREATE TABLE steps (
  key TEXT PRIMARY KEY, state TEXT NOT NULL, command TEXT NOT NULL, result TEXT
)`
/** Of the conversation; those of the machines are made when they are needed. */
export const LENT_TABLES = ['meta', 'alarms', 'steps', 'runner_changes', 'runner_calls', 'runner_output']
export const POOL_TABLES = ['runners', 'runner_conversations']

const VARIABLES = { LOG_LEVEL: 'silent', AUTH_MODE: 'local', SECRETS_KEY: Buffer.alloc(32).toString('base64') }

/** `failure`: why the outcome is not known. */
export type Result = { output: string; exitCode: number; failure: string | null }
export type Step = { key: string; state: 'new' | 'started' | 'done'; command: string; result: string | null }

class LentObject {
  readonly #runner: ConversationRunner
  readonly #alarms: Alarms<'turn'>
  readonly #sql: SqlStorage

  constructor(ctx: DurableObjectState, env: Env) {
    const { storage } = ctx
    this.#sql = storage.sql
    this.#alarms = new Alarms(storage)
    const changes = new TreeChanges(this.#sql)
    const observe = (path: string, event: Parameters<TreeChanges['note']>[1]) => changes.note(path, event)
    this.#runner = new ConversationRunner({
      ...{ ctx, env, changes, whose: { owner: 'owner', id: 'lent' }, wish: () => ({ kind: 'runner', labels: [] }) },
      files: new WorkspaceStore({ storage, bucket: {} as R2Bucket, prefix: '', observe }),
      maskText: (text) => text,
      credential: async () => ({ username: null, password: null }),
      isGitHost: async () => false,
      ...{ tell: () => {}, left: () => {}, expireAt: () => {} },
    })
  }

  /** The socket of whoever has the ticket, else the status that it is answered with. */
  async accept(ticket: string): Promise<ClientEnd | number> {
    const { status, webSocket } = await this.#runner.accept(ticketIn(ticket)?.secret ?? '')
    return status === 101 ? (webSocket as unknown as ClientEnd) : status
  }

  add(key: string, command: string): void {
    this.#sql.exec("INSERT OR IGNORE INTO steps VALUES (?, 'new', ?, NULL)", key, command)
    this.#alarms.atLatest('turn', Date.now())
  }

  async alarm({ scheduledTime }: AlarmInvocationInfo): Promise<void> {
    await this.#alarms.fire(scheduledTime, () => this.#all())
  }

  webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#runner.receive(socket, data)
  }

  webSocketClose(socket: WebSocket): void {
    this.#runner.left(socket)
  }

  /** One step after the other, as the loop of a turn takes them: one that cannot be followed any more ends as interrupted. */
  async #all(): Promise<void> {
    for (;;) {
      const [step] = this.#sql.exec("SELECT * FROM steps WHERE state <> 'done' LIMIT 1").toArray() as Step[]
      if (step === undefined) return
      const isOurs = step.state === 'new' || this.#runner.isOpen(step.key)
      this.#sql.exec("UPDATE steps SET state = 'started' WHERE key = ?", step.key)
      const result = isOurs ? await this.#run(step) : { output: '', exitCode: -1, failure: 'interrupted' }
      this.#sql.exec("UPDATE steps SET state = 'done', result = ? WHERE key = ?", JSON.stringify(result), step.key)
    }
  }

  async #run({ key, command }: Step): Promise<Result> {
    const runtime = await this.#runner.choose(key)
    if (runtime.kind !== 'runner') return { output: '', exitCode: -1, failure: 'missing' }
    const { output, exitCode, failure } = await runtime.run({
      ...{ key, kind: 'run', text: command, cwd: '/workspace', env: {}, timeoutMs: null, onOutput: () => {} },
      signal: new AbortController().signal,
      filter: { push: (text: string) => text, end: () => '' } as RunnerCall['filter'],
    })
    return { output, exitCode, failure }
  }
}

class PoolObject {
  readonly #pool: RunnerPool

  constructor(ctx: DurableObjectState) {
    this.#pool = new RunnerPool(ctx, { unknown: () => [], changed: () => {} })
  }

  accept(): ClientEnd {
    return this.#pool.accept(null, null) as unknown as ClientEnd
  }

  want(wanted: WantedRunner) {
    return this.#pool.want(wanted)
  }

  async alarm(): Promise<void> {}

  webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#pool.receive(socket, data)
  }

  webSocketClose(socket: WebSocket): void {
    this.#pool.left(socket)
  }
}

export type Lent = ObjectHost<LentObject>
export type Pool = ObjectHost<PoolObject>

export function newLent(world: CoreWorld, disks: { lent: Disk; pool: Disk }): { lent: Lent; pool: Pool } {
  const pool: Pool = new ObjectHost('pool', { world, disk: disks.pool, make: (ctx) => new PoolObject(ctx) })
  const stub = {
    wantRunner: (wanted: WantedRunner) => pool.call('want', (object) => object.want(structuredClone(wanted))),
    isGoodRunner: async () => true,
  }
  const env = Object.assign({ ...VARIABLES }, { OWNER: { idFromName: String, get: () => stub } }) as unknown as Env
  const make = (ctx: DurableObjectState) => new LentObject(ctx, env)
  return { lent: new ObjectHost('lent', { world, disk: disks.lent, make }), pool }
}
