// Why and when a running script is stopped before its end.

export type StopReason = 'aborted' | 'timeout' | 'stuck'

/** A stopped script gets this long to come to a halt by itself; then it is left behind, cut off from the files. */
const GRACE_MS = 2000

export class StopSwitch {
  readonly #controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #outer: AbortSignal | undefined
  readonly #onAbort = () => this.pull('aborted')
  #reason: StopReason | null = null
  #graceTimer: ReturnType<typeof setTimeout> | null = null
  #declareOverdue: () => void = () => undefined
  /** Resolves when a stopped script had its grace and still has not ended. */
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

  /** The first reason counts. */
  pull(reason: StopReason): void {
    if (this.#reason !== null) return
    this.#reason = reason
    this.#controller.abort()
    this.#graceTimer = setTimeout(this.#declareOverdue, GRACE_MS)
  }

  /** To be called when the script has ended: no timer and no listener stays behind. */
  release(): void {
    clearTimeout(this.#timer)
    if (this.#graceTimer !== null) clearTimeout(this.#graceTimer)
    this.#outer?.removeEventListener('abort', this.#onAbort)
  }
}
