// The runner of a conversation: gets one from the owner's pool when a command needs it, keeps its copy of the workspace
// up to date, sends it calls and follows each to its end, over lost connections and restarts of this object.

import { type Runtime, type RuntimeWish, UNSYNCED } from '../../../../src/agent/runtime.ts'
import { owner } from '../../../../src/bindings.ts'
import { config } from '../../../../src/config.ts'
import { constantTimeEqual, sha256Hex } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { McpFailure } from '../../../../src/mcp/wire.ts'
import { BROWSER_TOOL } from '../../../../src/runners/page.ts'
import { NoAnswer } from '../../../../src/runners/rpc.ts'
import { type CredentialAsk, type HostAsk, KERNEL_TOOL, type RunnerDescription } from '../../../../src/runners/wire.ts'
import { StoredRecord } from '../../../stored-record.ts'
import { CLONING_FOLDER } from '../../repository/on-runner.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import { CallRunner } from './call-runner.ts'
import { LateDoor } from './late-door.ts'
import { ConversationPorts, NO_PORTS } from './ports.ts'
import { RunnerCalls } from './runner-calls.ts'
import { RunnerFinder } from './runner-finder.ts'
import { RunnerLink } from './runner-link.ts'
import { NO_RUNNER, type RunnerRecord } from './runner-record.ts'
import { ConversationTerminal, type TerminalDeps } from './terminal.ts'
import { ConversationProcesses } from './tool-processes.ts'
import { NO_PROCESSES } from './tool-programs.ts'
import type { TreeChanges } from './tree-changes.ts'
import { labelsOf, type Missing, placeToTell, whyNone } from './whereabouts.ts'

/** How long the answer "there is no runner" stays valid for a conversation that may use the interpreter. */
const NONE_FOR_MS = 5_000

const AT_THE_EDGE =
  'This conversation runs at the edge, which has no processes. Create one with runtime=auto or runtime=runner, and start a runner with "npm run runner" (docs/runners.md).'

type Deps = Pick<TerminalDeps, 'left' | 'expireAt'> & {
  ctx: DurableObjectState
  env: Env
  whose: { owner: string; id: string }
  wish: () => RuntimeWish
  files: WorkspaceStore
  changes: TreeChanges
  maskText(text: string): string
  credential(ask: CredentialAsk): Promise<unknown>
  isGitHost(ask: HostAsk): Promise<boolean>
  /** Tells the user and the model where commands run. */
  tell(text: string): void
}

export class ConversationRunner {
  readonly #deps: Deps
  readonly #record: StoredRecord<RunnerRecord>
  readonly #calls: RunnerCalls
  readonly #runs: CallRunner
  readonly #link: RunnerLink
  readonly #finder: RunnerFinder
  /** Outcomes that arrive after their calls were given up. */
  readonly #late: LateDoor
  /** The tool servers that run as programs on the runner. */
  readonly processes: ConversationProcesses
  /** The servers in the workspace that users open in a browser. */
  readonly ports: ConversationPorts
  /** The shell that users type into. */
  readonly terminal: ConversationTerminal
  #noneUntil = 0
  /** Why there was no runner at the last search. */
  #missing: Missing = 'none'

  constructor(deps: Deps) {
    this.#deps = deps
    const { ctx, env } = deps
    const { maxFileBytes, maxWorkspaceBytes, shellTimeoutMs, maxTerminalViewers } = config(env)
    this.#record = new StoredRecord<RunnerRecord>(ctx.storage.sql, 'runner', NO_RUNNER, 'on-change')
    this.#calls = new RunnerCalls(ctx.storage.sql)
    const limits = { maxFileBytes, maxWorkspaceBytes }
    const isGood = (runner: string) => owner(env, deps.whose.owner).isGoodRunner(runner)
    this.#late = new LateDoor({ ...deps, calls: this.#calls, limits, isGood, runner: () => this.#record.value.runner })
    this.#finder = new RunnerFinder({
      ...deps,
      record: this.#record,
      isUp: () => this.#link.isUp,
      gave: (...ticket) => this.#late.outcomes.gave(...ticket),
    })
    this.#runs = new CallRunner({
      calls: this.#calls,
      record: this.#record,
      link: () => this.#link,
      comesBack: (runner, signal) => this.#finder.comesBack(runner, signal),
      another: async () => {
        const why = await this.#whyNoRunner()
        if (why === null) this.#tellPlace(this.#runtime())
        return why
      },
      gaveUp: (call) => this.#late.outcomes.gaveUp(call),
      maskText: deps.maskText,
      softMs: shellTimeoutMs,
    })
    this.processes = this.#openProcesses()
    this.ports = new ConversationPorts({
      record: new StoredRecord(ctx.storage.sql, 'ports', NO_PORTS, 'on-change'),
      runner: () => this.#record.value.runner?.id ?? null,
      link: () => this.#link.forPorts,
      settled: () => this.#finder.mayReturn(),
    })
    this.terminal = this.#openTerminal(maxTerminalViewers)
    this.#link = this.#openLink(limits)
  }

  /** The runner that is connected; null for none. */
  get connected(): RunnerDescription | null {
    return this.#link.isUp ? this.#record.value.runner : null
  }

  /** Optional parts of the conversation's runner that some tools need. */
  get parts(): { hasKernel: boolean; hasBrowser: boolean } {
    const names = new Set(this.#record.value.runner?.tools.map(({ name }) => name))
    return { hasKernel: names.has(KERNEL_TOOL), hasBrowser: names.has(BROWSER_TOOL) }
  }

  /** Whether the outcome of the call can still be learned. */
  isOpen(key: string): boolean {
    return this.#calls.has(key) || this.processes.call.isOpen(key)
  }

  /** Accepts a runner's socket. 401 unless its ticket is valid here or lets it report late outcomes. */
  async accept(secret: string): Promise<Response> {
    // A runner may connect before the pool's answer, which names it, has arrived.
    await this.#finder.asked()
    const hash = await sha256Hex(secret)
    const { ticketHash } = this.#record.value
    const isNewest = ticketHash !== null && constantTimeEqual(hash, ticketHash)
    // A runner that was asked several times may hold an earlier ticket; the conversation accepts it all the same.
    const door = isNewest ? 'current' : await this.#late.opens(hash)
    if (door !== null) return switched(door === 'current' ? this.#link.accept() : door)
    return new Response(null, { status: 401 })
  }

  receive(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#late.has(socket) ? this.#late.receive(socket, data) : this.#link.receive(socket, data)
  }

  left(socket: WebSocket): void {
    if (this.#late.has(socket)) this.#late.left(socket)
    else this.#link.left(socket)
  }

  /** Where the command of this key runs. It can be repeated until a command has begun. A null key only asks. */
  async choose(key: string | null): Promise<Runtime> {
    const { kind } = this.#deps.wish()
    if (kind === 'edge') return { kind: 'edge' }
    if (key === null) return this.#chosen(kind)
    this.processes.call.passed(key)
    this.#finder.keepAwake()
    // A conversation that never had a runner and does not require one needs no row for each command.
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

  #openProcesses(): ConversationProcesses {
    const { ctx, maskText } = this.#deps
    return new ConversationProcesses({
      record: new StoredRecord(ctx.storage.sql, 'tool_processes', NO_PROCESSES, 'on-change'),
      ready: () => this.#readyForPrograms(),
      comesBack: () => this.#finder.comesBack(this.#record.value.runner?.id ?? '', new AbortController().signal),
      gaveUp: (call) => this.#late.outcomes.gaveUpTool(call),
      link: () => this.#link.withLife,
      bringUp: () => this.#link.sender.bringUp(),
      maskText,
    })
  }

  #openTerminal(maxViewers: number): ConversationTerminal {
    return new ConversationTerminal({
      ...this.#deps,
      maxViewers,
      link: () => this.#link.forPorts,
      whyNoRunner: () => this.#whyNoRunner(),
      isBehind: () => !this.#deps.changes.isEmpty,
      bringUp: () => this.#link.sender.bringUp(),
    })
  }

  #openLink(limits: { maxFileBytes: number; maxWorkspaceBytes: number }): RunnerLink {
    const { ctx, changes, files, wish, credential, isGitHost } = this.#deps
    return new RunnerLink({
      ctx,
      record: this.#record,
      changes,
      files,
      limits,
      output: (key, seq, bytes) =>
        this.#late.outcomes.output({ key, seq }, bytes) ?? this.#runs.output(key, seq, bytes),
      exclude: () => [...(wish().unsynced ?? UNSYNCED), CLONING_FOLDER],
      ended: (call, place) => {
        this.#noteLeft(call.outcome.left)
        // The call was settled or given up before: its files belong to the copy all the same.
        if (this.#calls.get(call.key) === null) return Promise.resolve(this.#late.outcomes.ended(call, place(true)))
        return this.#runs.waiters.ended(call, () => place(false))
      },
      credential,
      isGitHost,
      processes: this.processes,
      heard: (piece) => this.#late.outcomes.heard(piece),
      ports: () => this.ports.streams,
      terminal: () => this.terminal,
      greeted: (hello, peer) => this.#late.outcomes.greeted(hello, peer),
      changed: () => this.#changed(),
    })
  }

  /** Reports the place with the first command and when it changes, not with each command. */
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
    // A call that was given to a runner before a restart is followed there.
    if (this.#link.isUp || this.#calls.isAny || this.processes.call.isAwaited) return this.#runtime()
    if (kind === 'auto' && Date.now() < this.#noneUntil) return { kind: 'edge' }
    const missing = await this.#finder.find(kind)
    if (missing === null) return this.#runtime()
    const wish = this.#deps.wish()
    if (kind === 'runner') return { kind: 'missing', why: whyNone(missing, labelsOf(wish).labels) }
    this.#missing = missing
    this.#noneUntil = Date.now() + NONE_FOR_MS
    return { kind: 'edge' }
  }

  /** Releases the runner. `erase`: also deletes its copy of the workspace. */
  release(erase: boolean): void {
    if (this.#record.value.runner === null) return
    const { env, whose, ctx } = this.#deps
    this.drop()
    const released = owner(env, whose.owner).releaseRunner(whose.id, erase)
    ctx.waitUntil(released.catch((error) => log.warn('runner.not_released', errorFields(error))))
  }

  /** Closes the connection and revokes all tickets. `barred`: only for this runner, because its key has ended. */
  drop(barred: string | null = null): void {
    this.#late.close()
    if (barred !== null && this.#record.value.runner?.id !== barred) return
    this.#record.change({ ticketHash: null, ...(barred !== null && { barred }) })
    this.#link.close('the runner was let go', 1008)
    this.#finder.dropped()
  }

  async #readyForPrograms(): Promise<void> {
    const runtime = await this.choose(null)
    if (runtime.kind === 'missing') throw new McpFailure(runtime.why)
    if (runtime.kind === 'edge')
      throw new McpFailure(`It is a program and needs a runner. Start one with "npm run runner" (docs/runners.md).`)
    // A call may be open there while its runner is away.
    if (!this.#link.isUp) await this.#finder.connects()
  }

  /** Searches for a runner as a command does. Null when one is connected, else the reason why there is none. */
  async #whyNoRunner(): Promise<string | null> {
    const runtime = await this.choose(null)
    if (runtime.kind === 'missing') return runtime.why
    if (runtime.kind === 'edge')
      return this.#deps.wish().kind === 'edge'
        ? AT_THE_EDGE
        : whyNone(this.#missing, labelsOf(this.#deps.wish()).labels)
    if (!this.#link.isUp) await this.#finder.connects()
    return this.#link.isUp ? null : whyNone('silent', [])
  }

  #runtime(): Runtime {
    return { kind: 'runner', run: (call) => this.#runs.run(call) }
  }

  #changed(): void {
    if (!this.#link.isUp) this.#runs.waiters.disconnected(new NoAnswer('the runner is gone'))
    this.processes.linkChanged()
    this.terminal.linkChanged()
    this.#finder.linkChanged()
  }
}

const switched = (webSocket: WebSocket): Response => new Response(null, { status: 101, webSocket })
