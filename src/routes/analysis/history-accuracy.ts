// The outcome of the owner's past advice.

import { z } from '@hono/zod-openapi'
import { type Advised, accuracyOf, advisedSession, CALM_PCT } from '../../analysis/judge/accuracy.ts'
import { marketDataOf } from '../../analysis/market-data.ts'
import { Action } from '../../analysis/schemas.ts'
import { type PastAdvice, pastAdvice } from '../../db/analyses.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { laxInt } from '../../lib/lax.ts'
import { errorFields, log } from '../../lib/log.ts'
import type { Bar } from '../../market/bars.ts'
import { examinePrices } from '../../market/consistency/examine.ts'
import { parseCode } from '../../market/instruments.ts'
import type { MarketData } from '../../market/providers/index.ts'
import { keyOf } from './history-record.ts'

const app = router(analysisEnvelope)

const HorizonResult = z
  .object({
    horizon: z.int().describe('Sessions after the advice'),
    count: z.int().describe('Advices old enough to be measured'),
    hits: z.int(),
    hit_rate: z.number().nullable(),
    hit_rate_low: z.number().nullable().describe('Lower end of the 95 % interval (Wilson)'),
    hit_rate_high: z.number().nullable(),
    average_return_pct: z.number().nullable(),
    median_return_pct: z.number().nullable(),
  })
  .openapi('AccuracyHorizon')

const AccuracyResponse = z
  .object({
    total: z.int().describe('Reports that were looked at; those made from samples are not'),
    pending: z.int().describe('Reports too young for the shortest horizon'),
    unmeasured: z.int().describe('Reports whose later bars could not be had, or failed a consistency check'),
    stocks: z.int(),
    calm_pct: z.number().describe('hold, watch and alert count as right within this move'),
    is_small_sample: z.boolean().describe('Fewer than 30 measured: the rates say little'),
    overall: z.array(HorizonResult),
    by_action: z.array(z.object({ action: Action, horizons: z.array(HorizonResult) }).openapi('AccuracyByAction')),
    notes: z.array(z.string()),
  })
  .openapi('AccuracyResponse')

const DAY_MS = 86_400_000
const MOST_REPORTS = 500
/** Each listing may cause a request to a source. */
const MOST_STOCKS = 40
const SMALL_SAMPLE = 30

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/analysis/history/accuracy',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Analysis history',
    summary: 'How past advice turned out after 5, 10 and 20 sessions',
    query: z.object({
      stock_code: z.string().optional(),
      days: laxInt({ min: 1, max: 365 }).default(180).describe('How far back'),
    }),
    replies: { 200: { description: 'Hit rates and returns by action', schema: AccuracyResponse } },
  },
  async (c, { query }) => {
    const advices = await pastAdvice(c.env.DB, {
      owner: c.get('principal').owner,
      key: await keyOf(c.env, query.stock_code),
      from: isoMicros(Date.now() - query.days * DAY_MS),
      limit: MOST_REPORTS,
    })
    const keys = [...new Set(advices.map(({ key }) => key))]
    const bars = await barsOf(await marketDataOf(c.env), keys.slice(0, MOST_STOCKS))
    const advised = advices.flatMap((advice) => advisedOf(advice, bars))
    const { total, ...accuracy } = accuracyOf(advised)
    return c.json({
      total: advices.length,
      unmeasured: advices.length - total,
      stocks: keys.length,
      calm_pct: CALM_PCT,
      is_small_sample: (accuracy.overall[0]?.count ?? 0) < SMALL_SAMPLE,
      ...accuracy,
      notes: notesOf({ reports: advices.length, stocks: keys.length, unmeasured: advices.length - total }),
    })
  },
)

const BARS = 400
/** The bars are fetched for a few listings at a time. */
const AT_A_TIME = 4

async function barsOf(market: MarketData, keys: readonly string[]): Promise<Map<string, Bar[]>> {
  const found = new Map<string, Bar[]>()
  for (let i = 0; i < keys.length; i += AT_A_TIME) {
    await Promise.all(
      keys.slice(i, i + AT_A_TIME).map(async (key) => {
        const bars = await barsOfOne(market, key)
        if (bars !== null) found.set(key, bars)
      }),
    )
  }
  return found
}

async function barsOfOne(market: MarketData, key: string): Promise<Bar[] | null> {
  const parsed = parseCode(key)
  if (!parsed.ok) return null
  try {
    const fetched = await market.bars(parsed.instrument, { count: BARS })
    // Real advice is not measured with sample data, nor with bars that failed a check.
    if (!fetched.ok || fetched.provenance !== null) return null
    const nobody = { ok: false as const, runs: [] }
    const prices = { bars: fetched, quote: nobody }
    const { bars, consistency } = examinePrices(parsed.instrument, prices, { dividends: null, now: Date.now() })
    return consistency.isBlocked ? null : bars
  } catch (error) {
    log.warn('accuracy.bars_failed', { key, ...errorFields(error) })
    return null
  }
}

const Phase = z.object({ effective_daily_bar_date: z.string().nullable(), session_date: z.string().nullable() })

function advisedOf(advice: PastAdvice, bars: ReadonlyMap<string, Bar[]>): Advised[] {
  const action = Action.safeParse(advice.action)
  const series = bars.get(advice.key)
  if (!action.success || series === undefined) return []
  const stored = advice.marketPhaseSummary === null ? null : JSON.parse(advice.marketPhaseSummary)
  const phase = Phase.safeParse(stored).data
  const lastOver = phase?.effective_daily_bar_date ?? phase?.session_date ?? advice.createdAt.slice(0, 10)
  const date = advisedSession(advice.key, advice.createdAt, lastOver) ?? lastOver
  return [{ action: action.data, date, bars: series }]
}

function notesOf({ reports, stocks, unmeasured }: { reports: number; stocks: number; unmeasured: number }): string[] {
  return [
    ...(reports >= MOST_REPORTS ? [`only the newest ${MOST_REPORTS} reports are looked at`] : []),
    ...(stocks > MOST_STOCKS ? [`only ${MOST_STOCKS} of ${stocks} stocks are measured`] : []),
    ...(unmeasured > 0
      ? [`${unmeasured} reports could not be measured for want of later bars that pass the checks`]
      : []),
    'returns are between closes, before costs; past advice says nothing about the next',
  ]
}

export { app as historyAccuracy }
