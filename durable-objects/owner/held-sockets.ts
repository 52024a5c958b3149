// Where the sockets of each key are, so that the end of a key reaches them. An object says how many sockets of a key it
// holds, never "one more" or "one less": saying it twice changes nothing, and what was lost is put right by the next word.

import { z } from 'zod'
import { firstRow, rows, type SqlValue } from '../sql.ts'

/** What an object says about the sockets of one key, null in local mode. */
export type SocketClaim = {
  key: string | null
  holder: string
  /** How many there will be; 0 when the last has gone. */
  sockets: number
  /** Whether one of them is still to come, and may be refused. */
  coming: boolean
}

export type SocketAnswer =
  | { ok: true; granted: number }
  /** The key was revoked. */
  | { ok: false; reason: 'ended' }
  | { ok: false; reason: 'full'; used: number; allowed: number }

export type Revocation = { actor: string; at: string }

/** Who has not been told of the end of a key. */
export type Untold = { key: string; holder: string }

const Revocation = z.object({ actor: z.string(), at: z.string() })

/** The queue holds the task streams of every key. */
export const TASK_QUEUE = 'task-queue'

/** Below it, leave for more sockets than asked for is not worth having. */
const SPARE_FROM = 8
/** Longer than anybody may remember that a key was in force. */
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
    // Who holds many gets leave for some more, and does not ask for each.
    const spare = sockets < SPARE_FROM ? 0 : Math.max(0, Math.min(Math.floor(sockets / 4), allowed - others - sockets))
    this.#write(key, { holder, sockets: sockets + spare })
    return { ok: true, granted: sockets + spare }
  }

  /** Everything that one object holds, by key; takes the place of what was known of it. */
  recount(holder: string, held: readonly { key: string | null; sockets: number }[]): void {
    this.#sql.exec('DELETE FROM held_sockets WHERE holder = ?', holder)
    for (const { key, sockets } of held) this.#write(key, { holder, sockets })
  }

  get used(): number {
    return this.#number('SELECT SUM(sockets) AS n FROM held_sockets')
  }

  /** The objects that hold most. */
  holders(limit: number): string[] {
    const query = 'SELECT holder FROM held_sockets GROUP BY holder ORDER BY SUM(sockets) DESC LIMIT ?'
    return rows<{ holder: string }>(this.#sql, query, limit).map(({ holder }) => holder)
  }

  isEnded(key: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM ended_keys WHERE key = ?', key) !== null
  }

  /** From now on the key opens nothing. What is still to be done about it is written down with that. */
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

  /** Revocations that the database has not got. */
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
