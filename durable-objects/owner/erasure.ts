// The deletion of an owner with all data. The order is a row in the database, which prevents later rows of this owner;
// it is carried out here. Every step can be repeated: after any failure it begins from the start and finds what is
// left. When nothing is left, it waits until requests that were running have ended. If none of them stored anything,
// this object is emptied, and then the keys and the order are deleted in one transaction. If this object loses the
// order, the cron trigger starts it again (`src/schedule/cron.ts`).

import {
  conversation,
  conversationPlace,
  conversationPrefix,
  conversationsPrefix,
  conversationsWithFiles,
  deleteFiles,
  exportPrefix,
  feedbackPrefix,
  importPrefix,
  taskQueue,
} from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { deleteConversationRows } from '../../src/db/conversations.ts'
import {
  deleteOwnedRows,
  endErasure,
  erasureOf,
  keyIdsOf,
  namedConversations,
  noteErasure,
  type Erasure as Order,
  OWNED_TABLES,
} from '../../src/db/erasures.ts'
import { giveWay } from '../../src/lib/give-way.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { removeDamaged } from '../../src/lib/state-keeper.ts'
import { firstRow } from '../sql.ts'
import type { ConversationBooks } from './conversation-books.ts'

type Deps = {
  env: () => Env
  sql: SqlStorage
  books: ConversationBooks
}

/** When to continue, epoch ms; `end` when only the last step is left, null when there is nothing to do. */
export type NextWork = number | 'end' | null

/** Longer than a request takes from its admission to its writes; `endpoint` checks again for a slower one. */
const RUN_OUT_MS = 10_000
const RETRY_MS = 5_000
const CONVERSATIONS_AT_ONCE = 20
/** The most in one call, so that progress is stored regularly. */
const CONVERSATIONS_A_CALL = 100

export class Erasure {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The owner who is being deleted, or null. */
  get owner(): string | null {
    return firstRow<{ owner: string }>(this.#deps.sql, 'SELECT owner FROM leaving')?.owner ?? null
  }

  begin(owner: string): void {
    this.#deps.sql.exec('INSERT OR IGNORE INTO leaving (owner) VALUES (?)', owner)
  }

  /** Continues as far as it can; never throws. */
  async work(): Promise<NextWork> {
    const { owner } = this
    if (owner === null) return null
    try {
      const order = await erasureOf(this.#deps.env().DB, owner)
      if (order !== null) return await this.#goOn(order)
      this.#deps.sql.exec('DELETE FROM leaving')
      return null
    } catch (error) {
      log.warn('owner.not_deleted_yet', { owner, ...errorFields(error) })
      await this.#noteProblem(owner)
      return Date.now() + RETRY_MS
    }
  }

  /** The last step; `empty` empties this object. */
  async end(empty: () => Promise<void>): Promise<void> {
    const { owner } = this
    if (owner === null) return
    await empty()
    try {
      await endErasure(this.#deps.env().DB, owner)
      log.info('owner.deleted', { owner })
    } catch (error) {
      this.begin(owner)
      throw error
    }
  }

  async #goOn(order: Order): Promise<NextWork> {
    const { owner, counts } = order
    const before = JSON.stringify(counts)
    const { isBusy, isAll } = await this.#sweep(order)
    const hasFound = JSON.stringify(counts) !== before
    if (!isAll) {
      await this.#note(order, 'deleting', null)
      return Date.now()
    }
    const now = Date.now()
    if (order.quietAt === null || hasFound || isBusy) {
      const quietAt = now + Math.max(RUN_OUT_MS, config(this.#deps.env()).keyCacheMs + 1_000)
      await this.#note(order, 'waiting', quietAt)
      return quietAt
    }
    if (now < order.quietAt) return order.quietAt
    log.info('owner.deletion_ends', { owner, ...counts })
    await this.#note(order, 'ending', order.quietAt)
    return 'end'
  }

  /**
   * Deletes what there is and adds it to the counts. Running work is stopped first, and rows that name a conversation
   * are deleted after it.
   */
  async #sweep({ owner, counts }: Order): Promise<{ isBusy: boolean; isAll: boolean }> {
    const env = this.#deps.env()
    const queue = await taskQueue(env).eraseOwner(owner, await keyIdsOf(env.DB, owner))
    counts.tasks += queue.rows
    const ids = await this.#conversations(owner)
    for (let from = 0; from < Math.min(ids.length, CONVERSATIONS_A_CALL); from += CONVERSATIONS_AT_ONCE) {
      const some = ids.slice(from, Math.min(from + CONVERSATIONS_AT_ONCE, CONVERSATIONS_A_CALL))
      await Promise.all(some.map((id) => this.#eraseConversation(owner, id)))
      counts.conversations += some.length
      await giveWay()
    }
    if (ids.length > CONVERSATIONS_A_CALL) return { isBusy: queue.isBusy, isAll: false }
    const prefixes = [conversationsPrefix, feedbackPrefix, exportPrefix, importPrefix].map((of) => of(owner))
    for (const prefix of prefixes) counts.files += await deleteFiles(env, prefix)
    for (const table of OWNED_TABLES) {
      counts.rows += await deleteOwnedRows(env.DB, owner, table)
      await giveWay()
    }
    return { isBusy: queue.isBusy, isAll: true }
  }

  /** The ids that these records know, those that a table names, and those of which only files are left. */
  async #conversations(owner: string): Promise<string[]> {
    const env = this.#deps.env()
    const named = await namedConversations(env.DB, owner)
    return [...new Set([...this.#deps.books.ids(), ...named, ...(await conversationsWithFiles(env, owner))])]
  }

  async #eraseConversation(owner: string, id: string): Promise<void> {
    if (!(await this.#erased(owner, id))) throw new Error(`conversation ${id} is not gone yet`)
    const env = this.#deps.env()
    await deleteFiles(env, conversationPrefix(owner, id))
    await deleteConversationRows(env.DB, owner, id)
    this.#deps.books.forget(id)
  }

  async #erased(owner: string, id: string): Promise<boolean> {
    const env = this.#deps.env()
    try {
      return await conversation(env, owner, id).erase()
    } catch (error) {
      // An object with a damaged database file cannot delete itself.
      if (await removeDamaged(env, conversationPlace(env, owner, id))) return true
      throw error
    }
  }

  async #note({ owner, counts }: Order, phase: Order['phase'], quietAt: number | null): Promise<void> {
    await noteErasure(this.#deps.env().DB, { owner, counts, phase, quietAt, problem: null })
  }

  async #noteProblem(owner: string): Promise<void> {
    const { DB } = this.#deps.env()
    try {
      const order = await erasureOf(DB, owner)
      if (order !== null) await noteErasure(DB, { ...order, problem: 'not everything could be reached; it goes on' })
    } catch (error) {
      // The database itself has failed.
      log.warn('owner.problem_not_noted', { owner, ...errorFields(error) })
    }
  }
}
