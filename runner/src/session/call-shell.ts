// The shell of the calls: started with the first command and kept between calls. A command may continue after the call
// that started it; its output and its end are then stored for the next call.

import type { CallStart } from '../../../src/runners/wire.ts'
import { type Log, messageOf } from '../log.ts'
import { diskFull, isDiskFailure } from '../sync/folder.ts'
import type { ActiveCall, CallEnd } from './active-call.ts'
import { Killing } from './killing.ts'
import type { Prompt } from './marks.ts'
import type { Session, ShellEvents } from './shell.ts'
import { CROWDED, keyBytes, NEW_SESSION, NEW_SHELL, refusalOf } from './texts.ts'

export type CallShellDeps = {
  readonly log: Log
  readonly startShell: (events: ShellEvents) => Session
  /** The conversation had a session before this program had it, or has released it. */
  readonly hadSession: boolean
  /** The shell's path for the object's folder. */
  readonly folderInShell: (cwd: string) => string | null
  /** The shell has the call's command, or continues with a running one: the call's time limits start, if they have not. */
  readonly onBegun: (active: ActiveCall) => void
  readonly onEnded: (active: ActiveCall, end: CallEnd) => void
}

/** The status of a killed program. */
const KILLED_STATUS = 137
const BETWEEN_BYTES = 1024 * 1024

export class CallShell {
  readonly #deps: CallShellDeps
  readonly #between = new IdleOutput()
  readonly #killing = new Killing()
  /** The current call. */
  #active: ActiveCall | null = null
  #session: Session | null = null
  #isFirstRun = true
  #env: Record<string, string> = {}
  #lastPrompt: Prompt | null = null
  /** A session ended and this was not reported. */
  #isNewsForNext: boolean
  /** Events of the shell while no call was waiting. */
  readonly #news = new Set<string>()
  /** The result of a command that ended while no call was waiting. */
  #endedBetween: Prompt | null = null

  constructor(deps: CallShellDeps) {
    this.#deps = deps
    this.#isNewsForNext = deps.hadSession
  }

  get pid(): number | null {
    return this.#session?.pid ?? null
  }

  /** A command is running, or processes that it left in the background. */
  get hasWork(): boolean {
    return this.#session?.hasWork ?? false
  }

  get prompt(): Prompt | null {
    return this.#lastPrompt ?? this.#session?.prompt ?? null
  }

  get place(): { cwd: string; interpreter: string } {
    return { cwd: this.prompt?.cwd ?? '', interpreter: this.prompt?.interpreter ?? '' }
  }

  /** Executes the call and reports its end, unless it is left before. */
  take(active: ActiveCall): void {
    this.#active = active
    this.#env = { ...this.#env, ...active.call.env }
    this.#begin(active).catch((error) => {
      // Its end was already reported: the session ended during it.
      if (this.#active !== active) return
      this.#deps.log('call.failed', { key: active.call.key, message: messageOf(error) })
      this.#session?.end()
      this.#isNewsForNext = false
      if (active.isUntouched && isDiskFailure(error)) this.#end(active, 'refused', diskFull(error))
      else this.#end(active, 'lost', `The session failed: ${messageOf(error)}`.slice(0, 2000))
    })
  }

  /** The call is over, whatever the state of the command. */
  leave(): void {
    this.#active = null
  }

  interrupt(): void {
    this.#session?.type('\x03')
  }

  /** Kills the running command; without a call, everything. `isUrgent`: a limit of the machine was exceeded. */
  kill(isUrgent: boolean): void {
    if (this.#active === null) this.#session?.end()
    else if (this.#session !== null) this.#killing.begin(this.#session, isUrgent)
  }

  /** Its terminal is paused while the output is not read. */
  flow(isFlowing: boolean): void {
    if (isFlowing) this.#session?.resume()
    else this.#session?.pause()
  }

  end(): void {
    this.#active = null
    this.#killing.over()
    this.#session?.end()
    this.#session = null
  }

  /**
   * Repeated once in a new session if this one ends or does not answer before it has read the command, because nothing
   * was executed.
   */
  async #begin(active: ActiveCall): Promise<void> {
    const before = this.#session
    try {
      await this.#attempt(active)
    } catch (error) {
      if (this.#active !== active || before === null || !active.isUntouched) throw error
      if (this.#session === before) before.end()
      await this.#attempt(active)
    }
  }

  async #attempt(active: ActiveCall): Promise<void> {
    const { call } = active
    const isRun = call.kind === 'run'
    if (isRun) await this.#leaveCrowded(active)
    if (this.#active !== active) return
    if (this.#session === null && isRun) this.#start(active)
    const session = this.#session
    if (session !== null) await session.ready()
    if (this.#active !== active) return
    const refusal = refusalOf(call, { isRunning: session?.isRunning ?? false, hasEnded: this.#endedBetween !== null })
    if (refusal !== null || session === null) {
      this.#end(active, 'refused', refusal ?? 'There is no session yet.')
      return
    }
    this.#between.handTo(active)
    for (const text of this.#news) active.remarks.add(text)
    this.#news.clear()
    if (this.#endedBetween !== null && !isRun) {
      this.#commandEnded(this.#endedBetween)
      return
    }
    this.#endedBetween = null
    this.#deps.onBegun(active)
    if (call.kind === 'input') session.type(keyBytes(call.text))
    if (isRun) await this.#run(active, session)
  }

  async #run(active: ActiveCall, session: Session): Promise<void> {
    const { text, cwd }: CallStart = active.call
    const first = this.#isFirstRun ? this.#deps.folderInShell(cwd) : null
    await session.run({ text, env: this.#env, cwd: first }, () => {
      active.isTaken = true
      this.#isFirstRun = false
      this.#env = {}
    })
  }

  /** A session in which no process can be started is ended. */
  async #leaveCrowded(active: ActiveCall): Promise<void> {
    const session = this.#session
    if (session === null || session.isRunning || !(await session.isCrowded()) || this.#session !== session) return
    this.#session = null
    this.#lastPrompt = null
    session.end()
    this.#deps.log('session.crowded', {})
    active.remarks.add(CROWDED)
  }

  #start(active: ActiveCall): void {
    if (this.#isNewsForNext) active.remarks.add(NEW_SESSION)
    this.#isNewsForNext = false
    const session = this.#deps.startShell({
      onOutput: (bytes) => this.#received(bytes),
      onEnded: (prompt) => this.#commandEnded(prompt),
      onReplaced: (isSaved) => (this.#active?.remarks ?? this.#news).add(isSaved ? NEW_SHELL.saved : NEW_SHELL.unsaved),
      onGone: (reason) => this.#sessionGone(session, reason),
    })
    this.#session = session
    this.#isFirstRun = true
  }

  #received(bytes: Buffer): void {
    if (this.#active === null) this.#between.push(bytes)
    else {
      this.#active.output.push(bytes)
      this.#active.heard()
    }
  }

  #commandEnded(prompt: Prompt): void {
    this.#killing.over()
    const active = this.#active
    this.#lastPrompt = prompt
    this.#endedBetween = active === null ? prompt : null
    if (active === null) return
    const isUnread = active.call.kind === 'input' && !active.isTimed
    const text = isUnread ? 'The command had ended before this input, which went nowhere.' : ''
    this.#end(active, active.isKilled ? 'killed' : 'ended', text)
  }

  #sessionGone(session: Session, reason: string): void {
    if (this.#session !== session) return
    this.#session = null
    this.#news.clear()
    this.#killing.over()
    this.#lastPrompt = null
    this.#deps.log('session.gone', { reason })
    const active = this.#active
    // The caller that sends the command to the shell detects this, and uses another shell.
    const isUntold = active === null || active.isUntouched
    this.#isNewsForNext ||= isUntold
    if (isUntold) return
    const text = `The session ended: ${reason}. A new one begins with the next command.`
    this.#end(active, active.isKilled ? 'killed' : 'lost', text)
  }

  #end(active: ActiveCall, state: CallEnd['state'], text: string): void {
    const hasEnded = state === 'ended' || state === 'killed'
    const exitCode = hasEnded ? (this.#lastPrompt?.status ?? KILLED_STATUS) : -1
    this.#deps.onEnded(active, { state, text, exitCode })
  }
}

/** Output while no call is waiting: the end of it is stored for the next call. */
export class IdleOutput {
  #chunks: Buffer[] = []
  #bytes = 0
  #dropped = 0

  push(bytes: Buffer): void {
    this.#chunks.push(Buffer.from(bytes))
    this.#bytes += bytes.byteLength
    while (this.#bytes > BETWEEN_BYTES) {
      const first = this.#chunks.shift()
      if (first === undefined) return
      const over = this.#bytes - BETWEEN_BYTES
      const rest = first.subarray(Math.min(over, first.byteLength))
      this.#bytes -= first.byteLength - rest.byteLength
      this.#dropped += first.byteLength - rest.byteLength
      if (rest.byteLength > 0) this.#chunks.unshift(rest)
    }
  }

  handTo({ remarks, output }: Pick<ActiveCall, 'remarks'> & { output: Pick<ActiveCall['output'], 'push'> }): void {
    if (this.#dropped > 0) remarks.add(`${this.#dropped} bytes of output between two calls are not shown.`)
    if (this.#bytes > 0) output.push(Buffer.concat(this.#chunks))
    this.#chunks = []
    this.#bytes = 0
    this.#dropped = 0
  }
}
