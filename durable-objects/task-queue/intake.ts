// A submission is accepted as a whole or not at all, in one transaction with the lock that a market review needs and with
// the stored answer for repeated submissions.

import type { TaskRequest } from '../../src/analysis/request.ts'
import type { Task } from '../../src/analysis/task.ts'
import { must } from '../../src/lib/assert.ts'
import type { Full } from './allowance.ts'
import type { Locks } from './locks.ts'
import type { RememberedAnswer, Submissions } from './submissions.ts'
import type { Inserted, Submitted, Tasks } from './tasks.ts'

export type SubmitAnswer = Inserted

export type ReviewAnswer =
  | { ok: true; task: Task }
  | Full
  /**
   * Only one market review runs at a time; `taskId` is the running one, null when it is another owner's, or another owner's
   * turn.
   */
  | { ok: false; reason: 'locked'; taskId: string | null; retryAfterMs: number }

export type Submission = {
  owner: string
  requests: readonly TaskRequest[]
  /** Identifies repeated submissions; null when there can be none. */
  key: string | null
}

type Deps = { storage: DurableObjectStorage; tasks: Tasks; locks: Locks; submissions: Submissions }

type Reviewed = { answer: ReviewAnswer; created: Task[] }

const REVIEW_LOCK = 'market_review'
/** When a client that waits for the lock is told to come back, and how long its place is kept. */
const COME_BACK_MS = 30_000
const PLACE_KEPT_MS = 45_000
/** Schedules come back with the next call of the cron trigger. */
const SCHEDULE_PLACE_KEPT_MS = 420_000

export class Intake {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The answer, and the new tasks. */
  submit(submission: Submission, now: number): { answer: SubmitAnswer; created: Task[] } {
    return this.#deps.storage.transactionSync(() => {
      const repeated = this.#repeated(submission)
      return repeated === null ? this.#take(submission, now) : { answer: { ok: true, results: repeated }, created: [] }
    })
  }

  /** The same for a market review, with the lock that it needs. */
  submitReview(review: { owner: string; request: TaskRequest; key: string | null }, now: number): Reviewed {
    const { storage, tasks, locks } = this.#deps
    const { owner, request, key } = review
    return storage.transactionSync((): Reviewed => {
      const submission = { owner, requests: [request], key }
      const [before] = this.#repeated(submission) ?? []
      if (before?.accepted) return { answer: { ok: true, task: before.task }, created: [] }
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
      return { answer: { ok: true, task }, created }
    })
  }

  #take({ owner, requests, key }: Submission, now: number): { answer: SubmitAnswer; created: Task[] } {
    const { tasks, submissions } = this.#deps
    const answer = tasks.submit(owner, requests, now)
    if (!answer.ok) return { answer, created: [] }
    if (key !== null) submissions.remember(owner, { key, answer: answer.results.map(remembered), at: now })
    return { answer, created: answer.results.flatMap((result) => (result.accepted ? [result.task] : [])) }
  }

  #repeated({ owner, key }: Submission): Submitted[] | null {
    const { tasks, submissions } = this.#deps
    const before = key === null ? null : submissions.find(owner, key)
    return (
      before?.flatMap(({ accepted, stockCode, taskId }): Submitted[] => {
        if (!accepted) return [{ accepted, stockCode, taskId }]
        const task = tasks.get(owner, taskId)
        return task === null ? [] : [{ accepted, task }]
      }) ?? null
    )
  }
}

const remembered = (result: Submitted): RememberedAnswer[number] =>
  result.accepted
    ? { accepted: true, stockCode: result.task.request.stockCode, taskId: result.task.id }
    : { accepted: false, stockCode: result.stockCode, taskId: result.taskId }
