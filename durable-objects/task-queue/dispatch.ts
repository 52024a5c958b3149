// Decides who runs when: hands waiting tasks to runners up to the limit, believes runners as long as their lease lasts,
// and sees to it that every task ends. A run that is lost goes out again; one that never gets further than the runs
// before it is given up; one that takes too long is stopped at the stage it is in.

import type { Finish, Progress, RunOrder, Task, TaskState } from '../../src/analysis/task.ts'
import { isOpen } from '../../src/analysis/task.ts'
import { taskMessages } from '../../src/analysis/task-messages.ts'
import { log } from '../../src/lib/log.ts'
import type { FlowEvents } from './flow-events.ts'
import { type Lease, type Leases, RENEW_EVERY_MS } from './leases.ts'
import type { TaskEvent } from './subscribers.ts'
import type { Runnable, Tasks } from './tasks.ts'

export type Limits = { maxRunning: number; maxAttempts: number; taskTimeoutMs: number }

export type ReportAnswer = { ok: true } | { ok: false; reason: 'lease_lost' }
export type FinishAnswer = { ok: true; status: TaskState } | { ok: false; reason: 'lease_lost' | 'unknown_task' }

type Ports = {
  tasks: Tasks
  leases: Leases
  flowEvents: FlowEvents
  limits: Limits
  queueId: string
  publish: (event: TaskEvent, task: Task, flowEvent?: string) => void
  /** Sends the order on its way and returns at once. */
  handOut: (order: RunOrder) => void
}

// A runner stops by itself when its time is over. The queue waits this much longer before it takes the matter in hand.
const DEADLINE_GRACE_MS = 3_000
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000

export class Dispatch {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Hands out what waits, as far as the limit allows. */
  fill(now: number): void {
    const { tasks, leases, limits } = this.#ports
    for (let free = limits.maxRunning - leases.count; free > 0; free--) {
      const next = tasks.nextRunnable(now)
      if (next === null) return
      this.#start(next, now)
    }
  }

  /** Takes back what dead runners hold and stops what takes too long, then fills the places that became free. */
  sweep(now: number): void {
    const { leases } = this.#ports
    for (const lease of leases.lapsed(now)) this.#lose(lease, now)
    for (const lease of leases.overdue(now)) this.#stop(lease, now)
    this.fill(now)
  }

  /** A runner tells how far it is; the answer tells it whether the task is still its own. */
  report({ taskId, token, stage, flowEvents, ...step }: Progress, now: number): ReportAnswer {
    const { tasks, leases, publish } = this.#ports
    if (!leases.holds(taskId, token)) return { ok: false, reason: 'lease_lost' }
    leases.renew(taskId, stage, now)
    this.#ports.flowEvents.append(taskId, flowEvents)
    const changed = tasks.advance(taskId, step)
    const task = changed ?? (flowEvents.length > 0 ? tasks.find(taskId) : null)
    if (task === null) return { ok: true }
    if (flowEvents.length === 0) publish('task_progress', task)
    for (const flowEvent of flowEvents) publish('task_progress', task, flowEvent)
    return { ok: true }
  }

  /**
   * Ends the task, once. A result is welcome from any of its runs, for it is stored under the task's id and is the same
   * whoever made it; a failure only from the run that holds the lease.
   */
  finish({ taskId, token, outcome }: Finish, now: number): FinishAnswer {
    const { tasks, leases, publish } = this.#ports
    const task = tasks.find(taskId)
    if (task === null) return { ok: false, reason: 'unknown_task' }
    if (!isOpen(task.status)) return { ok: true, status: task.status }
    if (!outcome.ok && !leases.holds(taskId, token)) return { ok: false, reason: 'lease_lost' }
    leases.end(taskId)
    if (outcome.ok) publish('task_completed', tasks.complete(taskId, outcome.stockName, now))
    else publish('task_failed', tasks.fail(taskId, outcome.error, now))
    this.fill(now)
    return { ok: true, status: outcome.ok ? 'completed' : 'failed' }
  }

  /** The call to a runner has ended. If the task is still in its hands, nobody works on it any more. */
  runEnded({ taskId, token }: Pick<RunOrder, 'taskId' | 'token'>, now: number): void {
    if (!this.#ports.leases.holds(taskId, token)) return
    this.#lose({ taskId, token, stage: '' }, now)
    this.fill(now)
  }

  /** When `sweep` will have something to do, epoch ms; null when only a call can change that. */
  nextWakeAt(): number | null {
    const { tasks, leases, limits } = this.#ports
    const times = [leases.nextCheckAt(), leases.count < limits.maxRunning ? tasks.nextRunnableAt() : null]
    const known = times.filter((time) => time !== null)
    return known.length === 0 ? null : Math.min(...known)
  }

  #start(runnable: Runnable, now: number): void {
    const { tasks, leases, limits, publish, handOut, queueId } = this.#ports
    const isFirst = runnable.attempts === 0
    const task = tasks.start(runnable, now)
    const { token } = leases.grant(task.id, { now, runMs: limits.taskTimeoutMs + DEADLINE_GRACE_MS })
    publish(isFirst ? 'task_started' : 'task_progress', task)
    handOut({
      queueId,
      taskId: task.id,
      owner: task.owner,
      token,
      attempt: runnable.attempts + 1,
      request: task.request,
      timeoutMs: limits.taskTimeoutMs,
      renewEveryMs: RENEW_EVERY_MS,
    })
  }

  #lose({ taskId }: Lease, now: number): void {
    const { tasks, leases, limits, publish } = this.#ports
    leases.end(taskId)
    const task = tasks.find(taskId)
    if (task === null || !isOpen(task.status)) return
    const { attempts, idleAttempts } = tasks.attemptsOf(taskId)
    log.warn('task.run_lost', { taskId, attempts, idleAttempts })
    if (idleAttempts >= limits.maxAttempts) {
      publish('task_failed', tasks.fail(taskId, taskMessages(task.request.language).lost(idleAttempts), now))
    } else tasks.putBack(taskId, now + backOffMs(idleAttempts))
  }

  #stop({ taskId, stage }: Lease, now: number): void {
    const { tasks, leases, limits, publish } = this.#ports
    leases.end(taskId)
    const task = tasks.find(taskId)
    if (task === null || !isOpen(task.status)) return
    const seconds = Math.round(limits.taskTimeoutMs / 1000)
    log.warn('task.overdue', { taskId, stage })
    publish('task_failed', tasks.fail(taskId, taskMessages(task.request.language).timedOut(stage, seconds), now))
  }
}

function backOffMs(idleAttempts: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, idleAttempts - 1))
}
