// The usage of language models by the owner: analyses, market reviews, and the agents of conversations and talks.

import { z } from '@hono/zod-openapi'
import { modelUsage } from '../../db/model-calls.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { laxInt } from '../../lib/lax.ts'

const app = router(analysisEnvelope)

const PERIODS = ['today', 'month', 'all'] as const
type Period = (typeof PERIODS)[number]

const tokens = {
  prompt_tokens: z.int().describe('Tokens that were sent'),
  completion_tokens: z.int().describe('Tokens that were written'),
  total_tokens: z.int().describe('Both together'),
}

const sums = {
  calls: z.int().describe('Requests to a model, those that failed and were repeated included'),
  ...tokens,
}

const callType = z.string().describe('`analysis`, `market_review`, or `agent` of conversations and talks')

const UsageDashboard = z
  .object({
    period: z.enum(PERIODS).describe('The one that was asked for'),
    from_date: z.string().describe('The first day, by Beijing time'),
    to_date: z.string().describe('Today, by Beijing time'),
    total_calls: z.int().describe('Of all kinds'),
    total_prompt_tokens: z.int().describe('Of all kinds'),
    total_completion_tokens: z.int().describe('Of all kinds'),
    total_tokens: z.int().describe('Of all kinds'),
    by_call_type: z.array(z.object({ call_type: callType, ...sums })).describe('The largest first'),
    by_model: z
      .array(
        z.object({
          model: z.string().describe('`provider/model`; ` (est.)` behind it where the vendor did not tell the use'),
          ...sums,
          max_total_tokens: z.int().describe('Of the largest call'),
        }),
      )
      .describe('The largest first'),
    recent_calls: z
      .array(
        z.object({
          id: z.int().describe('Of the call'),
          called_at: z.string().describe('When it was made'),
          call_type: callType,
          model: z.string().describe('As above'),
          stock_code: z.string().nullable().describe('The stock that it was about, where it was one'),
          ...tokens,
        }),
      )
      .describe('The newest first'),
  })
  .openapi('UsageDashboard')

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/usage/dashboard',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Usage',
    summary: 'What the own calls of language models used, of the last 90 days',
    query: z.object({
      period: z.string().default('month').describe('`today`, `month` or `all`; any other word is `month`'),
      limit: laxInt({ min: 1, max: 200 }).default(50).describe('Of the newest calls'),
    }),
    replies: { 200: { description: 'Sums, the largest first, and the newest calls', schema: UsageDashboard } },
  },
  async (c, { query }) => {
    const period = PERIODS.find((one) => one === query.period) ?? 'month'
    const today = beijingDay(Date.now())
    const since = beginOf(period, today)
    const usage = await modelUsage(c.env.DB, c.get('principal').owner, { since, limit: query.limit })
    const { first, byType, byModel, recent } = usage
    const sum = (of: 'calls' | 'promptTokens' | 'completionTokens' | 'totalTokens') =>
      byType.reduce((all, row) => all + row[of], 0)
    return c.json({
      period,
      from_date: period === 'all' ? (first === null ? today : beijingDay(first)) : beijingDay(since),
      to_date: today,
      total_calls: sum('calls'),
      total_prompt_tokens: sum('promptTokens'),
      total_completion_tokens: sum('completionTokens'),
      total_tokens: sum('totalTokens'),
      by_call_type: byType.map(({ type, ...row }) => ({ call_type: type, ...sumsOf(row) })),
      by_model: byModel.map(({ model, maxTokens, ...row }) => ({ model, ...sumsOf(row), max_total_tokens: maxTokens })),
      recent_calls: recent.map(({ id, at, type, model, stockCode, promptTokens, completionTokens }) => ({
        ...{ id, called_at: isoMicros(at), call_type: type, model, stock_code: stockCode },
        ...{ prompt_tokens: promptTokens, completion_tokens: completionTokens },
        total_tokens: promptTokens + completionTokens,
      })),
    })
  },
)

type Row = { calls: number; promptTokens: number; completionTokens: number; totalTokens: number }

const sumsOf = ({ calls, promptTokens, completionTokens, totalTokens }: Row) => ({
  ...{ calls, prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens },
})

/** China has one time zone and no daylight saving time. */
const BEIJING_MS = 8 * 3_600_000

const beijingDay = (at: number): string => new Date(at + BEIJING_MS).toISOString().slice(0, 10)

function beginOf(period: Period, today: string): number {
  if (period === 'all') return 0
  const day = period === 'today' ? today : `${today.slice(0, 7)}-01`
  return Date.parse(`${day}T00:00:00Z`) - BEIJING_MS
}

export { app as usageDashboard }
