// The calls of one conversation: begun once, ended once, told until the object has them. A call is not a command: it may
// leave a command running, and a later call gives it input, waits for more or finds that it has ended.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CallOutcome, type CallStart, CELL_KINDS, RPC_ERRORS } from '../../../src/runners/wire.ts'
import { type Browser, isOfBrowser } from '../browser/browser.ts'
import { RpcError } from '../connect/peer.ts'
import { type Log, messageOf } from '../log.ts'
import type { Notebook } from '../notebook/notebook.ts'
import { Between } from './between.ts'
import type { Journal } from './journal.ts'
import type { Prompt } from './marks.ts'
import { OutputLog, type OutputWire } from './output-log.ts'
import type { Session, ShellEvents } from './shell.ts'
import { CROWDED, keyBytes, NEW_SESSION, refusalOf } from './texts.ts'

export type CallsDeps = {
  readonly folder: string
  readonly journal: Journal
  readonly log: Log
  readonly startShell: (events: ShellEvents) => Session
  readonly notebook: Notebook
  readonly browser: Browser
  /** The folder of the object's path, as the shell sees it. */
  readonly folderInShell: (cwd: string) => string | null
  /** Called when an outcome is in the journal: now it may be told. */
  readonly onEnded: (key: string) => void
  /** What happened to the call that its own output does not say. */
  readonly lastRemark: () => string | null
}
export type CallStateName = 'unknown' | 'running' | 'ended'

type Active = {
  readonly call: CallStart
  readonly output: OutputLog
  readonly remarks: string[]
  readonly timers: Set<NodeJS.Timeout>
  quiet: NodeJS.Timeout | null
  isKilled: boolean
  /** A shell has begun to read the command, so it may have done something; or nobody wants it to be run any more. */
  isTaken: boolean
}

/** A command of which nothing can have been run. */
const isUntouched = ({ call, isTaken, isKilled }: Active): boolean => call.kind === 'run' && !isTaken && !isKilled

/** After the C-c of a stop; and a kill that did not bring the prompt back is followed by a harder one. */
const [GRACE_MS, KILL_STEP_MS] = [2_000, 500]

export class Calls {
  readonly #deps: CallsDeps
  readonly #outputs = new Map<string, OutputLog>()
  #wire: OutputWire | null = null
  #active: Active | null = null
  #shell: Session | null = null
  #isFirstRun = true
  #env: Record<string, string> = {}
  #lastPrompt: Prompt | null = null
  /** A session ended, and nobody was told. */
  #isNewsForNext = false
  /** How a command ended while no call waited for it. */
  #endedBetween: Prompt | null = null
  readonly #between = new Between()

  constructor(deps: CallsDeps) {
    this.#deps = deps
    mkdirSync(deps.folder, { recursive: true, mode: 0o700 })
    for (const { key, outcome } of deps.journal.unacknowledged()) {
      const output = this.#newOutput(key)
      if (existsSync(this.#fileOf(key))) output.restore(outcome.outputBytes)
    }
  }

  get hasWork(): boolean {
    return this.#active !== null || (this.#shell?.hasWork ?? false) || this.#deps.notebook.hasWork
  }

  get isCalling(): boolean {
    return this.#active !== null
  }

  outputOf(key: string): OutputLog | null {
    return this.#outputs.get(key) ?? null
  }

  stateOf(key: string): CallStateName {
    if (this.#active?.call.key === key) return 'running'
    return (this.#deps.journal.get(key)?.outcome ?? null) === null ? 'unknown' : 'ended'
  }

  /** Those that the object has not acknowledged. */
  open(): { key: string; state: 'running' | 'ended' }[] {
    const ended = this.#deps.journal.unacknowledged().map(({ key }) => ({ key, state: 'ended' as const }))
    return this.#active === null ? ended : [{ key: this.#active.call.key, state: 'running' }, ...ended]
  }

  connect(wire: OutputWire): void {
    this.#wire = wire
    for (const output of this.#outputs.values()) output.connect(wire)
  }

  disconnect(): void {
    this.#wire = null
    for (const output of this.#outputs.values()) output.disconnect()
  }

  /** A key that was begun before is not begun again, whatever became of it. */
  start(call: CallStart): CallStateName {
    if (this.#active?.call.key === call.key || this.#deps.journal.get(call.key) !== null) return this.stateOf(call.key)
    if (this.#active !== null)
      throw new RpcError(RPC_ERRORS.invalidRequest, `the call ${this.#active.call.key} has not ended`)
    this.#deps.journal.started(call.key)
    const output = this.#newOutput(call.key)
    this.#active = { call, output, remarks: [], timers: new Set(), quiet: null, isKilled: false, isTaken: false }
    const active = this.#active
    const part = this.#partOf(active)
    if (part !== null) {
      this.#beginPart(active, part)
      return this.stateOf(call.key)
    }
    this.#env = { ...this.#env, ...call.env }
    this.#begin(active).catch((error) => {
      // It was told already: the session ended under it.
      if (this.#active !== active) return
      this.#deps.log('call.failed', { key: call.key, message: messageOf(error) })
      this.#shell?.end()
      this.#isNewsForNext = false
      this.#finish(active, { state: 'lost', text: `The session failed: ${messageOf(error)}`.slice(0, 2000) })
    })
    return 'running'
  }

  /** Interrupts, then kills. */
  stop(key: string): void {
    const active = this.#active
    if (active?.call.key !== key) return
    active.isTaken = true
    const part = this.#partOf(active)
    if (part === null) this.#shell?.type('\x03')
    else part.interrupt()
    this.#after(active, GRACE_MS, () => this.#kill(active))
  }

  /** The first process of each sandbox: of the shell, the notebook and the browser. */
  get sessionPids(): number[] {
    return [this.#shell?.pid, this.#deps.notebook.pid, this.#deps.browser.pid].filter((pid) => pid != null)
  }

  /** A page goes on between two calls, so what it takes is looked at then as well. */
  get isBrowserOpen(): boolean {
    return this.#deps.browser.pid !== null
  }

  /** More was taken than one conversation may: the command is killed, or what is left in the background with its session. */
  overLimit(text: string): void {
    const active = this.#active
    this.#deps.log('limit.reached', { text })
    if (active === null) {
      this.#shell?.end()
      this.#deps.notebook.kill(text)
      this.#deps.browser.kill(text)
    } else if (!active.isKilled) {
      active.isKilled = true
      if (this.#partOf(active) === null) active.remarks.push(text)
      this.#kill(active, text)
    }
  }

  acknowledged(key: string): void {
    this.#deps.journal.acknowledged(key)
    this.#outputs.get(key)?.end()
    this.#outputs.delete(key)
  }

  /** The session ends; what was running is told as lost. */
  end(): void {
    const active = this.#active
    // Nothing of it is written any more: the journal is closed next.
    this.#active = null
    if (active !== null) active.isTaken = true
    for (const timer of active?.timers ?? []) clearTimeout(timer)
    this.#shell?.end()
    this.#shell = null
    this.#deps.notebook.end()
    this.#deps.browser.end()
  }

  /** Null for a call of the shell. */
  #partOf({ call }: Active): Notebook | Browser | null {
    if (isOfBrowser(call)) return this.#deps.browser
    return CELL_KINDS.some((cell) => cell === call.kind) ? this.#deps.notebook : null
  }

  #beginPart(active: Active, part: Notebook | Browser): void {
    // The browser's actions have their own times, and it is silent until they have ended.
    const isTimed = part === this.#deps.notebook
    if (isTimed) this.#setTimers(active)
    part.take(active.call, {
      onOutput: (bytes) => {
        active.output.push(bytes)
        if (isTimed && this.#active === active) this.#restartQuiet(active)
      },
      onBegun: () => isTimed && this.#restartQuiet(active),
      onEnded: ({ exitCode, ...end }) => this.#finish(active, end, exitCode),
    })
  }

  /** In a new session once more if this one ends, or does not answer, before it has taken the command: nothing of it was run. */
  async #begin(active: Active): Promise<void> {
    const before = this.#shell
    try {
      await this.#attempt(active)
    } catch (error) {
      if (this.#active !== active || before === null || !isUntouched(active)) throw error
      if (this.#shell === before) before.end()
      await this.#attempt(active)
    }
  }

  async #attempt(active: Active): Promise<void> {
    const { call } = active
    const isRun = call.kind === 'run'
    if (isRun) await this.#leaveCrowded(active)
    if (this.#shell === null && isRun) this.#startShell(active)
    const shell = this.#shell
    if (shell !== null) await shell.ready()
    if (this.#active !== active) return
    const refusal = refusalOf(call, { isRunning: shell?.isRunning ?? false, hasEnded: this.#endedBetween !== null })
    if (refusal !== null || shell === null) {
      this.#finish(active, { state: 'refused', text: refusal ?? 'There is no session yet.' })
      return
    }
    this.#handOverOutput(active)
    if (this.#endedBetween !== null && !isRun) {
      this.#finishEnded(active, this.#endedBetween)
      return
    }
    this.#endedBetween = null
    if (active.quiet === null) this.#setTimers(active)
    if (call.kind === 'input') shell.type(keyBytes(call.text))
    if (!isRun) return
    const cwd = this.#isFirstRun ? this.#deps.folderInShell(call.cwd) : null
    await shell.run({ text: call.text, env: this.#env, cwd }, () => {
      active.isTaken = true
      this.#isFirstRun = false
      this.#env = {}
    })
  }

  /** A session in which nothing can be started is of no use to anybody. */
  async #leaveCrowded(active: Active): Promise<void> {
    const shell = this.#shell
    if (shell === null || shell.isRunning || !(await shell.isCrowded()) || this.#shell !== shell) return
    this.#shell = null
    this.#lastPrompt = null
    shell.end()
    this.#deps.log('session.crowded', {})
    active.remarks.push(CROWDED)
  }

  #startShell(active: Active): void {
    if (this.#isNewsForNext) active.remarks.push(NEW_SESSION)
    this.#isNewsForNext = false
    const shell = this.#deps.startShell({
      onOutput: (bytes) => this.#received(bytes),
      onEnded: (prompt) => this.#commandEnded(prompt),
      onGone: (reason) => this.#sessionGone(shell, reason),
    })
    this.#shell = shell
    this.#isFirstRun = true
  }

  #handOverOutput(active: Active): void {
    const { bytes, dropped } = this.#between.take()
    if (dropped > 0) active.remarks.push(`${dropped} bytes of output between two calls are not shown.`)
    if (bytes.byteLength > 0) active.output.push(bytes)
  }

  #setTimers(active: Active): void {
    const { call } = active
    this.#restartQuiet(active)
    if (call.softMs !== null) this.#after(active, call.softMs, () => this.#finish(active, { state: 'soft', text: '' }))
    this.#after(active, call.hardMs, () => {
      active.isKilled = true
      this.#kill(active)
    })
  }

  #after(active: Active, ms: number, action: () => void): NodeJS.Timeout {
    // A longer time than a timer knows is never reached.
    const timer = setTimeout(() => this.#active === active && action(), Math.min(ms, 2 ** 31 - 1))
    active.timers.add(timer)
    return timer
  }

  #restartQuiet(active: Active): void {
    if (active.quiet === null) {
      active.quiet = this.#after(active, active.call.quietMs, () => this.#finish(active, { state: 'quiet', text: '' }))
    } else active.quiet.refresh()
  }

  /** The program in the foreground; a loop that starts the next one; its shell; the whole session. */
  #kill(active: Active, why = 'The kernel was killed: the cell did not end in another way.'): void {
    const part = this.#partOf(active)
    if (part !== null) return void part.kill(why)
    const steps = [
      () => this.#shell?.killProgram(),
      () => this.#shell?.type('\x03'),
      () => this.#shell?.killProgram(),
      () => this.#shell?.killShell(),
      () => this.#shell?.end(),
    ]
    const next = () => {
      steps.shift()?.()
      if (steps.length > 0) this.#after(active, KILL_STEP_MS, next)
    }
    next()
  }

  #received(bytes: Buffer): void {
    const active = this.#active
    if (active === null || this.#partOf(active) !== null) this.#between.push(bytes)
    else {
      active.output.push(bytes)
      if (active.quiet !== null) this.#restartQuiet(active)
    }
  }

  #commandEnded(prompt: Prompt): void {
    this.#lastPrompt = prompt
    if (this.#active === null || this.#partOf(this.#active) !== null) this.#endedBetween = prompt
    else this.#finishEnded(this.#active, prompt)
  }

  #finishEnded(active: Active, prompt: Prompt): void {
    this.#endedBetween = null
    this.#lastPrompt = prompt
    const isUnread = active.call.kind === 'input' && active.quiet === null
    const text = isUnread ? 'The command had ended before this input, which went nowhere.' : ''
    this.#finish(active, { state: active.isKilled ? 'killed' : 'ended', text })
  }

  #sessionGone(shell: Session, reason: string): void {
    if (this.#shell !== shell) return
    this.#shell = null
    this.#lastPrompt = null
    this.#deps.log('session.gone', { reason })
    const active = this.#active
    // Whoever gives the command to the shell sees it, and takes another one.
    const isUntold = active === null || this.#partOf(active) !== null || isUntouched(active)
    this.#isNewsForNext ||= isUntold
    if (isUntold) return
    const state = active.isKilled ? 'killed' : 'lost'
    this.#finish(active, { state, text: `The session ended: ${reason}. A new one begins with the next command.` })
  }

  /** `cellExit`: of a cell that ended, or of the browser's actions. */
  #finish(active: Active, { state, text }: Pick<CallOutcome, 'state' | 'text'>, cellExit = -1): void {
    if (this.#active !== active) return
    const part = this.#partOf(active)
    part?.leave()
    for (const timer of active.timers) clearTimeout(timer)
    const { key } = active.call
    const prompt = this.#lastPrompt ?? this.#shell?.prompt ?? null
    const place = { cwd: prompt?.cwd ?? '', interpreter: prompt?.interpreter ?? '' }
    const hasEnded = state === 'ended' || state === 'killed'
    active.output.persist()
    const last = this.#deps.lastRemark()
    if (last !== null) active.remarks.push(last)
    const outcome: CallOutcome = {
      state,
      text,
      exitCode: part !== null ? cellExit : hasEnded ? (this.#lastPrompt?.status ?? 137) : -1,
      user: prompt?.user ?? '',
      host: prompt?.host ?? '',
      ...(part?.place ?? place),
      outputBytes: active.output.totalBytes,
      remarks: active.remarks.slice(0, 20).map((remark) => remark.slice(0, 500)),
      // Known when the outcome is told.
      left: [],
    }
    this.#deps.journal.ended(key, outcome)
    this.#active = null
    this.#deps.log('call.ended', { key, state, exit: outcome.exitCode, bytes: outcome.outputBytes })
    this.#deps.onEnded(key)
  }

  #newOutput(key: string): OutputLog {
    const onFlow = (isFlowing: boolean) => (isFlowing ? this.#shell?.resume() : this.#shell?.pause())
    const output = new OutputLog({ key, file: this.#fileOf(key), onFlow })
    if (this.#wire !== null) output.connect(this.#wire)
    this.#outputs.set(key, output)
    return output
  }

  #fileOf(key: string): string {
    return join(this.#deps.folder, `${key}.output`)
  }
}
