import { expect, test } from 'vitest'
import { allowancesOf, type BudgetRefusal, budgetAnswer, refusedCall } from '../../../src/limits/budget.ts'
import { ModelError } from '../../../src/llm/model.ts'

const OPEN = { budgetDayUsd: null, budgetDayTokens: null, budgetMonthUsd: null, budgetMonthTokens: null }
const NO_CEILING = { dayUsd: null, dayTokens: null, monthUsd: null, monthTokens: null }
const FREE = { nanoUsd: null, tokens: null }

test('of what the owner and the operator allow the lower counts, each for itself, and nothing where both allow everything', () => {
  expect(allowancesOf(OPEN, NO_CEILING)).toBeNull()
  const dayUsd = (own: number | null, ceiling: number | null) =>
    allowancesOf({ ...OPEN, budgetDayUsd: own }, { ...NO_CEILING, dayUsd: ceiling })?.day.nanoUsd
  expect([dayUsd(2, 3), dayUsd(3, 2), dayUsd(2, null), dayUsd(null, 3), dayUsd(0, 3), dayUsd(0, null)]).toEqual([
    ...[2e9, 2e9, 2e9, 3e9, 0, 0],
  ])
  // A dollar has a thousand million parts, and no budget has a part of one.
  expect(dayUsd(0.1 + 0.2, null)).toBe(300_000_000)
  expect(allowancesOf({ ...OPEN, budgetMonthTokens: 7 }, NO_CEILING)).toEqual({
    ...{ day: FREE, month: { nanoUsd: null, tokens: 7 } },
  })
  const all = { budgetDayUsd: 1, budgetDayTokens: 20, budgetMonthUsd: 3, budgetMonthTokens: 40 }
  expect(allowancesOf(all, { dayUsd: 2, dayTokens: 10, monthUsd: 4, monthTokens: 30 })).toEqual({
    ...{ day: { nanoUsd: 1e9, tokens: 10 }, month: { nanoUsd: 3e9, tokens: 30 } },
  })
})

test('who may not call hears which budget it is, what of it is used and when it begins anew', () => {
  const refusal: BudgetRefusal = {
    ...{ ok: false, reason: 'spent', span: 'day', unit: 'nanoUsd', used: 1_234_560_000, allowed: 1_200_000_000 },
    resetsAt: Date.parse('2026-02-01T00:00:00Z'),
  }
  const said = (change: Partial<BudgetRefusal>) => {
    const { kind, message } = refusedCall({ ...refusal, ...change })
    return [kind, message]
  }
  const anew = 'It begins anew on 2026-02-01, 00:00 UTC; a higher one can be set in the settings'
  expect(said({})).toEqual([
    'budget_spent',
    `The budget of $1.2 for the day is used up ($1.2346). ${anew}, up to the operator's ceiling. Send a message then to go on.`,
  ])
  expect(said({ span: 'month', unit: 'tokens', used: 1_000_001, allowed: 1_000_000 })).toEqual([
    'budget_spent',
    `The budget of 1,000,000 tokens for the month is used up (1,000,001 tokens). ${anew}, up to the operator's ceiling. Send a message then to go on.`,
  ])
  expect(said({ reason: 'held' })).toEqual([
    'budget_held',
    'What is left of the budget of $1.2 for the day is set aside for other calls of yours that are under way.',
  ])
})

test('a call whose book cannot be asked is not made, and who is stopped while asking leaves nothing set aside', async () => {
  let left = 0
  const ask = (answer: () => Promise<{ ok: true }>, signal?: AbortSignal) =>
    budgetAnswer(answer, {
      signal,
      leave: () => {
        left += 1
      },
    })
  expect(await ask(async () => ({ ok: true }))).toEqual({ ok: true })
  expect(await ask(async () => ({ ok: true }), new AbortController().signal)).toEqual({ ok: true })
  expect(left).toBe(0)
  const cause = new Error('away')
  const away = await ask(() => Promise.reject(cause)).catch((error: unknown) => error)
  expect(away).toBeInstanceOf(ModelError)
  expect(away).toMatchObject({ kind: 'unavailable', cause })
  expect(left).toBe(1)
  // Who was stopped before is not told of a budget, and the book is not asked.
  const stopped = AbortSignal.abort(new Error('stopped'))
  await expect(ask(() => Promise.reject(new Error('asked')), stopped)).rejects.toThrow('stopped')
  const controller = new AbortController()
  const hanging = ask(() => new Promise(() => {}), controller.signal)
  controller.abort(new Error('stopped later'))
  await expect(hanging).rejects.toThrow('stopped later')
  expect(left).toBe(3)
})
