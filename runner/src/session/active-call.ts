import type { CallOutcome, CallStart } from '../../../src/runners/wire.ts'
import type { OutputLog } from './output-log.ts'

/** What a call ends with; `exitCode` is -1 where nothing ended. */
export type CallEnd = Pick<CallOutcome, 'state' | 'text' | 'exitCode'>
export type CallTimes = {
  readonly onQuiet: () => void
  readonly onSoft: () => void
  readonly onHard: () => void
}

/** A timer knows no longer time; nobody waits that long. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A call that has begun and not ended: its output, its times and what its outcome will remark on. */
export class ActiveCall {
  readonly call: CallStart
  readonly output: OutputLog
  readonly remarks = new Set<string>()
  isKilled = false
  /** Somebody wants it to end: it is waited for until it has. */
  isStopped = false
  /** A shell has begun to read the command, so it may have done something; or nobody wants it to be run any more. */
  isTaken = false
  readonly #timers = new Set<NodeJS.Timeout>()
  #quiet: NodeJS.Timeout | null = null
  #isOver = false

  constructor(call: CallStart, output: OutputLog) {
    this.call = call
    this.output = output
  }

  /** A command of which nothing can have been run. */
  get isUntouched(): boolean {
    return this.call.kind === 'run' && !this.isTaken && !this.isKilled
  }

  /** Its times have begun. */
  get isTimed(): boolean {
    return this.#quiet !== null
  }

  /** Once, however often it is asked for. */
  startTimes({ onQuiet, onSoft, onHard }: CallTimes): void {
    if (this.isTimed) return
    const { quietMs, softMs, hardMs } = this.call
    this.#quiet = this.after(quietMs, onQuiet)
    if (softMs !== null) this.after(softMs, onSoft)
    this.after(hardMs, onHard)
  }

  /** Something was heard of it: the quiet time begins again. */
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
