import type { CallOutcome, CallStart } from '../../../src/runners/wire.ts'
import type { OutputLog } from './output-log.ts'

/** The result of a call; `exitCode` is -1 if no command ended. */
export type CallEnd = Pick<CallOutcome, 'state' | 'text' | 'exitCode'>
export type CallTimes = {
  readonly onQuiet: () => void
  readonly onSoft: () => void
  readonly onHard: () => void
}

/** The maximum of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A call that has started and not ended: its output, its time limits and the remarks for its result. */
export class ActiveCall {
  readonly call: CallStart
  readonly output: OutputLog
  readonly remarks = new Set<string>()
  isKilled = false
  /** The call is being stopped; its end is waited for. */
  isStopped = false
  /** A shell has started to read the command, so it may have had effects; or the command must not be run any more. */
  isTaken = false
  readonly #timers = new Set<NodeJS.Timeout>()
  #quiet: NodeJS.Timeout | null = null
  #isOver = false

  constructor(call: CallStart, output: OutputLog) {
    this.call = call
    this.output = output
  }

  /** The command cannot have had any effect. */
  get isUntouched(): boolean {
    return this.call.kind === 'run' && !this.isTaken && !this.isKilled
  }

  /** Its time limits are running. */
  get isTimed(): boolean {
    return this.#quiet !== null
  }

  /** Takes effect once, however often it is called. */
  startTimes({ onQuiet, onSoft, onHard }: CallTimes): void {
    if (this.isTimed) return
    const { quietMs, softMs, hardMs } = this.call
    this.#quiet = this.after(quietMs, onQuiet)
    if (softMs !== null) this.after(softMs, onSoft)
    this.after(hardMs, onHard)
  }

  /** There was output: the quiet time starts again. */
  heard(): void {
    if (!this.#isOver) this.#quiet?.refresh()
  }

  after(ms: number, action: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => !this.#isOver && action(), Math.min(ms, LONGEST_TIMER_MS))
    this.#timers.add(timer)
    return timer
  }

  end(): void {
    this.#isOver = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
