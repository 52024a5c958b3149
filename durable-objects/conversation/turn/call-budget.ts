// A conversation's calls of models, as the owner's budget counts them. The id of a call is stored here before it is asked for
// there, and leaves in the write that notes what the call used, which the outbox delivers. So a death at any moment loses no call
// and counts none twice: an id that is found after it belongs to a call of which nobody knows what it used, and counts as the most
// that it may have used; when it was never set aside there, its settlement changes nothing. A step that is repeated asks its model
// again, and so is a call of its own.

import { errorFields, log } from '../../../src/lib/log.ts'
import {
  type Allowances,
  type BudgetAnswer,
  budgetAnswer,
  PATIENCE_MS,
  refusedCall,
  UNUSED,
} from '../../../src/limits/budget.ts'
import type { CallCost, Purse } from '../../../src/llm/ask.ts'
import { StoredRecord } from '../../stored-record.ts'

/** `next`: the number of the next call; `open`: the ids of those that are under way. */
type StoredCalls = { next: number; open: readonly string[] }

type Deps = {
  sql: SqlStorage
  /** Before the numbers of the calls: no other conversation has it. */
  prefix: string
  ask(call: CallCost & { id: string }, allowances: Allowances, patienceMs: number): Promise<BudgetAnswer>
  /** Has it delivered, however long that takes; in the transaction of whoever calls. */
  owe(id: string, used: CallCost | null): void
}

export class CallBudget {
  readonly #deps: Deps
  readonly #calls: StoredRecord<StoredCalls>
  /** By the settings as they were read last. Null: no budget is set, and nothing is asked or stored. */
  allowances: Allowances | null = null

  /** After a restart: what an earlier instance left open is settled as far as anyone knows it. */
  constructor(deps: Deps) {
    this.#deps = deps
    this.#calls = new StoredRecord<StoredCalls>(deps.sql, 'budget', { next: 0, open: [] }, 'on-change')
    for (const id of this.#calls.value.open) this.#end(id, null)
  }

  readonly purse: Purse = { reserve: (most, signal) => this.#reserve(most, signal) }

  async #reserve(most: CallCost, signal: AbortSignal | undefined): ReturnType<Purse['reserve']> {
    const { allowances } = this
    if (allowances === null) return null
    const { next, open } = this.#calls.value
    const id = `${this.#deps.prefix}:${next}`
    this.#calls.change({ next: next + 1, open: [...open, id] })
    const ask = () => this.#deps.ask({ id, ...most }, allowances, PATIENCE_MS)
    const answer = await budgetAnswer(ask, { signal, leave: () => this.#end(id, UNUSED) })
    if (answer.ok) return async (used) => this.#settle(id, used)
    this.#calls.change({ open: this.#calls.value.open.filter((one) => one !== id) })
    throw refusedCall(answer)
  }

  #settle(id: string, used: CallCost): void {
    try {
      this.#end(id, used)
    } catch (error) {
      // The conversation was deleted while its model was asked: what is set aside counts as used in full after an hour.
      log.warn('budget.not_settled', { id, ...errorFields(error) })
    }
  }

  #end(id: string, used: CallCost | null): void {
    this.#deps.owe(id, used)
    this.#calls.change({ open: this.#calls.value.open.filter((one) => one !== id) })
  }
}
