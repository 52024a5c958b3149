// Reports to the owner's object that the conversation exists, and how many bytes it stores. The first report goes through
// the outbox, so it is never lost; later ones are sent with the index row when the size has changed much.

import { owner } from '../../../src/bindings.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { firstRow } from '../../sql.ts'
import type { ConversationRecord } from '../schema.ts'

/** A report is sent after at least this many bytes were added or removed. */
const WORTH_BYTES = 1_048_576

/** The bytes that all conversations of the owner store, and the limit. */
export type Storage = { used: number; allowed: number }

export class UsageReport {
  readonly #ctx: DurableObjectState
  readonly #sql: SqlStorage
  readonly #tell: (bytes: number) => Promise<Storage>
  /** False for a talk, which has its own limits. */
  readonly #isCounted: boolean
  #reported: number | null = null
  #full: Storage | null = null

  constructor(ctx: DurableObjectState, env: Env, of: Pick<ConversationRecord, 'owner' | 'id' | 'talk'>) {
    this.#ctx = ctx
    this.#sql = ctx.storage.sql
    this.#isCounted = of.talk === undefined
    this.#tell = (bytes) => owner(env, of.owner).reportConversation(of.id, bytes)
  }

  /** The usage if the owner had reached the limit at the last report, else null. */
  get full(): Storage | null {
    return this.#full
  }

  /**
   * Asks again if the owner had reached the limit, because something may have been deleted, or if the size has changed much
   * since the last report. Without an answer the last value is returned.
   */
  async stillFull(): Promise<Storage | null> {
    if (this.#full === null && !this.isDue) return null
    try {
      await this.send()
    } catch (error) {
      log.warn('conversation.not_reported', errorFields(error))
    }
    return this.#full
  }

  /** Asks again in the background, for the next caller. */
  lookAgain(): void {
    this.#ctx.waitUntil(this.stillFull())
  }

  get isDue(): boolean {
    if (!this.#isCounted) return false
    return this.#reported === null || Math.abs(this.#bytes() - this.#reported) >= WORTH_BYTES
  }

  async send(): Promise<void> {
    const bytes = this.#bytes()
    const storage = await this.#tell(bytes)
    this.#reported = bytes
    this.#full = storage.used >= storage.allowed ? storage : null
  }

  /** The object's own database and its large files; earlier versions of large files do not count. */
  #bytes(): number {
    const query = 'SELECT SUM(size) AS n FROM workspace_nodes WHERE object IS NOT NULL'
    return this.#sql.databaseSize + (firstRow<{ n: number | null }>(this.#sql, query)?.n ?? 0)
  }
}
