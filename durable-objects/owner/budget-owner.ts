// The part of an owner's object that callers of models call about the owner's budget.

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

  /** Before a call of a model: sets aside the most that it may use. Waits for other calls to end where they hold what is left. */
  reserveCall(call: ReservedCall, allowances: Allowances, patienceMs: number): Promise<BudgetAnswer> {
    return this.#desk.reserve(call, allowances, patienceMs)
  }

  /** After it, with what it used; null where nobody knows. A repeated call changes nothing. */
  settleCall(id: string, used: CallCost | null): void {
    this.#desk.settle(id, used)
  }

  budgetStanding(): BudgetStanding {
    return this.#book.standing(Date.now())
  }
}
