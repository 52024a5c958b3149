// The end of a key: its runners are disconnected, also from the conversations that they had, and also if a runner is
// not connected to the pool at this moment. The conversations that must be told are stored first, so a crash or an
// unreachable conversation only delays this.

import { firstRow, rows } from '../sql.ts'
import { attachmentOf, isOpen, type RunnerAttachment } from './runner-attachment.ts'

/**
 * Values of the column `draining`: the runner's key has ended and not all of its conversations know; and all of them
 * know.
 */
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

  /** Ends all keys that have expired by now. */
  expired(now: number): void {
    this.#sql.exec('UPDATE runners SET draining = ?, until = NULL WHERE until <= ?', BARRED, now)
    this.#close(({ until }) => until !== null && until <= now, 'the key has expired')
  }

  /** When the next key of a runner expires. */
  get nextExpiry(): number | null {
    const { at } = firstRow<{ at: number | null }>(this.#sql, 'SELECT min(until) AS at FROM runners') ?? { at: null }
    // A runner that has not said hello yet has no row.
    const ends = this.#open.flatMap((socket) => attachmentOf(socket).until ?? [])
    const all = at === null ? ends : [at, ...ends]
    return all.length === 0 ? null : Math.min(...all)
  }

  /** Runners whose key has ended, and the conversation objects that must be told. */
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

  /** Whether a ticket of the runner is still valid: the runner is known here, and its key has not ended. */
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
