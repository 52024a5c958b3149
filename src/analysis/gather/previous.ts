// The report before this one, reduced to what a new one is compared with.

import { z } from 'zod'
import { ADVICES, type Advice, type DecisionType } from '../codes.ts'
import type { AnalysisReport } from '../schemas.ts'

export type PreviousReport = {
  queryId: string
  createdAt: string
  /** Of its last bar. */
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

/** Null when the stored report does not have what a comparison needs. */
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
