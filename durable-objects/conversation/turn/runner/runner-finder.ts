// Finds a runner for a conversation in its owner's pool: the one that it had before, or another free one. Then it waits
// until that runner has connected.

import type { RuntimeWish } from '../../../../src/agent/runtime.ts'
import { owner } from '../../../../src/bindings.ts'
import { randomToken, sha256Hex } from '../../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { inTime, noAnswerWithin, waitAtMost } from '../../../../src/lib/wait-at-most.ts'
import { ticketText } from '../../../../src/runners/ticket.ts'
import type { RunnerAnswer } from '../../../owner/runner-pool.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import { AwakeTime } from './awake-time.ts'
import { CONTAINER_LABEL, CONTAINER_WITHIN_MS, ownContainer } from './own-container.ts'
import type { RunnerRecord } from './runner-record.ts'
import { labelsOf, type Missing } from './whereabouts.ts'

/** How long a runner may take to connect after it was told to. */
const CONNECT_WITHIN_MS = 15_000
/** How long a call waits for its runner to reconnect, and how long if another runner could take the conversation. */
const RETURN_WITHIN_MS = 60_000
const RETURN_BEFORE_OTHERS_MS = 7_000
/** If another runner is free, a runner that was told to connect is passed over after this time. */
const SILENT_BEFORE_OTHERS_MS = 2_000
/**
 * How long a command waits for a runner that was connected before: after a restart of the service all runners
 * reconnect.
 */
const AGAIN_WITHIN_MS = 10_000
const ASK_EVERY_MS = 500
/** A broken connection may come back by itself within this time. */
const FIRST_LOOK_MS = 2 * ASK_EVERY_MS
/**
 * The pool asks several runners in turn, each for some seconds. After this time it is asked again, so that nothing
 * waits without end.
 */
const POOL_WITHIN_MS = 31_000

/** The pool's answer, or `unasked` when there was none. */
type Answer = RunnerAnswer | { ok: false; reason: 'unasked'; others: 0; isReturning: true }

type Deps = {
  ctx: DurableObjectState
  env: Env
  whose: { owner: string; id: string }
  wish: () => RuntimeWish
  record: StoredRecord<RunnerRecord>
  /** Whether a runner is connected and has said hello. */
  isUp(): boolean
  /** The runner was told to connect with the ticket of this hash, or is about to be. */
  gave(runner: string, ticketHash: string): void
}

export class RunnerFinder {
  readonly #deps: Deps
  /** Each is called when a runner connects or disconnects. */
  readonly #watchers = new Set<() => void>()
  readonly #madeAt = Date.now()
  /** The runner that did not connect in time: it is asked last. */
  #passedOver: string | null = null
  /** The open request to the pool, or null. */
  #asking: Promise<Answer> | null = null
  /** Grows with each release of the runner: an answer to an earlier request must not give one. */
  #drops = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Waits for the pool's answer if a request is open. */
  async asked(): Promise<void> {
    await this.#asking
  }

  /** The runner was released. */
  dropped(): void {
    this.#drops += 1
    this.linkChanged()
  }

  /** A runner has connected or disconnected. */
  linkChanged(): void {
    for (const watcher of this.#watchers) watcher()
  }

  /** Waits until the runner that was told to connect has done so, or its time is over. */
  connects(): Promise<void> {
    return this.#until(() => this.#deps.isUp(), CONNECT_WITHIN_MS)
  }

  /**
   * Finds a runner; returns why there is none. It waits for a runner that may come back: the one that the conversation
   * had or, when a runner is required, one that the pool had.
   */
  async find(kind: 'auto' | 'runner'): Promise<Missing | null> {
    const { env, whose, wish, record } = this.#deps
    let until = Date.now() + AGAIN_WITHIN_MS
    let start = kind === 'runner' && wish().labels.length === 0 ? ownContainer(env, whose) : null
    let isStarted = false
    for (;;) {
      const { missing, isReturning, others } = await this.#get()
      const isTaken = missing === 'full' || missing === 'disk'
      const isNone = missing === 'none' || missing === 'unasked' || (isTaken && (isStarted || start !== null))
      if (isNone && start !== null) {
        isStarted = await containerStarted(start)
        start = null
        until = Date.now() + (isStarted ? CONTAINER_WITHIN_MS : AGAIN_WITHIN_MS)
      }
      const { runner, barred } = record.value
      const hadOne = runner !== null && runner.id !== barred
      const mayCome = isStarted || hadOne || (kind === 'runner' && isReturning)
      const isWorthIt = isNone ? mayCome : missing === 'silent' && others > 0
      if (!isWorthIt || Date.now() >= until) return missing
      await this.#until(() => this.#deps.isUp(), ASK_EVERY_MS)
      if (this.#deps.isUp()) return null
    }
  }

  /** Keeps a container awake while it works; the command does not wait for this. */
  keepAwake(): void {
    const { ctx, env, whose, record } = this.#deps
    if (!this.#deps.isUp() || !record.value.runner?.labels.includes(CONTAINER_LABEL)) return
    const renew = ownContainer(env, whose)
    if (renew !== null) ctx.waitUntil(containerStarted(renew))
  }

  /**
   * Right after a restart of the service the runner is back within seconds. Later only a broken connection comes back
   * that soon.
   */
  mayReturn(): Promise<void> {
    if (this.#deps.record.value.ticketHash === null) return Promise.resolve()
    const isNew = Date.now() - this.#madeAt < 2 * AGAIN_WITHIN_MS
    return this.#until(() => this.#deps.isUp(), isNew ? AGAIN_WITHIN_MS : 2 * ASK_EVERY_MS)
  }

  /** Asks the owner's pool and waits until the runner has said hello; `missing` says why there is none. */
  async #get(): Promise<{ missing: Missing | null; isReturning: boolean; others: number }> {
    const answer = await this.#ask(null, SILENT_BEFORE_OTHERS_MS)
    const { others } = answer
    if (!answer.ok) return { missing: answer.reason, isReturning: answer.isReturning, others }
    await this.#until(() => this.#deps.isUp(), others > 0 ? SILENT_BEFORE_OTHERS_MS : CONNECT_WITHIN_MS)
    this.#passedOver = this.#deps.isUp() ? null : answer.runner.id
    return { missing: this.#deps.isUp() ? null : 'silent', isReturning: false, others }
  }

  /** `only`: this runner or none. `patienceMs`: how long a runner may take to answer if another one is free. */
  async #ask(only: string | null, patienceMs: number): Promise<Answer> {
    const { env, whose, wish, ctx } = this.#deps
    const secret = randomToken(32)
    const ticketHash = await sha256Hex(secret)
    this.#deps.record.change({ ticketHash })
    if (only !== null) this.#deps.gave(only, ticketHash)
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
    const noted = this.#noted(asking, ticketHash)
    this.#asking = noted
    return noted
  }

  /** Stores the pool's answer before the caller gets it. */
  async #noted(asking: Promise<RunnerAnswer>, ticketHash: string): Promise<Answer> {
    const drops = this.#drops
    try {
      const answer = await inTime(POOL_WITHIN_MS, asking, noAnswerWithin(POOL_WITHIN_MS))
      if (answer.ok && drops !== this.#drops)
        return { ok: false, reason: 'none', busy: 0, others: answer.others, isReturning: true }
      if (answer.ok) {
        this.#deps.record.change({ runner: answer.runner, barred: null })
        this.#deps.gave(answer.runner.id, ticketHash)
      }
      return answer
    } catch (error) {
      log.warn('runner.pool_silent', errorFields(error))
      return { ok: false, reason: 'unasked', others: 0, isReturning: true }
    } finally {
      this.#asking = null
    }
  }

  /**
   * Waits until the same runner is connected again, for as long as a call waits for it. A restarted runner has no
   * ticket, so the pool asks it to connect. If another runner could take the conversation, the wait is shorter and
   * begins when that runner is there: after a restart of the service no runner is there yet, and each needs its time.
   * The wait begins again with each answer of the runner, which shows that it is alive.
   */
  async comesBack(runner: string, signal: AbortSignal): Promise<boolean> {
    const waited = new AwakeTime()
    try {
      await this.#waitFor(runner, { signal, waited })
    } finally {
      waited.end()
    }
    if (this.#deps.isUp()) return this.#deps.record.value.runner?.id === runner
    this.#passedOver = runner
    return false
  }

  async #waitFor(runner: string, { signal, waited }: { signal: AbortSignal; waited: AwakeTime }): Promise<void> {
    let from: number | null = null
    const leftBeforeOthers = () => Math.max(0, (from ?? waited.ms) + RETURN_BEFORE_OTHERS_MS - waited.ms)
    const isHere = () => this.#deps.isUp() || signal.aborted || this.isBarred(runner)
    while (waited.ms < RETURN_WITHIN_MS && !isHere()) {
      await this.#until(isHere, FIRST_LOOK_MS)
      if (isHere()) return
      const { ok, others } = await this.#ask(runner, leftBeforeOthers())
      if (ok) from = null
      else if (others > 0) from ??= Math.max(0, waited.ms - FIRST_LOOK_MS)
      if (ok) await this.#until(isHere, others > 0 ? RETURN_BEFORE_OTHERS_MS : CONNECT_WITHIN_MS)
      if (isHere() || (!ok && others > 0 && leftBeforeOthers() === 0)) return
    }
  }

  /** Whether the runner's key has ended. */
  isBarred(runner: string): boolean {
    return this.#deps.record.value.barred === runner
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
}

async function containerStarted(start: () => Promise<void>): Promise<boolean> {
  try {
    await start()
    return true
  } catch (error) {
    log.error('runner.container_not_started', errorFields(error))
    return false
  }
}
