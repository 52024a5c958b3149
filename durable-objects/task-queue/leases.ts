// The leases of runners on tasks. A runner that stops reporting loses its lease, so that another can get the task; one that
// reports for ever reaches its deadline. A row exists exactly as long as a run.

import { hexId } from '../../src/lib/crypto.ts'
import { firstRow, rows } from '../sql.ts'
import type { LeaseRow } from './schema.ts'

export const RENEW_EVERY_MS = 3_000
/** Long enough for a few lost reports, short enough that a dead runner is noticed while the owner still waits. */
export const LEASE_MS = 15_000
/** A live runner reports within this time, unless it could not reach the queue. */
const PROBATION_MS = RENEW_EVERY_MS + 2_000

export type Lease = { taskId: string; token: string; stage: string }

/** Why a live run has to stop. */
export type Overdue = Lease & { isStage: boolean }

type Grant = { owner: string; now: number; runMs: number; stageMs: number }

export class Leases {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  get count(): number {
    return firstRow<{ n: number }>(this.#sql, 'SELECT COUNT(*) AS n FROM leases')?.n ?? 0
  }

  /** Leases a task that nobody holds. */
  grant(taskId: string, { owner, now, runMs, stageMs }: Grant): Lease {
    const lease = { taskId, token: hexId(), stage: 'start' }
    this.#sql.exec(
      'INSERT INTO leases (task_id, token, stage, until, deadline, owner, stage_until) VALUES (?, ?, ?, ?, ?, ?, ?)',
      taskId,
      lease.token,
      lease.stage,
      now + LEASE_MS,
      now + runMs,
      owner,
      now + stageMs,
    )
    return lease
  }

  holds(taskId: string, token: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM leases WHERE task_id = ? AND token = ?', taskId, token) !== null
  }

  renew(taskId: string, stage: string, now: number): void {
    this.#sql.exec('UPDATE leases SET until = ?, stage = ? WHERE task_id = ?', now + LEASE_MS, stage, taskId)
  }

  /** The run made progress: the time limit of its stage begins again. */
  extendStage(taskId: string, until: number): void {
    this.#sql.exec('UPDATE leases SET stage_until = ? WHERE task_id = ?', until, taskId)
  }

  /** Whether a runner has the task. */
  isHeld(taskId: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM leases WHERE task_id = ?', taskId) !== null
  }

  /**
   * For an object that has just started: it does not know which runners are alive. A live one reports soon; the other
   * leases expire early.
   */
  putOnProbation(now: number): void {
    this.#sql.exec('UPDATE leases SET until = MIN(until, ?)', now + PROBATION_MS)
  }

  end(taskId: string): void {
    this.#sql.exec('DELETE FROM leases WHERE task_id = ?', taskId)
  }

  /** Leases that have expired. */
  lapsed(now: number): Lease[] {
    return rows<LeaseRow>(this.#sql, 'SELECT * FROM leases WHERE until <= ? ORDER BY until', now).map(toLease)
  }

  /** Leases whose runner still reports, but has passed the deadline of its task or stage. */
  overdue(now: number): Overdue[] {
    const query = 'SELECT * FROM leases WHERE (deadline <= ?1 OR stage_until <= ?1) AND until > ?1 ORDER BY until'
    return rows<LeaseRow>(this.#sql, query, now).map((row) => ({ ...toLease(row), isStage: row.deadline > now }))
  }

  /** When either of the two above will find something, epoch ms; null without leases. */
  nextCheckAt(): number | null {
    const query = 'SELECT MIN(MIN(until, deadline, stage_until)) AS at FROM leases'
    return firstRow<{ at: number | null }>(this.#sql, query)?.at ?? null
  }
}

const toLease = ({ task_id, token, stage }: LeaseRow): Lease => ({ taskId: task_id, token, stage })
