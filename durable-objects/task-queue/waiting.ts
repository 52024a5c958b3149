// Selects the next task. Interactive tasks come before batches, batches before scheduled ones. Within one of the three, a
// place goes to the owner with the fewest running tasks, and among equals to the one whose last turn is longest ago. Every
// eighth place goes to the oldest waiting task, so that none waits for ever. One owner's tasks keep their order.

import { type Task, TaskPriority } from '../../src/analysis/task.ts'
import { must } from '../../src/lib/assert.ts'
import { firstRow, rows } from '../sql.ts'
import type { TaskRow } from './schema.ts'
import { toTask } from './task-rows.ts'

/** A task that waits for a runner. */
export type Runnable = { task: Task; attempts: number; idleAttempts: number }

type Candidate = { seq: number; runnable_at: number }

const PRIORITIES = TaskPriority.options.map((_, place) => place)
const LONGEST_WAIT_EVERY = 8

// Jumps from owner to owner along the index instead of reading every waiting task.
const OWNERS = `WITH RECURSIVE waiting (owner) AS (
  SELECT MIN(owner) FROM tasks WHERE priority = ?1 AND runnable_at IS NOT NULL
  UNION ALL
  SELECT (SELECT MIN(owner) FROM tasks WHERE priority = ?1 AND runnable_at IS NOT NULL AND owner > waiting.owner)
  FROM waiting WHERE waiting.owner IS NOT NULL
), places (owner, held) AS (
  SELECT owner, (SELECT COUNT(*) FROM leases WHERE leases.owner = waiting.owner) FROM waiting WHERE owner IS NOT NULL
)`

export class Waiting {
  readonly #sql: SqlStorage
  readonly #maxPerOwner: number

  constructor(sql: SqlStorage, maxPerOwner: number) {
    this.#sql = sql
    this.#maxPerOwner = maxPerOwner
  }

  /** The task whose turn it is, or null when none may be handed out. */
  next(now: number): Runnable | null {
    const isLongest = (this.#lastTurn() + 1) % LONGEST_WAIT_EVERY === 0
    let chosen: Candidate | null = null
    for (const priority of PRIORITIES) {
      const candidate = this.#candidate(priority, now)
      if (candidate === null) continue
      if (chosen === null || candidate.runnable_at < chosen.runnable_at) chosen = candidate
      if (!isLongest) break
    }
    if (chosen === null) return null
    const row = must(firstRow<TaskRow>(this.#sql, 'SELECT * FROM tasks WHERE seq = ?', chosen.seq), 'a waiting task')
    return { task: toTask(row), attempts: row.attempts, idleAttempts: row.idle_attempts }
  }

  /**
   * The earliest time at which a task may be handed out, epoch ms; null when no waiting task's owner has a free place.
   */
  nextAt(): number | null {
    const times = PRIORITIES.flatMap((priority) => {
      const query = `${OWNERS} SELECT MIN((SELECT runnable_at FROM tasks
          WHERE priority = ?1 AND runnable_at IS NOT NULL AND owner = places.owner ORDER BY runnable_at LIMIT 1)) AS at
        FROM places WHERE held < ?2`
      return firstRow<{ at: number | null }>(this.#sql, query, priority, this.#maxPerOwner)?.at ?? []
    })
    return times.length === 0 ? null : Math.min(...times)
  }

  /** The owner has had a turn. */
  served(owner: string): void {
    const query = 'INSERT INTO turns (owner, turn) VALUES (?1, ?2) ON CONFLICT (owner) DO UPDATE SET turn = ?2'
    this.#sql.exec(query, owner, this.#lastTurn() + 1)
  }

  /** Forgets the turns of owners without open tasks; the newest turn stays, because the counter continues from it. */
  prune(): void {
    this.#sql.exec(
      `DELETE FROM turns WHERE turn < (SELECT MAX(turn) FROM turns) AND NOT EXISTS (
         SELECT 1 FROM tasks WHERE tasks.owner = turns.owner AND status IN ('pending', 'processing', 'cancel_requested'))`,
    )
  }

  #candidate(priority: number, now: number): Candidate | null {
    const query = `${OWNERS} SELECT tasks.seq, tasks.runnable_at FROM places
      LEFT JOIN turns ON turns.owner = places.owner
      JOIN tasks ON tasks.seq = (SELECT seq FROM tasks
        WHERE priority = ?1 AND runnable_at IS NOT NULL AND owner = places.owner AND runnable_at <= ?2
        ORDER BY runnable_at, seq LIMIT 1)
      WHERE held < ?3 ORDER BY held, COALESCE(turns.turn, 0), tasks.runnable_at, tasks.seq LIMIT 1`
    return rows<Candidate>(this.#sql, query, priority, now, this.#maxPerOwner)[0] ?? null
  }

  #lastTurn(): number {
    return firstRow<{ turn: number | null }>(this.#sql, 'SELECT MAX(turn) AS turn FROM turns')?.turn ?? 0
  }
}
