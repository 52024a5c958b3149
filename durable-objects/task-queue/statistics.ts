import { firstRow } from '../sql.ts'
import { OPEN } from './task-rows.ts'

/** The state of the queue. Ages are in milliseconds, null when there is no such task. */
export type QueueStatistics = {
  pending: number
  running: number
  oldestPendingMs: number | null
  /** Unfinished tasks of the caller. */
  ownPending: number
  ownRunning: number
  ownOldestPendingMs: number | null
  /** Finished tasks of all owners in the last five minutes, per minute. */
  finishedPerMinute: number
}

const RATE_MINUTES = 5
const MINUTE_MS = 60_000

type Waiting = { n: number; oldest: number | null }

export function queueStatistics(sql: SqlStorage, owner: string, now: number): QueueStatistics {
  const waiting = firstRow<Waiting>(
    sql,
    "SELECT COUNT(*) AS n, MIN(created_at) AS oldest FROM tasks WHERE status = 'pending'",
  )
  const own = firstRow<Waiting>(
    sql,
    "SELECT COUNT(*) AS n, MIN(created_at) AS oldest FROM tasks WHERE owner = ? AND status = 'pending'",
    owner,
  )
  const count = (query: string, ...values: (string | number)[]) =>
    firstRow<{ n: number }>(sql, query, ...values)?.n ?? 0
  const ended = count('SELECT COUNT(*) AS n FROM tasks WHERE completed_at > ?', now - RATE_MINUTES * MINUTE_MS)
  const ownOpen = count(`SELECT COUNT(*) AS n FROM tasks WHERE owner = ? AND status IN ${OPEN}`, owner)
  return {
    pending: waiting?.n ?? 0,
    running: count('SELECT COUNT(*) AS n FROM leases'),
    oldestPendingMs: ageOf(waiting, now),
    ownPending: own?.n ?? 0,
    ownRunning: ownOpen - (own?.n ?? 0),
    ownOldestPendingMs: ageOf(own, now),
    finishedPerMinute: ended / RATE_MINUTES,
  }
}

/** How long the oldest pending task of all owners has waited, ms; 0 when none waits. */
export function oldestPendingMs(sql: SqlStorage, now: number): number {
  const query = "SELECT COUNT(*) AS n, MIN(created_at) AS oldest FROM tasks WHERE status = 'pending'"
  return ageOf(firstRow<Waiting>(sql, query), now) ?? 0
}

const ageOf = (waiting: Waiting | null, now: number): number | null =>
  waiting?.oldest == null ? null : Math.max(0, now - waiting.oldest)
