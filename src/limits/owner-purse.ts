// The purse of callers without storage of their own: analyses, trials of models, pictures that are read.

import { owner as ownerObject } from '../bindings.ts'
import { config } from '../config.ts'
import { hexId } from '../lib/crypto.ts'
import { errorFields, log } from '../lib/log.ts'
import type { CallCost, Purse } from '../llm/ask.ts'
import { allowancesOf, budgetAnswer, type OwnBudget, PATIENCE_MS, refusedCall, UNUSED } from './budget.ts'

const SETTLE_TRIES = 3

/**
 * The reservation of such a call counts as used when it is never settled. Null without a budget, so that a call costs
 * no request to the object.
 */
export function ownerPurse(env: Env, owner: string, own: OwnBudget): Purse | null {
  const allowances = allowancesOf(own, config(env).budget)
  if (allowances === null) return null
  return {
    async reserve(most, signal) {
      const id = hexId()
      const answer = await budgetAnswer(
        () => ownerObject(env, owner).reserveCall({ id, ...most }, allowances, PATIENCE_MS),
        {
          signal,
          leave: () => void settled(env, owner, { id, used: UNUSED }),
        },
      )
      if (!answer.ok) throw refusedCall(answer)
      return (used) => settled(env, owner, { id, used })
    },
  }
}

async function settled(env: Env, owner: string, { id, used }: { id: string; used: CallCost }): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await ownerObject(env, owner).settleCall(id, used)
      return
    } catch (error) {
      // The reservation stays, and counts as fully used once it expires.
      if (tries === SETTLE_TRIES) log.warn('budget.not_settled', { owner, ...errorFields(error) })
      if (tries === SETTLE_TRIES) return
    }
  }
}
