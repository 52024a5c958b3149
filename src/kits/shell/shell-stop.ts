// Why and when a running script is stopped before its end.

export type StopReason = 'aborted' | 'timeout' | 'stuck'

/** The time in which a stopped script can end by itself; then it is abandoned, without access to the files. */
const GRACE_MS = 2000

export class StopSwitch {
  readonly #controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #outer: AbortSignal | undefined
  readonly #onAbort = () => this.pull('aborted')
  #reason: StopReason | null = null
  #graceTimer: ReturnType<typeof setTimeout> | null = null
  #declareOverdue: () => void = () => undefined
  /** Resolves when a stopped script has still not ended after that time. */
  readonly overdue: Promise<null>
  /** In epoch milliseconds: when the time is up. */
  readonly deadline: number

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.overdue = new Promise((resolve) => {
      this.#declareOverdue = () => resolve(null)
    })
    this.deadline = Date.now() + timeoutMs
    this.#timer = setTimeout(() => this.pull('timeout'), timeoutMs)
    this.#outer = outer
    outer?.addEventListener('abort', this.#onAbort)
    if (outer?.aborted) this.pull('aborted')
  }

  get reason(): StopReason | null {
    return this.#reason
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Only the first reason is used. */
  pull(reason: StopReason): void {
    if (this.#reason !== null) return
    this.#reason = reason
    this.#controller.abort()
    this.#graceTimer = setTimeout(this.#declareOverdue, GRACE_MS)
  }

  /** Must be called when the script has ended, to remove timers and listeners. */
  release(): void {
    clearTimeout(this.#timer)
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer)
    this.#outer?.removeEventListener('abort', this.#onAbort)
  }
}
