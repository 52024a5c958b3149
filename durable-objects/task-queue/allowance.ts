// How many analyses an owner may have open, and may begin in a day. Everything is counted in the transaction that begins
// it, so a crash neither loses nor doubles a count.

import { firstRow } from '../sql.ts'
import { OPEN } from './task-rows.ts'

export type AllowanceLimits = { open: number; perDay: number }

/** The exhausted limit, and when a retry can succeed. */
export type Full = {
  ok: false
  reason: 'full'
  limit: 'open_analyses' | 'analyses_per_day'
  used: number
  allowed: number
  retryAfterMs: number
}

export const DAY_MS = 24 * 3600 * 1000
const OPEN_RETRY_MS = 30_000

export class Allowance {
  readonly #sql: SqlStorage
  readonly #limits: AllowanceLimits

  constructor(sql: SqlStorage, limits: AllowanceLimits) {
    this.#sql = sql
    this.#limits = limits
  }

  /** Why this many more analyses exceed a limit, or null. `isIn`: they are already among the open ones. */
  refusal(owner: string, { of: more, isIn }: { of: number; isIn: boolean }, now: number): Full | null {
    const open = this.openOf(owner, now) - (isIn ? more : 0)
    if (open + more > this.#limits.open) {
      const full = { limit: 'open_analyses', used: open, allowed: this.#limits.open } as const
      return { ok: false, reason: 'full', ...full, retryAfterMs: OPEN_RETRY_MS }
    }
    const today = this.todayOf(owner, now)
    if (today + more <= this.#limits.perDay) return null
    const full = { limit: 'analyses_per_day', used: today, allowed: this.#limits.perDay } as const
    return { ok: false, reason: 'full', ...full, retryAfterMs: DAY_MS - (now % DAY_MS) }
  }

  /** Counts the analyses that begin. */
  count(owner: string, more: number, now: number): void {
    if (more === 0) return
    const day = Math.floor(now / DAY_MS)
    this.#sql.exec('DELETE FROM days WHERE owner = ? AND day < ?', owner, day)
    this.#sql.exec(
      'INSERT INTO days VALUES (?1, ?2, ?3) ON CONFLICT (owner, day) DO UPDATE SET n = n + ?3',
      owner,
      day,
      more,
    )
  }

  /** A synchronous analysis begins; a repeated call with the same id counts once. */
  beginDirect(owner: string, { id, until }: { id: string; until: number }, now: number): Full | null {
    this.#sql.exec('DELETE FROM direct_runs WHERE until <= ?', now)
    if (firstRow(this.#sql, 'SELECT 1 FROM direct_runs WHERE id = ?', id) !== null) return null
    const refusal = this.refusal(owner, { of: 1, isIn: false }, now)
    if (refusal !== null) return refusal
    this.#sql.exec('INSERT INTO direct_runs VALUES (?, ?, ?)', id, owner, until)
    this.count(owner, 1, now)
    return null
  }

  /** Whether that synchronous analysis has begun and not ended. */
  isRunning(id: string, now: number): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM direct_runs WHERE id = ? AND until > ?', id, now) !== null
  }

  endDirect(id: string): void {
    this.#sql.exec('DELETE FROM direct_runs WHERE id = ?', id)
  }

  /** The owner's waiting and running analyses. */
  openOf(owner: string, now: number): number {
    const tasks = `SELECT COUNT(*) AS n FROM tasks WHERE owner = ? AND status IN ${OPEN}`
    const direct = 'SELECT COUNT(*) AS n FROM direct_runs WHERE owner = ? AND until > ?'
    const count = (row: { n: number } | null) => row?.n ?? 0
    return (
      count(firstRow<{ n: number }>(this.#sql, tasks, owner)) +
      count(firstRow<{ n: number }>(this.#sql, direct, owner, now))
    )
  }

  todayOf(owner: string, now: number): number {
    const query = 'SELECT n FROM days WHERE owner = ? AND day = ?'
    return firstRow<{ n: number }>(this.#sql, query, owner, Math.floor(now / DAY_MS))?.n ?? 0
  }
}
