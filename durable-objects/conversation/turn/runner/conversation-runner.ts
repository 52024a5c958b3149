// The runner of a conversation: gets one from the owner's pool when a command needs it, keeps its copy of the workspace
// current, gives it calls and follows each to its end, over lost connections and restarts of this object.

import type { Runtime, RuntimeWish } from '../../../../src/agent/runtime.ts'
import { owner } from '../../../../src/bindings.ts'
import { config } from '../../../../src/config.ts'
import { constantTimeEqual, randomToken, sha256Hex } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { waitAtMost } from '../../../../src/lib/wait-at-most.ts'
import { McpFailure } from '../../../../src/mcp/wire.ts'
import { NoAnswer } from '../../../../src/runners/rpc.ts'
import { ticketText } from '../../../../src/runners/ticket.ts'
import type { CredentialAsk, RunnerDescription } from '../../../../src/runners/wire.ts'
import type { NoRunner, RunnerAnswer } from '../../../owner/runner-pool.ts'
import { StoredRecord } from '../../../stored-record.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import { CallRunner } from './call-runner.ts'
import { ConversationPorts, NO_PORTS } from './ports.ts'
import { RunnerCalls } from './runner-calls.ts'
import { RunnerLink } from './runner-link.ts'
import { NO_RUNNER, type RunnerRecord } from './runner-record.ts'
import { ConversationProcesses, NO_PROCESSES } from './tool-processes.ts'
import type { TreeChanges } from './tree-changes.ts'

/** A runner that was told to connects within this time. */
const CONNECT_WITHIN_MS = 15_000
/** How long a call waits for its runner to come back, and how long when another one could take the conversation. */
const RETURN_WITHIN_MS = 60_000
const RETURN_BEFORE_OTHERS_MS = 7_000
/** How long a command waits for a runner that was there: after a restart of the service all of them come back. */
const AGAIN_WITHIN_MS = 10_000
const ASK_EVERY_MS = 500
/** How long the answer "there is no runner" is good for a conversation that may use the interpreter. */
const NONE_FOR_MS = 5_000
type Deps = {
  ctx: DurableObjectState
  env: Env
  whose: { owner: string; id: string }
  wish: () => RuntimeWish
  files: WorkspaceStore
  changes: TreeChanges
  maskText(text: string): string
  credential(ask: CredentialAsk): Promise<unknown>
}

export class ConversationRunner {
  readonly #deps: Deps
  readonly #record: StoredRecord<RunnerRecord>
  readonly #calls: RunnerCalls
  readonly #runs: CallRunner
  readonly #link: RunnerLink
  /** The tool servers that are programs. */
  readonly processes: ConversationProcesses
  /** The servers that people look at. */
  readonly ports: ConversationPorts
  /** Each is called when a runner comes or goes. */
  readonly #watchers = new Set<() => void>()
  #noneUntil = 0
  readonly #madeAt = Date.now()
  /** The pool is asked for a runner. Null when it is not. */
  #asking: Promise<RunnerAnswer> | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    const { ctx, env, changes, files } = deps
    const { maxFileBytes, maxWorkspaceBytes } = config(env)
    this.#record = new StoredRecord<RunnerRecord>(ctx.storage.sql, 'runner', NO_RUNNER, 'on-change')
    this.#calls = new RunnerCalls(ctx.storage.sql)
    this.#runs = new CallRunner({
      calls: this.#calls,
      record: this.#record,
      link: () => this.#link,
      comesBack: (runner, signal) => this.#comesBack(runner, signal),
      maskText: deps.maskText,
    })
    this.processes = new ConversationProcesses({
      record: new StoredRecord(ctx.storage.sql, 'tool_processes', NO_PROCESSES, 'on-change'),
      ready: () => this.#readyForPrograms(),
      link: () => this.#link.withLife,
      bringUp: () => this.#link.sender.bringUp(),
      maskText: deps.maskText,
    })
    this.ports = new ConversationPorts({
      record: new StoredRecord(ctx.storage.sql, 'ports', NO_PORTS, 'on-change'),
      runner: () => this.#record.value.runner?.id ?? null,
      link: () => this.#link.forPorts,
      settled: () => this.#mayReturn(),
    })
    this.#link = new RunnerLink({
      ctx,
      record: this.#record,
      changes,
      files,
      limits: { maxFileBytes, maxWorkspaceBytes },
      output: (key, seq, bytes) => this.#runs.output(key, seq, bytes),
      ended: (call, place) => {
        // Settled before, or given up: its files belong to the copy all the same.
        if (this.#calls.get(call.key) === null) return Promise.resolve(place(true))
        return this.#runs.waiters.ended(call, () => place(false))
      },
      credential: deps.credential,
      processes: this.processes,
      ports: () => this.ports.streams,
      changed: () => this.#changed(),
    })
  }

  /** The runner that is connected; null for none. */
  get connected(): RunnerDescription | null {
    return this.#link.isUp ? this.#record.value.runner : null
  }

  /** Whether the outcome of the call can still be learned. */
  isOpen(key: string): boolean {
    return this.#calls.has(key)
  }

  /** A runner's socket with its ticket's secret; 401 when it is not the one that was told to come. */
  async accept(secret: string): Promise<Response> {
    // A runner may be here before the pool's answer, which says that it is the one.
    await this.#asking?.catch(() => undefined)
    const { ticketHash } = this.#record.value
    if (ticketHash === null || !constantTimeEqual(await sha256Hex(secret), ticketHash)) {
      return new Response(null, { status: 401 })
    }
    return new Response(null, { status: 101, webSocket: this.#link.accept() })
  }

  receive(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#link.receive(socket, data)
  }

  left(socket: WebSocket): void {
    this.#link.left(socket)
  }

  /** Where the command of this key runs. A restart on the way costs nothing: it is chosen anew, because nothing has begun. Null: only to know. */
  async choose(key: string | null): Promise<Runtime> {
    const { kind } = this.#deps.wish()
    if (kind === 'edge') return { kind: 'edge' }
    if (key === null) return this.#chosen(kind)
    // One that never had a runner and may do without is not worth a row for each command.
    if (kind === 'runner' || this.#record.value.runner !== null) this.#calls.plan(key)
    let isOurs = false
    try {
      const runtime = await this.#chosen(kind)
      isOurs = runtime.kind === 'runner'
      return runtime
    } finally {
      if (!isOurs) this.#calls.drop(key)
    }
  }

  async #chosen(kind: 'auto' | 'runner'): Promise<Runtime> {
    // What a runner was given before a restart is followed there.
    if (this.#link.isUp || this.#calls.isAny) return this.#runtime()
    if (kind === 'auto' && Date.now() < this.#noneUntil) return { kind: 'edge' }
    const missing = await this.#again(kind)
    if (missing === null) return this.#runtime()
    if (kind === 'runner') return { kind: 'missing', why: whyNone(missing, this.#deps.wish()) }
    this.#noneUntil = Date.now() + NONE_FOR_MS
    return { kind: 'edge' }
  }

  /** The runner is let go. `erase`: its copy of the workspace as well. */
  release(erase: boolean): void {
    if (this.#record.value.runner === null) return
    const { env, whose, ctx } = this.#deps
    this.drop()
    const released = owner(env, whose.owner).releaseRunner(whose.id, erase)
    ctx.waitUntil(released.catch((error) => log.warn('runner.not_released', errorFields(error))))
  }

  /** Closes the connection; the ticket opens nothing any more. */
  drop(): void {
    this.#record.change({ ticketHash: null })
    this.#link.close('the runner was let go', 1008)
  }

  async #readyForPrograms(): Promise<void> {
    const runtime = await this.choose(null)
    if (runtime.kind === 'missing') throw new McpFailure(runtime.why)
    if (runtime.kind === 'edge')
      throw new McpFailure(`It is a program and needs a runner. Start one with "npm run runner" (docs/runners.md).`)
    // A call may be followed there while its runner is away.
    if (!this.#link.isUp) await this.#until(() => this.#link.isUp, CONNECT_WITHIN_MS)
  }

  /** After a restart of the service its runner is back in seconds; later it is only a connection that broke, or it is gone. */
  #mayReturn(): Promise<void> {
    if (this.#record.value.ticketHash === null) return Promise.resolve()
    const isNew = Date.now() - this.#madeAt < 2 * AGAIN_WITHIN_MS
    return this.#until(() => this.#link.isUp, isNew ? AGAIN_WITHIN_MS : 2 * ASK_EVERY_MS)
  }

  #runtime(): Runtime {
    return { kind: 'runner', run: (call) => this.#runs.run(call) }
  }

  /** A runner. For one that may come back some time is given: the conversation had it, or has to have one and the pool did. */
  async #again(kind: 'auto' | 'runner'): Promise<NoRunner | 'silent' | null> {
    const until = Date.now() + AGAIN_WITHIN_MS
    for (;;) {
      const { missing, isReturning } = await this.#get()
      const mayCome = this.#record.value.runner !== null || (kind === 'runner' && isReturning)
      if (missing !== 'none' || !mayCome || Date.now() >= until) return missing
      await this.#until(() => this.#link.isUp, ASK_EVERY_MS)
      if (this.#link.isUp) return null
    }
  }

  /** Asks the owner's pool and waits until the runner has said hello; why not otherwise. */
  async #get(): Promise<{ missing: NoRunner | 'silent' | null; isReturning: boolean }> {
    const answer = await this.#ask(null)
    if (!answer.ok) return { missing: answer.reason, isReturning: answer.isReturning }
    await this.#until(() => this.#link.isUp, CONNECT_WITHIN_MS)
    return { missing: this.#link.isUp ? null : 'silent', isReturning: false }
  }

  /** `only`: a certain runner or none. */
  async #ask(only: string | null): Promise<RunnerAnswer> {
    const { env, whose, wish, ctx } = this.#deps
    const secret = randomToken(32)
    this.#record.change({ ticketHash: await sha256Hex(secret) })
    const asking = owner(env, whose.owner).wantRunner({
      conversation: whose.id,
      holder: ctx.id.toString(),
      path: `/api/conversations/${whose.id}/runner`,
      ticket: ticketText({ owner: whose.owner, secret }),
      labels: [...wish().labels],
      only,
    })
    const noted = this.#noted(asking)
    this.#asking = noted
    return noted
  }

  /** The pool's answer, which is stored by the time that it is known. */
  async #noted(asking: Promise<RunnerAnswer>): Promise<RunnerAnswer> {
    try {
      const answer = await asking
      if (answer.ok) this.#record.change({ runner: answer.runner })
      return answer
    } finally {
      this.#asking = null
    }
  }

  /**
   * Whether the same runner is connected again, within the time that a call waits for it. One that was started anew knows no ticket,
   * so it is asked to come.
   */
  async #comesBack(runner: string, signal: AbortSignal): Promise<boolean> {
    const since = Date.now()
    const isHere = () => this.#link.isUp || signal.aborted
    while (!signal.aborted && Date.now() - since < RETURN_WITHIN_MS) {
      await this.#until(isHere, 2 * ASK_EVERY_MS)
      if (this.#link.isUp) return this.#record.value.runner?.id === runner
      const answer = await this.#ask(runner).catch(notAsked)
      if (answer.ok) await this.#until(isHere, CONNECT_WITHIN_MS)
      else if (answer.others > 0 && Date.now() - since > RETURN_BEFORE_OTHERS_MS) return false
    }
    return false
  }

  async #until(isSo: () => boolean, ms: number): Promise<void> {
    if (isSo()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => {
      if (isSo()) resolve()
    }
    this.#watchers.add(look)
    await waitAtMost(ms, promise)
    this.#watchers.delete(look)
  }

  #changed(): void {
    if (!this.#link.isUp) this.#runs.waiters.disconnected(new NoAnswer('the runner is gone'))
    this.processes.linkChanged()
    for (const watcher of this.#watchers) watcher()
  }
}

/** The pool is away for a moment: it is asked again. */
function notAsked(error: unknown): RunnerAnswer {
  log.warn('runner.pool_silent', errorFields(error))
  return { ok: false, reason: 'none', busy: 0, others: 0, isReturning: false }
}

const START_ONE = 'Start one with "npm run runner" (docs/runners.md), or set this conversation to run at the edge.'

function whyNone(reason: NoRunner | 'silent', { labels }: RuntimeWish): string {
  if (reason === 'none') return `No runner is connected. ${START_ONE}`
  if (reason === 'labels') return `No connected runner has the labels ${labels.join(', ')}. ${START_ONE}`
  if (reason === 'full') return `All connected runners are busy. Wait, raise the capacity of one, or start another.`
  return 'The runner was told to connect to this conversation and did not. Look at its log.'
}
