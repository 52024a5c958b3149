// What a new report uses from earlier ones: the previous report, reduced to what is compared, and the market's mood in
// the owner's newest market review.

import { z } from 'zod'
import { errorFields, log } from '../../lib/log.ts'
import { lastCompletedSession, localDate } from '../../market/calendar.ts'
import type { Market } from '../../market/instruments.ts'
import { ADVICES, type Advice, type DecisionType, type Mood } from '../codes.ts'
import type { AnalysisReport } from '../schemas.ts'

export type PreviousReport = {
  queryId: string
  createdAt: string
  /** The date of its last bar. */
  date: string | null
  price: number | null
  score: number
  advice: Advice
  type: DecisionType
  trend: string | null
  /** Points by part of the score. */
  parts: Record<string, number>
  /** Strategy levels by name. */
  levels: Record<string, number>
  isSample: boolean
}

const Raw = z.object({
  decision_type: z.enum(['buy', 'hold', 'sell']),
  advice_code: z.enum(ADVICES).catch('watch'),
  dashboard: z.object({
    battle_plan: z.object({ levels: z.array(z.object({ key: z.string(), price: z.number() })).catch([]) }),
  }),
})

const Context = z.object({
  enhanced_context: z.object({
    date: z.string().nullable(),
    trend_analysis: z
      .object({ trend_state: z.string(), score_parts: z.array(z.object({ key: z.string(), points: z.number() })) })
      .nullable()
      .catch(null),
  }),
})

/** Null when the stored report lacks what a comparison needs. */
export function previousOf({ meta, summary, details }: AnalysisReport): PreviousReport | null {
  const raw = Raw.safeParse(details?.raw_result)
  const context = Context.safeParse(details?.context_snapshot)
  if (!raw.success || !context.success) return null
  const { date, trend_analysis: trend } = context.data.enhanced_context
  return {
    queryId: meta.query_id,
    createdAt: meta.created_at,
    date,
    price: meta.current_price,
    score: summary.sentiment_score,
    advice: raw.data.advice_code,
    type: raw.data.decision_type,
    trend: trend?.trend_state ?? null,
    parts: Object.fromEntries((trend?.score_parts ?? []).map(({ key, points }) => [key, points])),
    levels: Object.fromEntries(raw.data.dashboard.battle_plan.levels.map(({ key, price }) => [key, price])),
    isSample: meta.data_notice !== null,
  }
}

const Light = z.object({
  region: z.string(),
  trade_date: z.string(),
  status: z.enum(['green', 'yellow', 'red']),
})
const Lights = z.union([z.array(Light), z.record(z.string(), Light).transform((lights) => Object.values(lights))])
const Snapshot = z.object({ market_light_snapshots: Lights })

const MOOD: Record<z.infer<typeof Light>['status'], Mood> = { green: 'risk_on', yellow: 'balanced', red: 'defensive' }

/** Null when there is no readable review of that market's latest session. */
export function moodOf(review: { contextSnapshot: string | null } | null, market: Market, now: number): Mood | null {
  const lights = lightsIn(review?.contextSnapshot ?? null)
  const light = lights.find(({ region }) => region === market)
  if (light === undefined) return null
  const isCurrent = light.trade_date >= lastCompletedSession(market, now) && light.trade_date <= localDate(market, now)
  return isCurrent ? MOOD[light.status] : null
}

function lightsIn(json: string | null): z.infer<typeof Light>[] {
  if (json === null) return []
  try {
    return Snapshot.safeParse(JSON.parse(json)).data?.market_light_snapshots ?? []
  } catch (error) {
    log.error('analysis.review_unreadable', errorFields(error))
    return []
  }
}
