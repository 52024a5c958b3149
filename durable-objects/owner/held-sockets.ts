// Which objects hold sockets of each key, so that a revocation reaches them. An object reports the number of its sockets of
// a key, never a difference: a repeated report changes nothing, and the next report corrects one that was lost.

import { z } from 'zod'
import { firstRow, rows, type SqlValue } from '../sql.ts'

/** What an object reports about its sockets of one key; null in local mode. */
export type SocketClaim = {
  key: string | null
  holder: string
  /** The number of sockets after this change; 0 when the last one closed. */
  sockets: number
  /** Whether one of them is about to be opened, and may be refused. */
  coming: boolean
}

export type SocketAnswer =
  | { ok: true; granted: number }
  /** The key was revoked. */
  | { ok: false; reason: 'ended' }
  | { ok: false; reason: 'full'; used: number; allowed: number }

export type Revocation = { actor: string; at: string }

/** An object that has not been told yet that a key ended. */
export type Untold = { key: string; holder: string }

const Revocation = z.object({ actor: z.string(), at: z.string() })

/** The task queue holds the task streams of every key. */
export const TASK_QUEUE = 'task-queue'

/** An object with fewer sockets than this gets no permission beyond the number that it asked for. */
const SPARE_FROM = 8
/** Longer than any isolate or object may still believe that a key is valid. */
const KEEP_ENDED_MS = 7 * 24 * 3600 * 1000

export class HeldSockets {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Notes the claim unless the key has ended or, for a socket that is still to come, the limit is reached. */
  hold({ key, holder, sockets, coming }: SocketClaim, allowed: number): SocketAnswer {
    if (key !== null && this.isEnded(key)) return { ok: false, reason: 'ended' }
    const others = this.used - this.#of(key, holder)
    if (coming && others + sockets > allowed) return { ok: false, reason: 'full', used: this.used, allowed }
    // An object with many sockets may open some more without asking for each.
    const spare = sockets < SPARE_FROM ? 0 : Math.max(0, Math.min(Math.floor(sockets / 4), allowed - others - sockets))
    this.#write(key, { holder, sockets: sockets + spare })
    return { ok: true, granted: sockets + spare }
  }

  /** Replaces the stored numbers of one object by these, by key. */
  recount(holder: string, held: readonly { key: string | null; sockets: number }[]): void {
    this.#sql.exec('DELETE FROM held_sockets WHERE holder = ?', holder)
    for (const { key, sockets } of held) this.#write(key, { holder, sockets })
  }

  get used(): number {
    return this.#number('SELECT SUM(sockets) AS n FROM held_sockets')
  }

  /** The objects with the most sockets. */
  holders(limit: number): string[] {
    const query = 'SELECT holder FROM held_sockets GROUP BY holder ORDER BY SUM(sockets) DESC LIMIT ?'
    return rows<{ holder: string }>(this.#sql, query, limit).map(({ holder }) => holder)
  }

  isEnded(key: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM ended_keys WHERE key = ?', key) !== null
  }

  /** From now on no socket opens with this key. The objects that must be told are stored in the same write. */
  end(key: string, revocation: Revocation, now: number): void {
    this.#sql.exec('DELETE FROM ended_keys WHERE at < ? AND revocation IS NULL', now - KEEP_ENDED_MS)
    this.#sql.exec('INSERT OR IGNORE INTO ended_keys VALUES (?, ?, ?)', key, now, JSON.stringify(revocation))
    this.#sql.exec(
      `INSERT OR IGNORE INTO untold (key, holder) SELECT key, holder FROM held_sockets WHERE key = ?1
       UNION ALL SELECT ?1, ?2`,
      key,
      TASK_QUEUE,
    )
  }

  /** Revocations that are not yet written to the database. */
  unwritten(): { key: string; revocation: Revocation }[] {
    const query = 'SELECT key, revocation FROM ended_keys WHERE revocation IS NOT NULL'
    return rows<{ key: string; revocation: string }>(this.#sql, query).map(({ key, revocation }) => ({
      key,
      revocation: Revocation.parse(JSON.parse(revocation)),
    }))
  }

  written(key: string): void {
    this.#sql.exec('UPDATE ended_keys SET revocation = NULL WHERE key = ?', key)
  }

  untold(limit: number): Untold[] {
    return rows<Untold>(this.#sql, 'SELECT key, holder FROM untold LIMIT ?', limit)
  }

  told({ key, holder }: Untold): void {
    this.#sql.exec('DELETE FROM untold WHERE key = ? AND holder = ?', key, holder)
    this.#sql.exec('DELETE FROM held_sockets WHERE key = ? AND holder = ?', key, holder)
  }

  #of(key: string | null, holder: string): number {
    return this.#number('SELECT sockets AS n FROM held_sockets WHERE key = ? AND holder = ?', key ?? '', holder)
  }

  #write(key: string | null, { holder, sockets }: { holder: string; sockets: number }): void {
    if (sockets === 0) this.#sql.exec('DELETE FROM held_sockets WHERE key = ? AND holder = ?', key ?? '', holder)
    else this.#sql.exec('INSERT OR REPLACE INTO held_sockets VALUES (?, ?, ?)', key ?? '', holder, sockets)
  }

  #number(query: string, ...bindings: SqlValue[]): number {
    return firstRow<{ n: number | null }>(this.#sql, query, ...bindings)?.n ?? 0
  }
}
