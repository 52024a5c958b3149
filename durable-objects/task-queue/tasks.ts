// The tasks and every change of one. Nothing here knows runners, sockets or time: the caller passes what happened and when,
// and gets the changed task, or null when nothing changed.
//
//   pending ──start──► processing ──complete──────────────► completed
//     │                  │   ▲ ├──────fail────────────────► failed
//     │                  └───┘ └─requestCancel─► cancel_requested
//     │   putBack and start again: a run was lost      │
//     └────────cancel──────────────────────────────────┴──► cancelled

import { type Task, TaskPriority, type TaskRequest, taskLabel } from '../../src/analysis/task.ts'
import { textsOf } from '../../src/analysis/texts/book.ts'
import { stageMessage } from '../../src/analysis/texts/format.ts'
import { must } from '../../src/lib/assert.ts'
import { hexId } from '../../src/lib/crypto.ts'
import { firstRow } from '../sql.ts'
import type { Allowance, Full } from './allowance.ts'
import type { TaskRow } from './schema.ts'
import { TaskLists } from './task-lists.ts'
import { OPEN, toTask } from './task-rows.ts'
import type { Runnable } from './waiting.ts'

export type Submitted = { accepted: true; task: Task } | { accepted: false; stockCode: string; taskId: string }

/** All of them, or none. */
export type Inserted = { ok: true; results: Submitted[] } | Full

const MAX_ERROR_LENGTH = 200
const STARTED_PROGRESS = 10
/** The highest progress of an unfinished task; only a completed task has 100. */
const MAX_OPEN_PROGRESS = 99

export class Tasks extends TaskLists {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage
  readonly #allowance: Allowance

  constructor(storage: DurableObjectStorage, allowance: Allowance) {
    super(storage.sql)
    this.#storage = storage
    this.#sql = storage.sql
    this.#allowance = allowance
  }

  /**
   * Queues every request or, if the same one is already open, returns that task. All of them or, when the owner has too
   * many open tasks, none.
   */
  submit(owner: string, requests: readonly TaskRequest[], now: number): Inserted {
    return this.#storage.transactionSync(() => {
      const results: Submitted[] = requests.map((request) => {
        const taskId = this.#openUnder(owner, request.key)
        if (taskId !== null) return { accepted: false, stockCode: request.stockCode, taskId }
        return { accepted: true, task: this.#insert(owner, request, now) }
      })
      const inserted = results.flatMap((result) => (result.accepted ? [result.task.id] : []))
      if (inserted.length === 0) return { ok: true, results }
      // The new tasks are already stored; the refusal reports the usage without them.
      const full = this.#allowance.refusal(owner, { of: inserted.length, isIn: true }, now)
      if (full === null) {
        this.#allowance.count(owner, inserted.length, now)
        return { ok: true, results }
      }
      for (const id of inserted) this.#sql.exec('DELETE FROM tasks WHERE id = ?', id)
      return full
    })
  }

  /** The owner's task; null for a task of another owner, and for an unknown one. */
  get(owner: string, id: string): Task | null {
    const row = firstRow<TaskRow>(this.#sql, 'SELECT * FROM tasks WHERE id = ? AND owner = ?', id, owner)
    return row && toTask(row)
  }

  find(id: string): Task | null {
    const row = firstRow<TaskRow>(this.#sql, 'SELECT * FROM tasks WHERE id = ?', id)
    return row && toTask(row)
  }

  /** A runner gets the task, for the first time or again. */
  start({ task, attempts }: Runnable, now: number): Task {
    const { request } = task
    const { language } = request
    const name = taskLabel(task)
    this.#sql.exec(
      `UPDATE tasks SET status = 'processing', message = ?, progress = MAX(progress, ?), started_at = COALESCE(started_at, ?),
         runnable_at = NULL, attempts = attempts + 1, idle_attempts = idle_attempts + 1 WHERE id = ?`,
      attempts === 0 ? stageMessage('started', { name, language }) : textsOf(language).task.again(name, attempts + 1),
      STARTED_PROGRESS,
      now,
      task.id,
    )
    return this.#must(task.id)
  }

  /** Notes how far a run got. Progress never falls; getting further than ever before clears the count of fruitless attempts. */
  advance(id: string, step: { progress: number; message: string; stockName: string | null }): Task | null {
    const before = this.#must(id)
    const progress = Math.min(MAX_OPEN_PROGRESS, Math.max(before.progress, Math.floor(step.progress)))
    const stockName = step.stockName ?? before.stockName
    if (progress === before.progress && step.message === before.message && stockName === before.stockName) return null
    this.#sql.exec(
      `UPDATE tasks SET progress = ?, message = ?, stock_name = ?,
         idle_attempts = CASE WHEN ? > progress THEN 0 ELSE idle_attempts END WHERE id = ?`,
      progress,
      step.message,
      stockName,
      progress,
      id,
    )
    return this.#must(id)
  }

  attemptsOf(id: string): { attempts: number; idleAttempts: number } {
    const query = 'SELECT attempts, idle_attempts AS idleAttempts FROM tasks WHERE id = ?'
    return must(firstRow<{ attempts: number; idleAttempts: number }>(this.#sql, query, id), `task ${id}`)
  }

  /** The run was lost: the task may be given out again from `at` on. Its status does not change. */
  putBack(id: string, at: number): void {
    this.#sql.exec('UPDATE tasks SET runnable_at = ? WHERE id = ?', at, id)
  }

  complete(id: string, stockName: string | null, now: number): Task {
    const before = this.#must(id)
    const name = stockName ?? before.stockName
    const { language } = before.request
    const message = stageMessage('done', { name: taskLabel({ ...before, stockName: name }), language })
    this.#sql.exec(
      `UPDATE tasks SET status = 'completed', progress = 100, message = ?, stock_name = ?, completed_at = ?,
         runnable_at = NULL WHERE id = ?`,
      message,
      name,
      now,
      id,
    )
    return this.#must(id)
  }

  fail(id: string, error: string, now: number): Task {
    const before = this.#must(id)
    this.#sql.exec(
      `UPDATE tasks SET status = 'failed', message = ?, error = ?, completed_at = ?, runnable_at = NULL WHERE id = ?`,
      textsOf(before.request.language).task.failed(taskLabel(before)),
      shortened(error),
      now,
      id,
    )
    return this.#must(id)
  }

  /** The report exists and waits for the database; no runner has the task any more. */
  awaitStorage(id: string, { progress, stockName }: { progress: number; stockName: string | null }): Task {
    const before = this.#must(id)
    const named = { ...before, stockName: stockName ?? before.stockName }
    const message = textsOf(before.request.language).task.waitsForStorage(taskLabel(named))
    this.#sql.exec(
      'UPDATE tasks SET message = ?, stock_name = ?, progress = MAX(progress, ?), runnable_at = NULL WHERE id = ?',
      message,
      named.stockName,
      progress,
      id,
    )
    return this.#must(id)
  }

  /** Its runner must be told; until then the task is not over. */
  requestCancel(id: string): Task {
    const before = this.#must(id)
    const message = textsOf(before.request.language).task.cancelRequested(taskLabel(before))
    this.#sql.exec("UPDATE tasks SET status = 'cancel_requested', message = ? WHERE id = ?", message, id)
    return this.#must(id)
  }

  cancel(id: string, now: number): Task {
    const before = this.#must(id)
    const message = textsOf(before.request.language).task.cancelled(taskLabel(before))
    this.#sql.exec(
      "UPDATE tasks SET status = 'cancelled', message = ?, completed_at = ?, runnable_at = NULL WHERE id = ?",
      message,
      now,
      id,
    )
    return this.#must(id)
  }

  get isEmpty(): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM tasks LIMIT 1') === null
  }

  #openUnder(owner: string, key: string | null): string | null {
    if (key === null) return null
    const query = `SELECT id FROM tasks WHERE owner = ? AND key = ? AND status IN ${OPEN}`
    return firstRow<{ id: string }>(this.#sql, query, owner, key)?.id ?? null
  }

  #insert(owner: string, request: TaskRequest, now: number): Task {
    const id = hexId()
    const name = taskLabel({ request, stockName: request.stockName })
    this.#sql.exec(
      `INSERT INTO tasks (id, owner, key, request, status, message, stock_name, created_at, runnable_at, priority, batch)
       VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)`,
      id,
      owner,
      request.key,
      JSON.stringify(request),
      stageMessage('queued', { name, language: request.language }),
      request.stockName,
      now,
      now,
      TaskPriority.options.indexOf(request.priority),
      request.batch,
    )
    return this.#must(id)
  }

  #must(id: string): Task {
    return must(this.find(id), `task ${id}`)
  }
}

const shortened = (error: string): string =>
  error.length <= MAX_ERROR_LENGTH ? error : `${error.slice(0, MAX_ERROR_LENGTH - 1)}…`
