// What the conversation tells its owner's books: that it is there, and how many bytes it keeps. The first report goes through
// the outbox, so it is never lost; later ones go along when the index is brought up to date and much has changed.

import { owner } from '../../src/bindings.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { firstRow } from '../sql.ts'

/** A report is worth its hop once so much has come or gone. */
const WORTH_BYTES = 1_048_576

/** What all conversations of the owner keep, and may keep. */
export type Storage = { used: number; allowed: number }

export class UsageReport {
  readonly #ctx: DurableObjectState
  readonly #sql: SqlStorage
  readonly #tell: (bytes: number) => Promise<Storage>
  #reported: number | null = null
  #full: Storage | null = null

  constructor(ctx: DurableObjectState, env: Env, of: { owner: string; id: string }) {
    this.#ctx = ctx
    this.#sql = ctx.storage.sql
    this.#tell = (bytes) => owner(env, of.owner).reportConversation(of.id, bytes)
  }

  /** Set when the owner keeps too much for anything more to be taken in, as far as the last report told. */
  get full(): Storage | null {
    return this.#full
  }

  /**
   * The same asked anew, if it was so the last time, as something may have been deleted, or if much has come or gone since the
   * last report. What was known last where nobody answers.
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

  /** Finds out whether it is still so, for whoever asks next. */
  lookAgain(): void {
    this.#ctx.waitUntil(this.stillFull())
  }

  get isDue(): boolean {
    return this.#reported === null || Math.abs(this.#bytes() - this.#reported) >= WORTH_BYTES
  }

  async send(): Promise<void> {
    const bytes = this.#bytes()
    const storage = await this.#tell(bytes)
    this.#reported = bytes
    this.#full = storage.used >= storage.allowed ? storage : null
  }

  /** The object's own database, and the large files beside it; earlier states of large files do not count. */
  #bytes(): number {
    const query = 'SELECT SUM(size) AS n FROM workspace_nodes WHERE object IS NOT NULL'
    return this.#sql.databaseSize + (firstRow<{ n: number | null }>(this.#sql, query)?.n ?? 0)
  }
}
