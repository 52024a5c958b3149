// How long the agent may go on by itself. A message after a limit was hit extends it by as much as it was at first.

import type { StepConfig } from '../step-config.ts'
import type { TurnDeps } from '../turn-deps.ts'

/** Why the agent goes no further by itself, for programs, and what the user can do about it. */
export type Halt = { readonly reason: string; readonly advice: string }

/** Null while a further answer may be asked for. Takes over limits that the settings changed. */
export function limitReached(turn: TurnDeps['turn'], { maxIterations, maxBudget }: StepConfig): Halt | null {
  const { iterations, metrics, limitBase } = turn.value
  if (limitBase.iterations !== maxIterations || limitBase.budget !== maxBudget) {
    turn.change({
      limitBase: { iterations: maxIterations, budget: maxBudget },
      iterationLimit: maxIterations,
      budgetLimit: maxBudget,
    })
  }
  const { iterationLimit, budgetLimit } = turn.value
  if (iterationLimit !== null && iterations >= iterationLimit) {
    turn.change({ limitHit: 'iterations' })
    return {
      reason: `RuntimeError: Agent reached maximum iteration. Current iteration: ${iterations}, max iteration: ${iterationLimit}`,
      advice: `The limit of ${iterationLimit} answers is reached. Send a message to let the agent go on for ${maxIterations} more.`,
    }
  }
  const cost = metrics?.cost ?? 0
  if (budgetLimit !== null && cost >= budgetLimit) {
    turn.change({ limitHit: 'budget' })
    return {
      reason: `RuntimeError: Agent reached maximum budget for conversation. Current budget: ${cost.toFixed(4)}, max budget: ${budgetLimit}`,
      advice: `The budget of ${dollars(budgetLimit)} is spent. Send a message to let the agent spend ${dollars(maxBudget ?? 0)} more.`,
    }
  }
  return null
}

const dollars = (amount: number): string => `$${Number(amount.toFixed(4))}`

export function extendLimits(turn: TurnDeps['turn']): void {
  const { limitHit, limitBase, iterations, metrics } = turn.value
  if (limitHit === 'iterations') turn.change({ iterationLimit: iterations + (limitBase.iterations ?? 0) })
  if (limitHit === 'budget') turn.change({ budgetLimit: (metrics?.cost ?? 0) + (limitBase.budget ?? 0) })
  if (limitHit !== null) turn.change({ limitHit: null })
}
