// The parts of a stored report that a rendering shows, read from its free-form fields. Older rows and those of other
// origins may lack any of them: a missing or malformed part is not shown.

import { z } from 'zod'
import type { AnalysisReport } from '../../schemas.ts'
import { TrendAnalysis } from '../trend-analysis.ts'

const Text = z.string().nullable().catch(null)
const Texts = z.array(z.string()).catch([])

const Context = z.object({
  enhanced_context: z
    .object({
      date: Text,
      currency: z.enum(['CNY', 'HKD', 'USD', 'JPY', 'KRW', 'TWD', 'points']).nullable().catch(null),
      price_decimals: z.int().min(0).max(8).catch(2),
      trend_analysis: TrendAnalysis.nullable().catch(null),
      realtime: z.object({ volume_ratio_desc: Text }).nullish().catch(null),
    })
    .catch({ date: null, currency: null, price_decimals: 2, trend_analysis: null }),
})

const Finding = z.object({
  name: z.string(),
  verdict_label: z.string(),
  met: Texts,
  unmet: Texts,
  unknown: Texts,
})

const Position = z.object({ no_position: Text, has_position: Text })

const Comment = z.object({
  notice: z.string(),
  contradiction: Text,
  sentences: z.array(
    z.object({ text: z.string(), mark: z.enum(['doubtful', 'undecidable']).nullable(), cites: z.array(z.int()) }),
  ),
  evidence: z.array(z.object({ n: z.int(), text: z.string() })),
})

/** One of the parts that compare the listing with its market. */
const LabelledText = z.object({ label: z.string(), text: z.string() }).nullish().catch(null)

const Raw = z.object({
  confidence_level: Text,
  evidence: z.object({ text: Text }).nullish().catch(null),
  horizons: z.object({ text: Text }).nullish().catch(null),
  trade_plan: z.object({ text: Text }).nullish().catch(null),
  market_comparison: LabelledText,
  liquidity: LabelledText,
  company_dates: LabelledText,
  peer_multiples: LabelledText,
  guardrail_reason: Text,
  fundamental_analysis: Text.optional().catch(null),
  capital_flow_summary: Text.optional().catch(null),
  sector_position: Text.optional().catch(null),
  chip_summary: Text.optional().catch(null),
  news_summary: Text.optional().catch(null),
  market_sentiment: Text.optional().catch(null),
  short_term_outlook: Text.optional().catch(null),
  model_comment: Comment.nullish().catch(null),
  medium_term_outlook: Text.optional().catch(null),
  changes_since_previous: z.object({ sentences: Texts }).nullish().catch(null),
  strategy_synthesis: z
    .object({ findings: z.array(Finding) })
    .nullish()
    .catch(null),
  dashboard: z
    .object({
      core_conclusion: z.object({ one_sentence: Text, position_advice: Position }),
      intelligence: z.object({ risk_alerts: Texts, positive_catalysts: Texts }),
      battle_plan: z.object({
        position_strategy: z.object({ suggested_position: Text, entry_plan: Text, risk_control: Text }),
      }),
      phase_decision: z.object({ immediate_action: Text, data_limitations: Texts }),
    })
    .nullable()
    .catch(null),
})

const Headline = z.object({ title: z.string(), source: Text, publishedAt: Text, dimension: z.string() })
const Snapshot = z.object({ news_items: z.array(Headline).catch([]) }).catch({ news_items: [] })
const MOST_HEADLINES = 5

export type ReportView = {
  date: string | null
  currency: z.infer<typeof Context>['enhanced_context']['currency']
  decimals: number
  trend: TrendAnalysis | null
  confidence: string | null
  evidence: string | null
  horizons: string | null
  tradePlan: string | null
  /** Index, liquidity, dates, peers: also if nothing is known. */
  beside: { label: string; text: string }[]
  /** Why there is no volume ratio, if a reason is known. */
  volumeRatioNote: string | null
  oneSentence: string | null
  guardReason: string | null
  catalysts: string[]
  risks: string[]
  /** Plan lines by their heading. */
  plan: { noPosition: string | null; hasPosition: string | null; entry: string | null; risk: string | null }
  limitations: string[]
  /** Facts about the company. */
  company: string[]
  news: string[]
  /** Third-party text, to be quoted. */
  headlines: z.infer<typeof Headline>[]
  outlook: string[]
  /** The model's text with its author. */
  comment: z.infer<typeof Comment> | null
  changes: string[]
  strategies: z.infer<typeof Finding>[]
}

export function reportView({ details }: AnalysisReport): ReportView {
  const context = Context.catch({ enhanced_context: Context.shape.enhanced_context.parse(null) }).parse(
    details?.context_snapshot,
  ).enhanced_context
  const raw = Raw.catch({ confidence_level: null, guardrail_reason: null, dashboard: null }).parse(details?.raw_result)
  const told = (...texts: (string | null | undefined)[]) => texts.flatMap((text) => (text ? [text] : []))
  return {
    date: context.date,
    currency: context.currency,
    decimals: context.price_decimals,
    trend: context.trend_analysis,
    confidence: raw.confidence_level,
    evidence: raw.evidence?.text ?? null,
    horizons: raw.horizons?.text ?? null,
    tradePlan: raw.trade_plan?.text ?? null,
    beside: [raw.market_comparison, raw.liquidity, raw.company_dates, raw.peer_multiples].flatMap((part) => part ?? []),
    volumeRatioNote: context.realtime?.volume_ratio_desc ?? null,
    guardReason: raw.guardrail_reason,
    ...ofDashboard(raw),
    company: told(raw.fundamental_analysis, raw.capital_flow_summary, raw.sector_position, raw.chip_summary),
    news: told(raw.news_summary, raw.market_sentiment),
    // News about the industry may concern other companies, so nothing about this listing follows from them.
    headlines: Snapshot.parse(details?.context_snapshot)
      .news_items.filter(({ dimension }) => dimension !== 'industry')
      .slice(0, MOST_HEADLINES),
    comment: raw.model_comment ?? null,
    outlook: told(raw.short_term_outlook, raw.medium_term_outlook),
    changes: raw.changes_since_previous?.sentences ?? [],
    strategies: raw.strategy_synthesis?.findings ?? [],
  }
}

type OfDashboard = Pick<ReportView, 'oneSentence' | 'catalysts' | 'risks' | 'plan' | 'limitations'>

function ofDashboard({ dashboard }: z.infer<typeof Raw>): OfDashboard {
  const strategy = dashboard?.battle_plan.position_strategy
  const position = dashboard?.core_conclusion.position_advice
  return {
    oneSentence: dashboard?.core_conclusion.one_sentence ?? null,
    catalysts: dashboard?.intelligence.positive_catalysts ?? [],
    risks: dashboard?.intelligence.risk_alerts ?? [],
    plan: {
      noPosition: position?.no_position ?? null,
      hasPosition: position?.has_position ?? null,
      entry: strategy?.entry_plan ?? null,
      risk: strategy?.risk_control ?? null,
    },
    limitations: dashboard?.phase_decision.data_limitations ?? [],
  }
}
