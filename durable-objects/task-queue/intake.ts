// A submission is accepted as a whole or not at all. One transaction stores it together with the lock of a market
// review and the answer for repeated submissions.

import type { Task, TaskRequest } from '../../src/analysis/task.ts'
import { must } from '../../src/lib/assert.ts'
import type { Allowance, Full } from './allowance.ts'
import type { Keyed, KeyedRequests, OtherRequest, SubmittedStocks } from './keyed-requests.ts'
import type { Locks } from './locks.ts'
import type { Submissions } from './submissions.ts'
import type { Submitted, Tasks } from './tasks.ts'

export type SubmitAnswer = { ok: true; results: SubmittedStocks } | Full | OtherRequest

export type ReviewAnswer =
  | { ok: true; taskId: string }
  | Full
  | OtherRequest
  /**
   * Only one market review runs at a time. `taskId` is the running one; null when it belongs to another owner, or when
   * it is another owner's turn.
   */
  | { ok: false; reason: 'locked'; taskId: string | null; retryAfterMs: number }

export type Submission = {
  owner: string
  requests: readonly TaskRequest[]
  /** Identifies repeated submissions of a schedule; null if there cannot be any. */
  key: string | null
  /** Identifies repeated requests of a client that sends a key; null or absent otherwise. */
  keyed?: Keyed | null
}

/** A synchronous analysis of one stock; `keyed` as above. */
export type DirectRun = { id: string; stockCode: string; until: number; keyed: Keyed | null }

export type DirectAnswer =
  | { ok: true }
  | Full
  | OtherRequest
  /** The key has begun that run before; `isRunning` is false once it has ended, in any way. */
  | { ok: false; reason: 'repeated'; id: string; isRunning: boolean }

type Deps = {
  storage: DurableObjectStorage
  tasks: Tasks
  locks: Locks
  allowance: Allowance
  submissions: Submissions
  keyedRequests: KeyedRequests
}

type Reviewed = { answer: ReviewAnswer; created: Task[] }

const REVIEW_LOCK = 'market_review'
/** When a client that waits for the lock should come back, and how long its place is kept. */
const COME_BACK_MS = 30_000
const PLACE_KEPT_MS = 45_000
/** Schedules come back with the next cron trigger. */
const SCHEDULE_PLACE_KEPT_MS = 420_000

export class Intake {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The answer, and the new tasks. */
  submit(submission: Submission, now: number): { answer: SubmitAnswer; created: Task[] } {
    return this.#deps.storage.transactionSync(() => {
      const repeated = this.#repeated(submission, now)
      return repeated === null ? this.#take(submission, now) : { answer: repeated, created: [] }
    })
  }

  /** Like `submit`, for a market review, with the lock that it needs. */
  submitReview({ request, ...review }: Omit<Submission, 'requests'> & { request: TaskRequest }, now: number): Reviewed {
    const { storage, tasks, locks } = this.#deps
    const { owner, key } = review
    return storage.transactionSync((): Reviewed => {
      const submission = { ...review, requests: [request] }
      const repeated = this.#repeated(submission, now)
      if (repeated?.ok === false) return { answer: repeated, created: [] }
      const [before] = repeated?.results ?? []
      if (before !== undefined) return { answer: { ok: true, taskId: before.taskId }, created: [] }
      const holder = locks.holder(REVIEW_LOCK, now)
      const own = holder === null ? null : tasks.get(owner, holder)
      if (holder !== null || locks.isAnothersTurn(REVIEW_LOCK, owner, now)) {
        // The holder of the lock does not wait for it.
        const goodForMs = key === null ? PLACE_KEPT_MS : SCHEDULE_PLACE_KEPT_MS
        if (own === null) locks.wait(REVIEW_LOCK, owner, now + goodForMs)
        const taskId = own?.id ?? null
        return { answer: { ok: false, reason: 'locked', taskId, retryAfterMs: COME_BACK_MS }, created: [] }
      }
      const { answer, created } = this.#take(submission, now)
      if (!answer.ok) return { answer, created }
      const task = must(created[0], 'a review that was taken')
      locks.take(REVIEW_LOCK, task.id, now)
      locks.hadTurn(REVIEW_LOCK, owner, now)
      return { answer: { ok: true, taskId: task.id }, created }
    })
  }

  beginDirect(owner: string, { id, stockCode, until, keyed }: DirectRun, now: number): DirectAnswer {
    const { storage, allowance, keyedRequests } = this.#deps
    return storage.transactionSync((): DirectAnswer => {
      const asked = keyed === null ? null : keyedRequests.find(owner, keyed, now)
      if (asked?.ok === false) return asked
      const [before] = asked?.begun ?? []
      if (before !== undefined) {
        return { ok: false, reason: 'repeated', id: before.taskId, isRunning: allowance.isRunning(before.taskId, now) }
      }
      const full = allowance.beginDirect(owner, { id, until }, now)
      if (full !== null) return full
      const begun = [{ accepted: true, stockCode, taskId: id }]
      if (keyed !== null) keyedRequests.remember(owner, keyed, { begun, at: now })
      return { ok: true }
    })
  }

  #take(submission: Submission, now: number): { answer: SubmitAnswer; created: Task[] } {
    const { owner, requests, key, keyed = null } = submission
    const { tasks, submissions, keyedRequests } = this.#deps
    const answer = tasks.submit(owner, requests, now)
    if (!answer.ok) return { answer, created: [] }
    const results = answer.results.map(begun)
    if (key !== null) submissions.remember(owner, { key, answer: results, at: now })
    if (keyed !== null) keyedRequests.remember(owner, keyed, { begun: results, at: now })
    const created = answer.results.flatMap((result) => (result.accepted ? [result.task] : []))
    return { answer: { ok: true, results }, created }
  }

  #repeated({ owner, key, keyed = null }: Submission, now: number): Exclude<SubmitAnswer, Full> | null {
    const { submissions, keyedRequests } = this.#deps
    const asked = keyed === null ? null : keyedRequests.find(owner, keyed, now)
    if (asked !== null) return asked.ok ? { ok: true, results: asked.begun } : asked
    const before = key === null ? null : submissions.find(owner, key)
    return before && { ok: true, results: before }
  }
}

const begun = (result: Submitted): SubmittedStocks[number] =>
  result.accepted
    ? { accepted: true, stockCode: result.task.request.stockCode, taskId: result.task.id }
    : { accepted: false, stockCode: result.stockCode, taskId: result.taskId }
