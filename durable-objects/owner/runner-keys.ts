// The end of a key: its runners go, and with them the connections to the conversations that they had, also of a runner that has none
// to the pool at this moment. Who has to be told is noted first, so a crash, or a conversation that cannot be reached, only delays it.

import { firstRow, rows } from '../sql.ts'
import { attachmentOf, isOpen, type RunnerAttachment } from './runner-attachment.ts'

/** In the column `draining`: its key has ended, and not all of its conversations know; and when they do. */
const BARRED = 2
const ALL_KNOW = 3

export class RunnerKeys {
  readonly #ctx: DurableObjectState
  readonly #sql: SqlStorage

  constructor(ctx: DurableObjectState, sql: SqlStorage) {
    this.#ctx = ctx
    this.#sql = sql
  }

  revoked(key: string): void {
    this.#sql.exec('UPDATE runners SET draining = ?1, until = NULL WHERE key = ?2 AND draining < ?1', BARRED, key)
    this.#close((attachment) => attachment.key === key, 'the key was revoked')
  }

  /** Of all keys whose time is over by now. */
  expired(now: number): void {
    this.#sql.exec('UPDATE runners SET draining = ?, until = NULL WHERE until <= ?', BARRED, now)
    this.#close(({ until }) => until !== null && until <= now, 'the key has expired')
  }

  /** When the next key of a runner expires. */
  get nextExpiry(): number | null {
    const { at } = firstRow<{ at: number | null }>(this.#sql, 'SELECT min(until) AS at FROM runners') ?? { at: null }
    // One that has not said hello yet has no row.
    const ends = this.#open.flatMap((socket) => attachmentOf(socket).until ?? [])
    const all = at === null ? ends : [at, ...ends]
    return all.length === 0 ? null : Math.min(...all)
  }

  /** Runners that are kept away, and the objects of the conversations that they had. */
  untold(): { runner: string; holders: string[] }[] {
    const barred = rows<{ id: string }>(this.#sql, 'SELECT id FROM runners WHERE draining = ?', BARRED)
    const query = 'SELECT holder FROM runner_conversations WHERE runner = ?'
    return barred.map(({ id: runner }) => ({
      runner,
      holders: rows<{ holder: string }>(this.#sql, query, runner).map(({ holder }) => holder),
    }))
  }

  told(runner: string): void {
    this.#sql.exec('UPDATE runners SET draining = ? WHERE id = ? AND draining = ?', ALL_KNOW, runner, BARRED)
  }

  /** Whether a ticket that the runner got some time is still good: it is known here, and its key has not ended. */
  isGood(runner: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM runners WHERE id = ? AND draining < ?', runner, BARRED) !== null
  }

  get #open(): WebSocket[] {
    return this.#ctx.getWebSockets().filter(isOpen)
  }

  #close(isOne: (attachment: RunnerAttachment) => boolean, why: string): void {
    for (const socket of this.#open) if (isOne(attachmentOf(socket))) socket.close(1008, why)
  }
}
