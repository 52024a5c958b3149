// The part of an owner's object with the owner's budget, for callers of models.

import { DurableObject } from 'cloudflare:workers'
import type { Allowances, BudgetAnswer, BudgetStanding } from '../../src/limits/budget.ts'
import type { CallCost } from '../../src/llm/ask.ts'
import { emptiable } from '../sql.ts'
import { BudgetBook, BudgetDesk, type ReservedCall } from './budget-book.ts'
import { MIGRATIONS } from './schema.ts'

export class BudgetOwner extends DurableObject<Env> {
  protected readonly storage: DurableObjectStorage
  /** Leaves the object as if it had never been used. */
  protected readonly empty: () => Promise<void>
  readonly #book: BudgetBook
  readonly #desk: BudgetDesk

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage, empty } = emptiable(ctx.storage, MIGRATIONS)
    this.storage = storage
    this.empty = empty
    this.#book = new BudgetBook(storage)
    this.#desk = new BudgetDesk(this.#book)
  }

  /**
   * Before a model call: reserves the most that it may use. If only reservations of other calls stand in the way, waits
   * for these to end.
   */
  reserveCall(call: ReservedCall, allowances: Allowances, patienceMs: number): Promise<BudgetAnswer> {
    return this.#desk.reserve(call, allowances, patienceMs)
  }

  /** After the call, with what it used; null when unknown. A repeated call changes nothing. */
  settleCall(id: string, used: CallCost | null): void {
    this.#desk.settle(id, used)
  }

  budgetStanding(): BudgetStanding {
    return this.#book.standing(Date.now())
  }
}
