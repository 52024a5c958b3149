// Finds a runner for a conversation in its owner's pool: the one that it had before, or another one that is free. Then it waits until
// that runner has connected.

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

/** A runner that was told to connects within this time. */
const CONNECT_WITHIN_MS = 15_000
/** How long a call waits for its runner to come back, and how long when another one could take the conversation. */
const RETURN_WITHIN_MS = 60_000
const RETURN_BEFORE_OTHERS_MS = 7_000
/** A runner that was told to connect and does not is passed over after so long, where another one is free. */
const SILENT_BEFORE_OTHERS_MS = 2_000
/** How long a command waits for a runner that was there: after a restart of the service all of them come back. */
const AGAIN_WITHIN_MS = 10_000
const ASK_EVERY_MS = 500
/** So long a broken connection may take to be back by itself. */
const FIRST_LOOK_MS = 2 * ASK_EVERY_MS
/** The pool asks runners on its way, each for seconds. It is asked again afterwards; nothing waits for it for ever. */
const POOL_WITHIN_MS = 31_000

/** The pool's answer, or that there was none. */
type Answer = RunnerAnswer | { ok: false; reason: 'unasked'; others: 0; isReturning: true }

type Deps = {
  ctx: DurableObjectState
  env: Env
  whose: { owner: string; id: string }
  wish: () => RuntimeWish
  record: StoredRecord<RunnerRecord>
  /** Whether a runner is connected and has said hello. */
  isUp(): boolean
  /** The runner was told to come with the ticket of this hash, or is told so. */
  gave(runner: string, ticketHash: string): void
}

export class RunnerFinder {
  readonly #deps: Deps
  /** Each is called when a runner comes or goes. */
  readonly #watchers = new Set<() => void>()
  readonly #madeAt = Date.now()
  /** The one that did not come in time: asked last. */
  #passedOver: string | null = null
  /** The pool is asked for a runner. Null when it is not. */
  #asking: Promise<Answer> | null = null
  /** Answers of before give nobody a runner. */
  #drops = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The pool's answer, if it is asked, is there. */
  async asked(): Promise<void> {
    await this.#asking
  }

  /** The runner was let go. */
  dropped(): void {
    this.#drops += 1
    this.linkChanged()
  }

  /** A runner has come or is gone. */
  linkChanged(): void {
    for (const watcher of this.#watchers) watcher()
  }

  /** The one that was told to come has, or its time is over. */
  connects(): Promise<void> {
    return this.#until(() => this.#deps.isUp(), CONNECT_WITHIN_MS)
  }

  /** A runner. For one that may come back some time is given: the conversation had it, or has to have one and the pool did. */
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

  /** A container that works stays awake; the command does not wait for it to hear that. */
  keepAwake(): void {
    const { ctx, env, whose, record } = this.#deps
    if (!this.#deps.isUp() || !record.value.runner?.labels.includes(CONTAINER_LABEL)) return
    const renew = ownContainer(env, whose)
    if (renew !== null) ctx.waitUntil(containerStarted(renew))
  }

  /** After a restart of the service its runner is back in seconds; later it is only a connection that broke, or it is gone. */
  mayReturn(): Promise<void> {
    if (this.#deps.record.value.ticketHash === null) return Promise.resolve()
    const isNew = Date.now() - this.#madeAt < 2 * AGAIN_WITHIN_MS
    return this.#until(() => this.#deps.isUp(), isNew ? AGAIN_WITHIN_MS : 2 * ASK_EVERY_MS)
  }

  /** Asks the owner's pool and waits until the runner has said hello; why not otherwise. */
  async #get(): Promise<{ missing: Missing | null; isReturning: boolean; others: number }> {
    const answer = await this.#ask(null, SILENT_BEFORE_OTHERS_MS)
    const { others } = answer
    if (!answer.ok) return { missing: answer.reason, isReturning: answer.isReturning, others }
    await this.#until(() => this.#deps.isUp(), others > 0 ? SILENT_BEFORE_OTHERS_MS : CONNECT_WITHIN_MS)
    this.#passedOver = this.#deps.isUp() ? null : answer.runner.id
    return { missing: this.#deps.isUp() ? null : 'silent', isReturning: false, others }
  }

  /** `only`: a certain runner or none. `patienceMs`: for the answer of one, where another is free. */
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

  /** The pool's answer, which is stored by the time that it is known. */
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
   * Whether the same runner is connected again, within the time that a call waits for it. One that was started anew knows no ticket,
   * so it is asked to come. Where another one could take the conversation the wait is shorter, and begins when that one is there:
   * after a restart of the service none of them is, and each needs its time. It begins again with each answer of the runner's: it
   * lives, and is on its way.
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

  /** Its key has ended. */
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
