// The runner of a conversation: gets one from the owner's pool when a command needs it, keeps its copy of the workspace
// current, gives it calls and follows each to its end, over lost connections and restarts of this object.

import { type Runtime, type RuntimeWish, UNSYNCED } from '../../../../src/agent/runtime.ts'
import { owner } from '../../../../src/bindings.ts'
import { config } from '../../../../src/config.ts'
import { constantTimeEqual, randomToken, sha256Hex } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { waitAtMost } from '../../../../src/lib/wait-at-most.ts'
import { McpFailure } from '../../../../src/mcp/wire.ts'
import { NoAnswer } from '../../../../src/runners/rpc.ts'
import { ticketText } from '../../../../src/runners/ticket.ts'
import { type CredentialAsk, type HostAsk, KERNEL_TOOL, type RunnerDescription } from '../../../../src/runners/wire.ts'
import type { RunnerAnswer } from '../../../owner/runner-pool.ts'
import { StoredRecord } from '../../../stored-record.ts'
import { CLONING_FOLDER } from '../../repository/on-runner.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import { CallRunner } from './call-runner.ts'
import { CONTAINER_LABEL, CONTAINER_WITHIN_MS, ownContainer } from './own-container.ts'
import { ConversationPorts, NO_PORTS } from './ports.ts'
import { RunnerCalls } from './runner-calls.ts'
import { RunnerLink } from './runner-link.ts'
import { NO_RUNNER, type RunnerRecord } from './runner-record.ts'
import { ConversationProcesses, NO_PROCESSES } from './tool-processes.ts'
import type { TreeChanges } from './tree-changes.ts'
import { labelsOf, type Missing, placeToTell, whyNone } from './whereabouts.ts'

/** A runner that was told to connects within this time. */
const CONNECT_WITHIN_MS = 15_000
/** How long a call waits for its runner to come back, and how long when another one could take the conversation. */
const RETURN_WITHIN_MS = 60_000
const RETURN_BEFORE_OTHERS_MS = 7_000
/** A runner that was told to connect and does not is passed over after so long, where another one is free. */
const SILENT_BEFORE_OTHERS_MS = 2_000
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
  isGitHost(ask: HostAsk): Promise<boolean>
  /** Tells of where commands run. */
  tell(text: string): void
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
  /** Why there was none when it was last asked for. */
  #missing: Missing = 'none'
  /** The one that did not come in time: asked last. */
  #passedOver: string | null = null
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
      exclude: () => [...(deps.wish().unsynced ?? UNSYNCED), CLONING_FOLDER],
      ended: (call, place) => {
        this.#noteLeft(call.outcome.left)
        // Settled before, or given up: its files belong to the copy all the same.
        if (this.#calls.get(call.key) === null) return Promise.resolve(place(true))
        return this.#runs.waiters.ended(call, () => place(false))
      },
      credential: deps.credential,
      isGitHost: deps.isGitHost,
      processes: this.processes,
      ports: () => this.ports.streams,
      changed: () => this.#changed(),
    })
  }

  /** The runner that is connected; null for none. */
  get connected(): RunnerDescription | null {
    return this.#link.isUp ? this.#record.value.runner : null
  }

  /** Whether the runner of the conversation can run a notebook. */
  get hasKernel(): boolean {
    return this.#record.value.runner?.tools.some(({ name }) => name === KERNEL_TOOL) ?? false
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
    this.#keepAwake()
    // One that never had a runner and may do without is not worth a row for each command.
    if (kind === 'runner' || this.#record.value.runner !== null) this.#calls.plan(key)
    let isOurs = false
    try {
      const runtime = await this.#chosen(kind)
      isOurs = runtime.kind === 'runner'
      this.#tellPlace(runtime)
      return runtime
    } finally {
      if (!isOurs) this.#calls.drop(key)
    }
  }

  /** With the first command, and when it is another place: not for each. */
  #tellPlace({ kind }: Runtime): void {
    if (kind === 'missing') return
    const missing = kind === 'runner' ? null : this.#missing
    const place = placeToTell(this.#record.value, { wish: this.#deps.wish(), missing })
    if (place === null) return
    this.#record.change({ told: place.told })
    this.#deps.tell(place.text)
  }

  #noteLeft(paths: readonly string[]): void {
    const { runner, left } = this.#record.value
    const now = { runner: runner?.id ?? '', paths }
    const isNews = left === null ? paths.length > 0 : JSON.stringify(now) !== JSON.stringify(left)
    if (isNews) this.#record.change({ left: now })
  }

  async #chosen(kind: 'auto' | 'runner'): Promise<Runtime> {
    // What a runner was given before a restart is followed there.
    if (this.#link.isUp || this.#calls.isAny) return this.#runtime()
    if (kind === 'auto' && Date.now() < this.#noneUntil) return { kind: 'edge' }
    const missing = await this.#again(kind)
    if (missing === null) return this.#runtime()
    const wish = this.#deps.wish()
    if (kind === 'runner') return { kind: 'missing', why: whyNone(missing, labelsOf(wish).labels) }
    this.#missing = missing
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
  async #again(kind: 'auto' | 'runner'): Promise<Missing | null> {
    const { env, whose, wish } = this.#deps
    let until = Date.now() + AGAIN_WITHIN_MS
    let start = kind === 'runner' && wish().labels.length === 0 ? ownContainer(env, whose) : null
    let isStarted = false
    for (;;) {
      const { missing, isReturning, others } = await this.#get()
      const isNone = missing === 'none' || (missing === 'full' && (isStarted || start !== null))
      if (isNone && start !== null) {
        isStarted = await this.#containerStarted(start)
        start = null
        until = Date.now() + (isStarted ? CONTAINER_WITHIN_MS : AGAIN_WITHIN_MS)
      }
      const mayCome = isStarted || this.#record.value.runner !== null || (kind === 'runner' && isReturning)
      const isWorthIt = isNone ? mayCome : missing === 'silent' && others > 0
      if (!isWorthIt || Date.now() >= until) return missing
      await this.#until(() => this.#link.isUp, ASK_EVERY_MS)
      if (this.#link.isUp) return null
    }
  }

  async #containerStarted(start: () => Promise<void>): Promise<boolean> {
    try {
      await start()
      return true
    } catch (error) {
      log.error('runner.container_not_started', errorFields(error))
      return false
    }
  }

  /** A container that works stays awake; the command does not wait for it to hear that. */
  #keepAwake(): void {
    const { ctx, env, whose } = this.#deps
    if (!this.#link.isUp || !this.#record.value.runner?.labels.includes(CONTAINER_LABEL)) return
    const renew = ownContainer(env, whose)
    if (renew !== null) ctx.waitUntil(this.#containerStarted(renew))
  }

  /** Asks the owner's pool and waits until the runner has said hello; why not otherwise. */
  async #get(): Promise<{ missing: Missing | null; isReturning: boolean; others: number }> {
    const answer = await this.#ask(null, SILENT_BEFORE_OTHERS_MS)
    const { others } = answer
    if (!answer.ok) return { missing: answer.reason, isReturning: answer.isReturning, others }
    await this.#until(() => this.#link.isUp, others > 0 ? SILENT_BEFORE_OTHERS_MS : CONNECT_WITHIN_MS)
    this.#passedOver = this.#link.isUp ? null : answer.runner.id
    return { missing: this.#link.isUp ? null : 'silent', isReturning: false, others }
  }

  /** `only`: a certain runner or none. `patienceMs`: for the answer of one, where another is free. */
  async #ask(only: string | null, patienceMs: number): Promise<RunnerAnswer> {
    const { env, whose, wish, ctx } = this.#deps
    const secret = randomToken(32)
    this.#record.change({ ticketHash: await sha256Hex(secret) })
    const asking = owner(env, whose.owner).wantRunner({
      conversation: whose.id,
      holder: ctx.id.toString(),
      path: `/api/conversations/${whose.id}/runner`,
      ticket: ticketText({ owner: whose.owner, secret }),
      ...labelsOf(wish()),
      only,
      last: this.#passedOver,
      patienceMs,
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
    const left = (ofMs: number) => since + ofMs - Date.now()
    const isHere = () => this.#link.isUp || signal.aborted
    while (!signal.aborted && left(RETURN_WITHIN_MS) > 0) {
      await this.#until(isHere, 2 * ASK_EVERY_MS)
      if (this.#link.isUp) return this.#record.value.runner?.id === runner
      const beforeOthers = Math.max(0, left(RETURN_BEFORE_OTHERS_MS))
      const answer = await this.#ask(runner, beforeOthers).catch(notAsked)
      const mayTake = answer.others > 0 ? Math.max(0, left(RETURN_BEFORE_OTHERS_MS)) : CONNECT_WITHIN_MS
      if (answer.ok) await this.#until(isHere, mayTake)
      if (!isHere() && answer.others > 0 && left(RETURN_BEFORE_OTHERS_MS) <= 0) break
    }
    if (this.#link.isUp) return this.#record.value.runner?.id === runner
    this.#passedOver = runner
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
