// Decides which task runs when: gives waiting tasks to runners up to the limit, relies on a runner as long as its lease
// lasts, and makes sure that every task ends. A lost run is repeated. A task whose runs make no progress is given up.
// One that takes too long is stopped, and the error names its stage. The runner of a cancelled task learns this from
// the answer to its next report.

import { STAGE_PROGRESS } from '../../src/analysis/codes.ts'
import {
  type Finish,
  isOpen,
  type Outcome,
  type Progress,
  type RunOrder,
  type Task,
  type TaskState,
} from '../../src/analysis/task.ts'
import { textsOf } from '../../src/analysis/texts/book.ts'
import { must } from '../../src/lib/assert.ts'
import { log } from '../../src/lib/log.ts'
import type { FlowEvents } from './flow-events.ts'
import { type Lease, type Leases, type Overdue, RENEW_EVERY_MS } from './leases.ts'
import type { Locks } from './locks.ts'
import type { Notices } from './notices.ts'
import type { TaskEvent } from './subscribers.ts'
import type { Tasks } from './tasks.ts'
import type { UnsavedReports } from './unsaved-reports.ts'
import type { Runnable, Waiting } from './waiting.ts'

export type Limits = { maxRunning: number; maxAttempts: number; taskTimeoutMs: number; stageTimeoutMs: number }

export type ReportAnswer = { ok: true } | { ok: false; reason: 'lease_lost' | 'cancel_requested' }
/**
 * After a result, a status other than `completed` means that the report is not wanted any more, or waits to be stored.
 */
export type FinishAnswer = { ok: true; status: TaskState } | { ok: false; reason: 'lease_lost' | 'unknown_task' }
export type CancelAnswer =
  | { ok: true; task: Task }
  | { ok: false; reason: 'unknown_task' }
  | { ok: false; reason: 'finished'; status: TaskState }

type Deps = {
  tasks: Tasks
  waiting: Waiting
  leases: Leases
  locks: Locks
  keptReports: UnsavedReports
  notices: Notices
  flowEvents: FlowEvents
  limits: Limits
  queueId: string
  publish: (event: TaskEvent, task: Task, flowEvent?: string) => void
  /** Called in the write that ends a task. */
  ended: (task: Task) => void
  /** Starts the call to a runner and returns at once. */
  handOut: (order: RunOrder) => void
}

// A runner stops by itself at its deadline. The queue waits this much longer before it ends the task.
const DEADLINE_GRACE_MS = 3_000
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000

export class Dispatch {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Gives out waiting tasks, up to the limit. */
  fill(now: number): void {
    const { waiting, leases, limits } = this.#deps
    for (let free = limits.maxRunning - leases.count; free > 0; free--) {
      const next = waiting.next(now)
      if (next === null) return
      this.#start(next, now)
    }
  }

  /** Takes tasks back from dead runners, stops tasks that take too long, and fills the free places. */
  sweep(now: number): void {
    const { leases } = this.#deps
    for (const lease of leases.lapsed(now)) this.#lose(lease, now)
    for (const lease of leases.overdue(now)) this.#stop(lease, now)
    this.fill(now)
  }

  /**
   * A runner's progress report; the answer says whether the runner still holds the task, and whether the task is still
   * wanted.
   */
  report({ taskId, token, stage, flowEvents, ...step }: Progress, now: number): ReportAnswer {
    const { tasks, leases, locks, limits, publish } = this.#deps
    if (!leases.holds(taskId, token)) return { ok: false, reason: 'lease_lost' }
    leases.renew(taskId, stage, now)
    locks.renew(taskId, now)
    if (tasks.find(taskId)?.status === 'cancel_requested') return { ok: false, reason: 'cancel_requested' }
    this.#deps.flowEvents.append(taskId, flowEvents)
    const changed = tasks.advance(taskId, step)
    if (changed !== null) leases.extendStage(taskId, now + limits.stageTimeoutMs + DEADLINE_GRACE_MS)
    const task = changed ?? (flowEvents.length > 0 ? tasks.find(taskId) : null)
    if (task === null) return { ok: true }
    if (flowEvents.length === 0) publish('task_progress', task)
    for (const flowEvent of flowEvents) publish('task_progress', task, flowEvent)
    return { ok: true }
  }

  /**
   * Ends the task, once. A result is accepted from any of its runs, because it is stored under the task's id and is the same
   * for all; anything else only from the run that holds the lease. A task that is being cancelled ends as cancelled, after
   * its runner has deleted what it stored.
   */
  finish({ taskId, token, outcome }: Finish, now: number): FinishAnswer {
    const { tasks, leases } = this.#deps
    const task = tasks.find(taskId)
    if (task === null) return { ok: false, reason: 'unknown_task' }
    if (!isOpen(task.status)) return { ok: true, status: task.status }
    const isOwn = leases.holds(taskId, token)
    if (outcome.ok && task.status === 'cancel_requested') {
      if (outcome.unsaved === undefined) return { ok: true, status: task.status }
    } else if (!outcome.ok && !isOwn) return { ok: false, reason: 'lease_lost' }
    leases.end(taskId)
    const status = this.#conclude(task, outcome, now)
    this.fill(now)
    return { ok: true, status }
  }

  /** Ends a task without a runner at once; a runner is told in the answer to its next report. */
  cancel(owner: string, id: string, now: number): CancelAnswer {
    const { tasks, leases, publish } = this.#deps
    const task = tasks.get(owner, id)
    if (task === null) return { ok: false, reason: 'unknown_task' }
    if (!isOpen(task.status)) return { ok: false, reason: 'finished', status: task.status }
    if (task.status === 'cancel_requested') return { ok: true, task }
    if (leases.isHeld(id)) {
      const requested = tasks.requestCancel(id)
      publish('task_progress', requested)
      return { ok: true, task: requested }
    }
    return { ok: true, task: this.#end('task_failed', tasks.cancel(id, now)) }
  }

  /** A report that had to wait is in the database now: another run finds it there and completes the task. */
  reportSaved(taskId: string, now: number): { isWanted: boolean } {
    const { tasks, leases } = this.#deps
    const task = tasks.find(taskId)
    if (task === null || !isOpen(task.status)) return { isWanted: task?.status === 'completed' }
    if (!leases.isHeld(taskId)) tasks.putBack(taskId, now)
    this.fill(now)
    return { isWanted: true }
  }

  /** The call to a runner has ended. If the task is still leased to it, the run was lost. */
  runEnded({ taskId, token }: Pick<RunOrder, 'taskId' | 'token'>, now: number): void {
    if (!this.#deps.leases.holds(taskId, token)) return
    this.#lose({ taskId }, now)
    this.fill(now)
  }

  /** When `sweep` will have something to do, epoch ms; null when only a call can change that. */
  nextWakeAt(): number | null {
    const { waiting, leases, limits } = this.#deps
    const times = [leases.nextCheckAt(), leases.count < limits.maxRunning ? waiting.nextAt() : null]
    const known = times.filter((time) => time !== null)
    return known.length === 0 ? null : Math.min(...known)
  }

  #start(runnable: Runnable, now: number): void {
    const { tasks, waiting, leases, locks, limits, publish, handOut, queueId } = this.#deps
    const isFirst = runnable.attempts === 0
    const task = tasks.start(runnable, now)
    waiting.served(task.owner)
    locks.renew(task.id, now)
    const { token } = leases.grant(task.id, {
      owner: task.owner,
      now,
      runMs: limits.taskTimeoutMs + DEADLINE_GRACE_MS,
      stageMs: limits.stageTimeoutMs + DEADLINE_GRACE_MS,
    })
    publish(isFirst ? 'task_started' : 'task_progress', task)
    handOut({
      queueId,
      taskId: task.id,
      owner: task.owner,
      token,
      attempt: runnable.attempts + 1,
      request: task.request,
      timeoutMs: limits.taskTimeoutMs,
      stageTimeoutMs: limits.stageTimeoutMs,
      renewEveryMs: RENEW_EVERY_MS,
    })
  }

  /** Applies the result of an open task's run. */
  #conclude(task: Task, outcome: Outcome, now: number): TaskState {
    const { tasks, keptReports, publish } = this.#deps
    const { id, request } = task
    if (task.status === 'cancel_requested') return this.#end('task_failed', tasks.cancel(id, now)).status
    if (!outcome.ok) {
      // Nobody requested a stop, so the run was stopped by mistake: it counts as lost.
      if (!('error' in outcome)) return this.#again(id, now).status
      return this.#end('task_failed', tasks.fail(id, outcome.error, now)).status
    }
    const { stockName, unsaved } = outcome
    if (unsaved === undefined) return this.#end('task_completed', tasks.complete(id, stockName, now)).status
    if (!keptReports.keep(id, unsaved)) {
      return this.#end('task_failed', tasks.fail(id, textsOf(request.language).task.notSaved, now)).status
    }
    publish('task_progress', tasks.awaitStorage(id, { progress: STAGE_PROGRESS.saving, stockName }))
    return task.status
  }

  #end(event: TaskEvent, task: Task): Task {
    const { tasks, locks, keptReports, notices, publish } = this.#deps
    locks.release(task.id)
    keptReports.drop(task.id)
    const { batch } = task.request
    notices.taskEnded(task, batch === null ? [] : tasks.batch(task.owner, batch))
    // One of its runs may have stored a report and died before reporting that.
    if (task.status === 'cancelled' && tasks.attemptsOf(task.id).attempts > 0) keptReports.withdraw(task.id)
    publish(event, task)
    this.#deps.ended(task)
    return task
  }

  #lose({ taskId }: Pick<Lease, 'taskId'>, now: number): void {
    const { tasks, leases } = this.#deps
    leases.end(taskId)
    const task = tasks.find(taskId)
    if (task === null || !isOpen(task.status)) return
    if (task.status === 'cancel_requested') this.#end('task_failed', tasks.cancel(taskId, now))
    else this.#again(taskId, now)
  }

  /** Puts the task back into the queue, unless its runs make no progress. */
  #again(taskId: string, now: number): Task {
    const { tasks, limits } = this.#deps
    const { attempts, idleAttempts } = tasks.attemptsOf(taskId)
    const task = must(tasks.find(taskId), `task ${taskId}`)
    log.warn('task.run_lost', { taskId, attempts, idleAttempts })
    if (idleAttempts < limits.maxAttempts) {
      tasks.putBack(taskId, now + backOffMs(idleAttempts))
      return task
    }
    return this.#end('task_failed', tasks.fail(taskId, textsOf(task.request.language).task.lost(idleAttempts), now))
  }

  #stop({ taskId, stage, isStage }: Overdue, now: number): void {
    const { tasks, leases, limits } = this.#deps
    leases.end(taskId)
    const task = tasks.find(taskId)
    if (task === null || !isOpen(task.status)) return
    log.warn('task.overdue', { taskId, stage, isStage })
    if (task.status === 'cancel_requested') return void this.#end('task_failed', tasks.cancel(taskId, now))
    const say = textsOf(task.request.language).task
    const seconds = Math.round((isStage ? limits.stageTimeoutMs : limits.taskTimeoutMs) / 1000)
    const error = isStage ? say.stageTimedOut(stage, seconds) : say.timedOut(stage, seconds)
    this.#end('task_failed', tasks.fail(taskId, error, now))
  }
}

function backOffMs(idleAttempts: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, idleAttempts - 1))
}
