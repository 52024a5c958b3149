// The owner's budget for language models: the limit, the amount used, and the amount reserved for running calls.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { owner as ownerObject } from '../bindings.ts'
import { MOST_TOKENS, MOST_USD } from '../config/limits.ts'
import { config } from '../config.ts'
import { changeSettings, ownerSettings, type Settings, type SettingsChange } from '../db/settings.ts'
import { type AppEnv, actorOf } from '../http/app-env.ts'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { isoMicros } from '../lib/clock.ts'
import { laxInt, laxNumber } from '../lib/lax.ts'
import { allowancesOf, type BudgetStanding, SPANS, type Span } from '../limits/budget.ts'

const NANO = 1e9

const Amount = z
  .object({
    limit: z.number().nullable().describe('The lower of the two below; null for none'),
    own: z.number().nullable().describe('What the owner set; null for none'),
    ceiling: z.number().nullable().describe('What the operator allows; null for everything'),
    used: z.number().describe('By calls that have ended'),
    reserved: z.number().describe('The most that calls may use that are under way'),
  })
  .openapi('BudgetAmount')

const SpanBudget = z
  .object({
    began_at: z.iso.datetime().describe('The beginning of the day or month, UTC'),
    resets_at: z.iso.datetime().describe('When the count begins anew'),
    usd: Amount.describe('The budget in US dollars'),
    tokens: Amount.describe('In tokens, both ways'),
    calls: z.int().describe('Calls of models that have ended'),
    unpriced_calls: z.int().describe('Calls of models whose price nobody knows: their tokens count, and no money'),
    unsettled_calls: z
      .int()
      .describe('Calls that count as the most that they may have used: nobody told what they did'),
  })
  .openapi('SpanBudget')

const Budget = z
  .object({
    owner: z.string().describe('Whose it is'),
    is_counted: z.boolean().describe('False while no limit is set: then nothing is counted'),
    day: SpanBudget.describe('What counts since midnight, UTC'),
    month: SpanBudget.describe('Since the first of the month, UTC'),
  })
  .openapi('Budget')

const dollars = () => laxNumber({ min: 0, max: MOST_USD }).nullish()
const tokens = () => laxInt({ min: 0, max: MOST_TOKENS }).nullish()

const BudgetChange = z
  .object({
    day_usd: dollars().describe('US dollars a day'),
    day_tokens: tokens().describe('Tokens a day'),
    month_usd: dollars().describe('US dollars a month'),
    month_tokens: tokens().describe('Tokens a month'),
  })
  .openapi('BudgetChange')
type BudgetChange = z.infer<typeof BudgetChange>

const app = router(detailEnvelope)
const common = { bodyLimit: 'standard', tag: 'Usage', path: '/api/budget' } as const

endpoint(
  app,
  {
    ...common,
    method: 'get',
    scope: 'any',
    limit: 'reads',
    summary: 'What you may spend on language models in a day and a month, and what you did',
    replies: { 200: { description: 'The budget of the owner', schema: Budget } },
  },
  async (c) => c.json(await budgetOf(c)),
)

endpoint(
  app,
  {
    ...common,
    method: 'put',
    scope: 'conversations',
    limit: 'writes',
    summary: 'Set what you may spend; a field that is absent keeps its value, null takes the limit away',
    body: { schema: BudgetChange, required: true },
    replies: { 200: { description: 'The budget as it is now', schema: Budget } },
  },
  async (c, { body }) => {
    const principal = c.get('principal')
    const change = changeOf(body)
    if (Object.keys(change).length > 0) {
      const { owner } = principal
      await changeSettings(c.env, { owner, actor: actorOf(principal), change, isPartApart: true })
    }
    return c.json(await budgetOf(c))
  },
)

const FIELDS = {
  day_usd: 'budgetDayUsd',
  day_tokens: 'budgetDayTokens',
  month_usd: 'budgetMonthUsd',
  month_tokens: 'budgetMonthTokens',
} as const satisfies Record<keyof BudgetChange, keyof Settings>

function changeOf(body: BudgetChange): SettingsChange {
  const change: SettingsChange = {}
  for (const [name, field] of Object.entries(FIELDS)) {
    const value = body[name as keyof typeof FIELDS]
    if (value !== undefined) change[field] = value
  }
  return change
}

async function budgetOf(c: Context<AppEnv>): Promise<z.infer<typeof Budget>> {
  const { owner } = c.get('principal')
  const [read, standing] = await Promise.all([
    ownerSettings(c.env, owner),
    ownerObject(c.env, owner).budgetStanding() as Promise<BudgetStanding>,
  ])
  // A budget needs none of the encrypted settings.
  const own = read.ok ? read.settings : read.others
  const ceilings = config(c.env).budget
  const of = (span: Span) => spanOf(standing[span], limitsOf(span, { own, ceilings }))
  const [day, month] = SPANS.map(of) as [ReturnType<typeof of>, ReturnType<typeof of>]
  return { owner, is_counted: allowancesOf(own, ceilings) !== null, day, month }
}

type Limits = { own: number | null; ceiling: number | null }
type Sources = { own: Settings; ceilings: ReturnType<typeof config>['budget'] }

function limitsOf(span: Span, { own, ceilings }: Sources): { usd: Limits; tokens: Limits } {
  return span === 'day'
    ? {
        usd: { own: own.budgetDayUsd, ceiling: ceilings.dayUsd },
        tokens: { own: own.budgetDayTokens, ceiling: ceilings.dayTokens },
      }
    : {
        usd: { own: own.budgetMonthUsd, ceiling: ceilings.monthUsd },
        tokens: { own: own.budgetMonthTokens, ceiling: ceilings.monthTokens },
      }
}

function spanOf(standing: BudgetStanding[Span], limits: { usd: Limits; tokens: Limits }): z.infer<typeof SpanBudget> {
  const { beganAt, resetsAt, used, reserved, calls, unpricedCalls, unsettledCalls } = standing
  const limit = ({ own, ceiling }: Limits) => {
    const set = [own, ceiling].filter((one) => one !== null)
    return { limit: set.length === 0 ? null : Math.min(...set), own, ceiling }
  }
  return {
    began_at: isoMicros(beganAt),
    resets_at: isoMicros(resetsAt),
    usd: { ...limit(limits.usd), used: used.nanoUsd / NANO, reserved: reserved.nanoUsd / NANO },
    tokens: { ...limit(limits.tokens), used: used.tokens, reserved: reserved.tokens },
    calls,
    unpriced_calls: unpricedCalls,
    unsettled_calls: unsettledCalls,
  }
}

export { app as budget }
