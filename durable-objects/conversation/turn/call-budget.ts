// A conversation's model calls, as the owner's budget counts them. The id of a call is stored here before its amount is
// reserved at the owner's object. It is removed in the same write that notes what the call used, and the outbox
// delivers that note. So a crash at any moment loses no call and counts none twice. An id that is found after a crash
// belongs to a call with unknown use: it counts as the maximum that was reserved. If nothing was reserved, its
// settlement changes nothing. A repeated step calls the model again, as a call of its own.

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

/** `next`: the number of the next call; `open`: the ids of the open calls. */
type StoredCalls = { next: number; open: readonly string[] }

type Deps = {
  sql: SqlStorage
  /** The prefix of call ids, unique for each conversation. */
  prefix: string
  ask(call: CallCost & { id: string }, allowances: Allowances, patienceMs: number): Promise<BudgetAnswer>
  /** Queues the settlement for delivery, in the transaction of the caller; it is retried until it succeeds. */
  owe(id: string, used: CallCost | null): void
}

export class CallBudget {
  readonly #deps: Deps
  readonly #calls: StoredRecord<StoredCalls>
  /** From the settings as they were last read. Null: there is no budget, and nothing is reserved or stored. */
  allowances: Allowances | null = null

  /** After a restart, settles the calls that an earlier instance left open; their use is unknown. */
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
      // The conversation was deleted during the model call: after an hour the reserved amount counts as used.
      log.warn('budget.not_settled', { id, ...errorFields(error) })
    }
  }

  #end(id: string, used: CallCost | null): void {
    this.#deps.owe(id, used)
    this.#calls.change({ open: this.#calls.value.open.filter((one) => one !== id) })
  }
}
