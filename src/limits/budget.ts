// What one owner may spend on language models in a day and in a month, in US dollars and in tokens, over all
// conversations and analyses. The records are in the owner's object (durable-objects/owner/budget-book.ts): before each
// call the most that it may use is reserved there, and after it the real use replaces the reservation. A call is
// admitted while the used and reserved amounts are below the budget, so the budget is exceeded by at most one call.
//
// Days and months are in UTC, as in all other limits.

import type { BudgetCeilings } from '../config/limits.ts'
import type { Settings } from '../db/settings.ts'
import { unlessAborted } from '../lib/wait-at-most.ts'
import type { CallCost } from '../llm/ask.ts'
import { ModelError } from '../llm/model.ts'

export const SPANS = ['day', 'month'] as const
export type Span = (typeof SPANS)[number]

/** Null for no limit. */
export type Allowance = { readonly nanoUsd: number | null; readonly tokens: number | null }
export type Allowances = Readonly<Record<Span, Allowance>>

export type BudgetRefusal = {
  ok: false
  /** `held`: there is budget left, but open calls may use it. */
  reason: 'spent' | 'held'
  span: Span
  unit: 'nanoUsd' | 'tokens'
  used: number
  allowed: number
  /** Epoch ms. */
  resetsAt: number
}
export type BudgetAnswer = { ok: true } | BudgetRefusal

export type SpanStanding = {
  beganAt: number
  resetsAt: number
  used: { nanoUsd: number; tokens: number }
  reserved: { nanoUsd: number; tokens: number }
  calls: number
  /** Calls of models with unknown prices: their tokens count, their cost cannot. */
  unpricedCalls: number
  /** Calls whose use was never reported, so they count with their maximum. */
  unsettledCalls: number
}
export type BudgetStanding = Record<Span, SpanStanding>

/** How long a call waits for open calls to end, while the rest of the budget is reserved for them. */
export const PATIENCE_MS = 20_000

const NANO = 1e9

export type OwnBudget = Pick<Settings, 'budgetDayUsd' | 'budgetDayTokens' | 'budgetMonthUsd' | 'budgetMonthTokens'>

/** The lower of what the owner and the operator allow; null when neither sets a limit. */
export function allowancesOf(own: OwnBudget, ceilings: BudgetCeilings): Allowances | null {
  const allowances = {
    day: allowance([own.budgetDayUsd, ceilings.dayUsd], [own.budgetDayTokens, ceilings.dayTokens]),
    month: allowance([own.budgetMonthUsd, ceilings.monthUsd], [own.budgetMonthTokens, ceilings.monthTokens]),
  }
  const isOpen = SPANS.every((span) => allowances[span].nanoUsd === null && allowances[span].tokens === null)
  return isOpen ? null : allowances
}

type Pair = readonly [own: number | null, ceiling: number | null]

function allowance(usd: Pair, tokens: Pair): Allowance {
  const dollars = lower(usd)
  return { nanoUsd: dollars === null ? null : Math.round(dollars * NANO), tokens: lower(tokens) }
}

const lower = ([own, ceiling]: Pair): number | null => {
  if (own === null || ceiling === null) return own ?? ceiling
  return Math.min(own, ceiling)
}

/** The error for the user when a call is refused. */
export function refusedCall({ reason, span, unit, used, allowed, resetsAt }: BudgetRefusal): ModelError {
  const amount = (value: number) =>
    unit === 'tokens' ? `${value.toLocaleString('en')} tokens` : `$${Number((value / NANO).toFixed(4))}`
  const budget = `budget of ${amount(allowed)} for the ${span}`
  if (reason === 'held') {
    const text = `What is left of the ${budget} is set aside for other calls of yours that are under way.`
    return new ModelError('budget_held', text)
  }
  const begins = `${new Date(resetsAt).toISOString().slice(0, 10)}, 00:00 UTC`
  const text = `The ${budget} is used up (${amount(used)}). It begins anew on ${begins}; a higher one can be set in the settings, up to the operator's ceiling. Send a message then to go on.`
  return new ModelError('budget_spent', text)
}

const budgetAway = (cause: unknown): ModelError =>
  new ModelError('unavailable', 'A budget is set, and what is left of it cannot be found out at the moment.', { cause })

/** Settles a call that was never made. */
export const UNUSED: CallCost = { tokens: 0, nanoUsd: 0 }

type Asking = { signal: AbortSignal | undefined; leave: () => void }

/** The answer to the reservation. If the caller is stopped while it waits, or gets no answer, the reservation is released. */
export async function budgetAnswer(ask: () => Promise<BudgetAnswer>, { signal, leave }: Asking): Promise<BudgetAnswer> {
  try {
    signal?.throwIfAborted()
    return await (signal === undefined ? ask() : unlessAborted(signal, ask()))
  } catch (error) {
    leave()
    signal?.throwIfAborted()
    throw budgetAway(error)
  }
}
