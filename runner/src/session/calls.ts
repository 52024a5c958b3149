// The calls of one conversation: each starts once, ends once, and its result is sent until the object has it. A call is
// not a command: it may leave a command running, and a later call can send it input, wait for it or find that it has
// ended.

import { type CallOutcome, type CallStart, CELL_KINDS, RPC_ERRORS } from '../../../src/runners/wire.ts'
import { type Browser, isOfBrowser } from '../browser/browser.ts'
import { RpcError } from '../connect/peer.ts'
import { type Log, messageOf } from '../log.ts'
import type { Notebook } from '../notebook/notebook.ts'
import { cannotWrite, diskFull, isDiskFailure } from '../sync/folder.ts'
import { ActiveCall, type CallEnd } from './active-call.ts'
import { CallShell, type CallShellDeps } from './call-shell.ts'
import type { Journal } from './journal.ts'
import { CallOutputs } from './output-log.ts'
import { HANDED_BACK } from './texts.ts'

export type CallsDeps = Pick<CallShellDeps, 'startShell' | 'folderInShell' | 'hadSession'> & {
  readonly folder: string
  readonly journal: Journal
  readonly log: Log
  readonly notebook: Notebook
  readonly browser: Browser
  /** Called when a result is in the journal: now it may be sent. */
  readonly onEnded: (key: string) => void
  /** An event during the call that is not in its output. */
  readonly lastRemark: () => string | null
}
export type CallStateName = 'unknown' | 'running' | 'ended'

/** The time between the C-c of a stop and the kill. */
const GRACE_MS = 2_000
/**
 * The same for a cell: a kill loses all variables, and a kernel on a busy machine reacts slowly. The service waits 5 s
 * for the end.
 */
const CELL_GRACE_MS = 4_000
/** The same when the machine is about to stop. */
const LAST_GRACE_MS = 700
const KERNEL_KILLED = 'The kernel was killed: the cell did not end in another way.'

export class Calls {
  readonly outputs: CallOutputs
  readonly #deps: CallsDeps
  readonly #shell: CallShell
  #active: ActiveCall | null = null

  constructor(deps: CallsDeps) {
    this.#deps = deps
    this.#shell = new CallShell({
      ...deps,
      onBegun: (active) => this.#startTimes(active),
      onEnded: (active, end) => this.#finish(active, end),
    })
    this.outputs = new CallOutputs(deps.folder, (isFlowing) => this.#shell.flow(isFlowing))
    for (const { key, outcome } of deps.journal.unacknowledged()) this.outputs.restore(key, outcome.outputBytes)
  }

  get hasWork(): boolean {
    return this.#active !== null || this.#shell.hasWork || this.#deps.notebook.hasWork
  }

  get isCalling(): boolean {
    return this.#active !== null
  }

  /** The first process of each sandbox: of the shell, the notebook and the browser. */
  get sessionPids(): number[] {
    return [this.#shell.pid, this.#deps.notebook.pid, this.#deps.browser.pid].filter((pid) => pid !== null)
  }

  /** A page keeps running between two calls, so its usage is watched then too. */
  get isBrowserOpen(): boolean {
    return this.#deps.browser.pid !== null
  }

  stateOf(key: string): CallStateName {
    if (this.#active?.call.key === key) return 'running'
    return (this.#deps.journal.get(key)?.outcome ?? null) === null ? 'unknown' : 'ended'
  }

  /** The calls that the object has not acknowledged. */
  open(): { key: string; state: 'running' | 'ended' }[] {
    const ended = this.#deps.journal.unacknowledged().map(({ key }) => ({ key, state: 'ended' as const }))
    return this.#active === null ? ended : [{ key: this.#active.call.key, state: 'running' }, ...ended]
  }

  /** A call that was started before is not started again, whatever its result. */
  start(call: CallStart): CallStateName {
    if (this.#active?.call.key === call.key || this.#deps.journal.get(call.key) !== null) return this.stateOf(call.key)
    // The object waits for one call at a time: it no longer waits for the current one. Its command continues, unless it
    // was being stopped.
    if (this.#active?.isStopped === true) this.#kill(this.#active)
    if (this.#active !== null) this.#finish(this.#active, { state: 'soft', text: '', exitCode: -1 })
    this.#noteStarted(call.key)
    const active = new ActiveCall(call, this.outputs.open(call.key))
    this.#active = active
    const part = this.#partOf(active)
    if (part instanceof CallShell) part.take(active)
    else this.#give(active, part)
    return this.stateOf(call.key)
  }

  /** A full disk is the owner's problem: it is reported at once, and nothing is started. */
  #noteStarted(key: string): void {
    try {
      this.#deps.journal.started(key)
    } catch (error) {
      if (!isDiskFailure(error)) throw error
      throw new RpcError(RPC_ERRORS.noRoom, diskFull(error))
    }
  }

  /** Interrupts, then kills. */
  stop(key: string, graceMs?: number): void {
    const active = this.#active
    if (active?.call.key !== key) return
    active.isTaken = true
    active.isStopped = true
    const part = this.#partOf(active)
    part.interrupt()
    const usualMs = part === this.#deps.notebook ? CELL_GRACE_MS : GRACE_MS
    active.after(graceMs ?? usualMs, () => this.#kill(active))
  }

  handBack(): void {
    const active = this.#active
    if (active === null || active.isStopped) return
    active.remarks.add(HANDED_BACK)
    this.stop(active.call.key, LAST_GRACE_MS)
  }

  /** A limit of the conversation was exceeded: the command is killed, or background processes together with their session. */
  overLimit(text: string): void {
    const active = this.#active
    this.#deps.log('limit.reached', { text })
    if (active === null) {
      this.#shell.kill(true)
      this.#deps.notebook.kill(text)
      this.#deps.browser.kill(text)
    } else if (!active.isKilled) {
      active.isKilled = true
      if (this.#partOf(active) === this.#shell) active.remarks.add(text)
      this.#kill(active, { why: text, isUrgent: true })
    }
  }

  acknowledged(key: string): void {
    this.#deps.journal.acknowledged(key)
    this.outputs.acknowledged(key)
  }

  /** The session ends; a running call is reported as lost. */
  end(): void {
    // Prevents further writes, because the journal is closed next.
    this.#active?.end()
    this.#active = null
    this.#shell.end()
    this.#deps.notebook.end()
    this.#deps.browser.end()
  }

  #partOf({ call }: ActiveCall): CallShell | Notebook | Browser {
    if (isOfBrowser(call)) return this.#deps.browser
    return CELL_KINDS.some((cell) => cell === call.kind) ? this.#deps.notebook : this.#shell
  }

  #give(active: ActiveCall, part: Notebook | Browser): void {
    // The browser's actions have their own time limits, and no output until they have ended.
    if (part === this.#deps.notebook) this.#startTimes(active)
    part.take(active.call, {
      onOutput: (bytes) => {
        active.output.push(bytes)
        active.heard()
      },
      onBegun: () => active.heard(),
      onEnded: (end) => this.#finish(active, end),
    })
  }

  #startTimes(active: ActiveCall): void {
    const leave = (state: 'quiet' | 'soft') =>
      !active.isKilled && !active.isStopped && this.#finish(active, { state, text: '', exitCode: -1 })
    active.startTimes({
      onQuiet: () => leave('quiet'),
      onSoft: () => leave('soft'),
      onHard: () => {
        active.isKilled = true
        this.#kill(active)
      },
    })
  }

  /** If the disk has no space, the output is only in memory until the object has it. */
  #persist({ output, call: { key } }: ActiveCall): void {
    try {
      output.persist()
    } catch (error) {
      if (!cannotWrite(error)) throw error
      this.#deps.log('output.not_written', { key, message: messageOf(error) })
    }
  }

  #kill(active: ActiveCall, { why = KERNEL_KILLED, isUrgent = false } = {}): void {
    const part = this.#partOf(active)
    if (part instanceof CallShell) part.kill(isUrgent)
    else part.kill(why)
  }

  #finish(active: ActiveCall, { state, text, exitCode }: CallEnd): void {
    if (this.#active !== active) return
    const part = this.#partOf(active)
    part.leave()
    active.end()
    const { key } = active.call
    const { prompt } = this.#shell
    this.#persist(active)
    const last = this.#deps.lastRemark()
    if (last !== null) active.remarks.add(last)
    const outcome: CallOutcome = {
      state,
      text,
      exitCode,
      user: prompt?.user ?? '',
      host: prompt?.host ?? '',
      ...part.place,
      outputBytes: active.output.totalBytes,
      remarks: [...active.remarks].slice(0, 20).map((remark) => remark.slice(0, 500)),
      // Filled in when the result is sent.
      left: [],
    }
    this.#deps.journal.ended(key, outcome)
    this.#active = null
    this.#deps.log('call.ended', { key, state, exit: exitCode, bytes: outcome.outputBytes })
    this.#deps.onEnded(key)
  }
}
