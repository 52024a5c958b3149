// The runner of a conversation: gets one from the owner's pool when a command needs it, keeps its copy of the workspace
// current, gives it calls and follows each to its end, over lost connections and restarts of this object.

import type { RunnerCall, RunnerResult, Runtime, RuntimeWish } from '../../../src/agent/runtime.ts'
import { owner } from '../../../src/bindings.ts'
import { config } from '../../../src/config.ts'
import { constantTimeEqual, randomToken, sha256Hex } from '../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { unlessAborted, waitAtMost } from '../../../src/lib/wait-at-most.ts'
import { plainOutput } from '../../../src/runners/output.ts'
import { NoAnswer, RpcError } from '../../../src/runners/rpc.ts'
import { ticketText } from '../../../src/runners/ticket.ts'
import { CallState, type CredentialAsk, RPC_ERRORS, type RunnerDescription } from '../../../src/runners/wire.ts'
import type { NoRunner } from '../../owner/runner-pool.ts'
import { StoredRecord } from '../../stored-record.ts'
import type { WorkspaceStore } from '../workspace/store.ts'
import { type CallEnd, CallWaiters } from './call-waiters.ts'
import { remarkOn } from './remarks.ts'
import { RunnerCalls } from './runner-calls.ts'
import { RunnerLink } from './runner-link.ts'
import { NO_RUNNER, type RunnerRecord } from './runner-record.ts'
import type { TreeChanges } from './tree-changes.ts'

/** A runner that was told to connects within this time. */
const CONNECT_WITHIN_MS = 15_000
/** How long a call waits for its runner to come back. */
const RETURN_WITHIN_MS = 60_000
/** How long the answer "there is no runner" is good for a conversation that may use the interpreter. */
const NONE_FOR_MS = 5_000
/** What a stopped command may take to end. */
const STOP_WITHIN_MS = 5_000
const QUIET_MS = 30_000
const HARD_MS = 24 * 3600_000
const TRIES = 3

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
  readonly #waiters = new CallWaiters()
  readonly #link: RunnerLink
  /** Each is called when a runner comes or goes. */
  readonly #watchers = new Set<() => void>()
  #noneUntil = 0

  constructor(deps: Deps) {
    this.#deps = deps
    const { ctx, env, changes, files } = deps
    const { maxFileBytes, maxWorkspaceBytes } = config(env)
    this.#record = new StoredRecord<RunnerRecord>(ctx.storage.sql, 'runner', NO_RUNNER, 'on-change')
    this.#calls = new RunnerCalls(ctx.storage.sql)
    this.#link = new RunnerLink({
      ctx,
      record: this.#record,
      changes,
      files,
      limits: { maxFileBytes, maxWorkspaceBytes },
      output: (key, seq, bytes) => this.#output(key, seq, bytes),
      ended: (call, place) => {
        // Settled before, or given up: its files belong to the copy all the same.
        if (this.#calls.get(call.key) === null) return Promise.resolve(place())
        return this.#waiters.ended(call, place)
      },
      credential: deps.credential,
      changed: () => this.#changed(),
    })
  }

  /** The runner that is connected; null for none. */
  get connected(): RunnerDescription | null {
    return this.#link.isUp ? this.#record.value.runner : null
  }

  /** Whether the outcome of the call can still be learned. */
  isOpen(key: string): boolean {
    return this.#calls.get(key) !== null
  }

  /** A runner's socket with its ticket's secret; 401 when it is not the one that was told to come. */
  async accept(secret: string): Promise<Response> {
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

  /** Where the next command runs. */
  async choose(): Promise<Runtime> {
    const { kind } = this.#deps.wish()
    if (kind === 'edge') return { kind: 'edge' }
    if (this.#link.isUp) return this.#runtime()
    if (kind === 'auto' && Date.now() < this.#noneUntil) return { kind: 'edge' }
    const missing = await this.#get()
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

  #runtime(): Runtime {
    return { kind: 'runner', run: (call) => this.#run(call) }
  }

  /** Asks the owner's pool and waits until the runner has said hello; why not otherwise. */
  async #get(): Promise<NoRunner | 'silent' | null> {
    const { env, whose, wish, ctx } = this.#deps
    const secret = randomToken(32)
    this.#record.change({ ticketHash: await sha256Hex(secret) })
    const answer = await owner(env, whose.owner).wantRunner({
      conversation: whose.id,
      holder: ctx.id.toString(),
      path: `/api/conversations/${whose.id}/runner`,
      ticket: ticketText({ owner: whose.owner, secret }),
      labels: [...wish().labels],
    })
    if (!answer.ok) return answer.reason
    this.#record.change({ runner: answer.runner })
    await this.#until(() => this.#link.isUp, CONNECT_WITHIN_MS)
    return this.#link.isUp ? null : 'silent'
  }

  async #run(call: RunnerCall): Promise<RunnerResult> {
    const begun = this.#calls.get(call.key)
    const runner = begun?.runner ?? this.#record.value.runner?.id ?? ''
    const stop = () => void this.#stop(call.key)
    call.signal.addEventListener('abort', stop, { once: true })
    try {
      let tries = 0
      for (;;) {
        try {
          return this.#result(call, await this.#attempt(call, runner))
        } catch (error) {
          tries += 1
          if (call.signal.aborted) return this.#given(call, 'The command was stopped by the user.', true)
          if (!mayPass(error) || tries > TRIES) throw error
          log.info('runner.call_again', { key: call.key, ...errorFields(error) })
          const isBack = await this.#comesBack(runner, call.signal)
          if (!isBack) return this.#given(call, lostText(this.#record.value.runner), call.signal.aborted)
        }
      }
    } finally {
      call.signal.removeEventListener('abort', stop)
      this.#waiters.leave(call.key)
    }
  }

  /** Begins the call, or asks what became of it, and waits for its end. */
  async #attempt(call: RunnerCall, runner: string): Promise<CallEnd> {
    const decoder = new TextDecoder()
    const ended = this.#waiters.wait(call.key, (bytes) => show(call, decoder.decode(bytes, { stream: true })))
    // It may fail while the start is still waited for.
    ended.catch(() => undefined)
    const peer = this.#link.peer
    if (peer === null) throw new NoAnswer('the runner is gone')
    const isBegun = this.#calls.get(call.key) !== null
    if (isBegun) {
      const { state } = await peer.call('call/query', { key: call.key }, CallState)
      if (state === 'unknown') throw new UnknownOutcome('the runner does not know the call')
    } else {
      await this.#link.bringUp()
      const { epoch, revision } = this.#record.value
      this.#calls.begin(call.key, runner)
      const { key, kind, text, cwd, env, timeoutMs } = call
      const times = { quietMs: QUIET_MS, softMs: timeoutMs, hardMs: HARD_MS }
      await peer.call('call/start', { key, kind, text, cwd, env: { ...env }, ...times, epoch, revision }, CallState)
    }
    return call.signal.aborted ? ended : await unlessStopped(call.signal, ended)
  }

  #result(call: RunnerCall, { call: { outcome }, stored }: CallEnd): RunnerResult {
    const output = this.#taken(call)
    const { exitCode, user, host, interpreter } = outcome
    // A session that failed knows no folder.
    const workingDir = outcome.cwd === '' ? call.cwd : outcome.cwd
    const remark = remarkOn(outcome, stored.refused, call)
    return { output, exitCode, workingDir, user, host, interpreter, remark, aborted: call.signal.aborted }
  }

  /** A call whose end is not known. */
  #given(call: RunnerCall, why: string, aborted: boolean): RunnerResult {
    const output = this.#taken(call)
    return {
      output,
      exitCode: -1,
      workingDir: call.cwd,
      user: '',
      host: '',
      interpreter: '',
      remark: `[${why}]`,
      aborted,
    }
  }

  /** What the call printed. It is an observation in the same write in which the call is forgotten here. */
  #taken({ key }: RunnerCall): string {
    const output = this.#deps.maskText(plainOutput(this.#calls.output(key)))
    this.#calls.drop(key)
    return output
  }

  #output(key: string, seq: number, bytes: Uint8Array): boolean {
    const isNew = this.#calls.addOutput(key, seq, bytes)
    if (isNew === true) this.#waiters.output(key, bytes)
    return isNew !== 'gap'
  }

  async #stop(key: string): Promise<void> {
    try {
      await this.#link.peer?.call('call/stop', { key }, CallState.partial(), STOP_WITHIN_MS)
    } catch (error) {
      log.info('runner.not_stopped', errorFields(error))
    }
  }

  /** Whether the same runner is connected again, within the time that a call waits for it. */
  async #comesBack(runner: string, signal: AbortSignal): Promise<boolean> {
    const until = Date.now() + RETURN_WITHIN_MS
    while (!signal.aborted && Date.now() < until) {
      if (this.#link.isUp) return this.#record.value.runner?.id === runner
      await this.#until(() => this.#link.isUp || signal.aborted, 2_000)
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
    if (!this.#link.isUp) this.#waiters.disconnected(new NoAnswer('the runner is gone'))
    for (const watcher of this.#watchers) watcher()
  }
}

class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome'
}

/** The connection went, or the copy was not at the state that was thought: the next try can succeed. */
function mayPass(error: unknown): boolean {
  if (error instanceof NoAnswer) return true
  return error instanceof RpcError && (error.code === RPC_ERRORS.wrongRevision || error.code === RPC_ERRORS.internal)
}

/** The end of a call, also after a stop, but not for long then. */
async function unlessStopped(signal: AbortSignal, ended: Promise<CallEnd>): Promise<CallEnd> {
  try {
    return await unlessAborted(signal, ended)
  } catch (error) {
    if (!signal.aborted) throw error
    let end: CallEnd | null = null
    await waitAtMost(
      STOP_WITHIN_MS,
      ended.then((came) => {
        end = came
      }),
    )
    if (end === null) throw error
    return end
  }
}

function show({ filter, onOutput }: RunnerCall, text: string): void {
  const shown = filter.push(text)
  if (shown !== '') onOutput(shown)
}

function lostText(runner: RunnerDescription | null): string {
  const name = runner === null ? 'The runner' : `The runner ${runner.name}`
  return `${name} was lost while this ran. Its outcome is unknown and it was not run again; the files are as they were when the runner last reported.`
}

function whyNone(reason: NoRunner | 'silent', { labels }: RuntimeWish): string {
  const start = 'Start one with "npm run runner" (docs/runners.md), or set this conversation to run at the edge.'
  if (reason === 'none') return `No runner is connected. ${start}`
  if (reason === 'labels') return `No connected runner has the labels ${labels.join(', ')}. ${start}`
  if (reason === 'full') return `All connected runners are busy. Wait, raise the capacity of one, or start another.`
  return 'The runner was told to connect to this conversation and did not. Look at its log.'
}
