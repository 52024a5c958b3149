// The report in its wire and stored form. Every modelled field is always present, null when there is no value;
// free-form parts (`raw_result`, `context_snapshot`) may grow without a change of the schema.

import { z } from 'zod'
import type { Provenance } from '../market/bars.ts'

export const ReportLanguage = z.enum(['zh', 'en', 'ko'])
export type ReportLanguage = z.infer<typeof ReportLanguage>

export const Action = z.enum(['buy', 'add', 'hold', 'reduce', 'sell', 'watch', 'avoid', 'alert'])
export type Action = z.infer<typeof Action>

export const MarketPhaseSummary = z.object({
  market: z.enum(['cn', 'hk', 'us', 'jp', 'kr', 'tw']).nullable(),
  phase: z.enum(['premarket', 'intraday', 'lunch_break', 'closing_auction', 'postmarket', 'non_trading', 'unknown']),
  market_local_time: z.string().nullable(),
  session_date: z.string().nullable(),
  effective_daily_bar_date: z.string().nullable(),
  is_trading_day: z.boolean().nullable(),
  is_market_open_now: z.boolean().nullable(),
  is_partial_bar: z.boolean().nullable(),
  minutes_to_open: z.int().nullable(),
  minutes_to_close: z.int().nullable(),
  trigger_source: z.string().nullable(),
  analysis_intent: z.string().nullable(),
  warnings: z.array(z.string()),
})
export type MarketPhaseSummary = z.infer<typeof MarketPhaseSummary>

/** The origin of figures that are not live market data. */
const DataProvenance = z.object({
  kind: z.enum(['historical', 'synthetic']),
  label: z.string(),
  ends_on: z.string(),
})
type DataProvenance = z.infer<typeof DataProvenance>

/** The origin of figures in the report's form; null for market data. */
export function wireProvenance(provenance: Provenance | null): DataProvenance | null {
  return provenance && { kind: provenance.kind, label: provenance.label, ends_on: provenance.endsOn }
}

export const ReportMeta = z.object({
  id: z.int().nullable(),
  query_id: z.string(),
  stock_code: z.string(),
  stock_name: z.string().nullable(),
  report_type: z.enum(['simple', 'detailed', 'full', 'brief', 'market_review']),
  report_language: ReportLanguage,
  created_at: z.string(),
  current_price: z.number().nullable(),
  change_pct: z.number().nullable(),
  model_used: z.string().nullable(),
  market_phase_summary: MarketPhaseSummary.nullable(),
  data_notice: z.string().nullable().describe('Says in words that the figures are sample data; null for a real market'),
  data_provenance: DataProvenance.nullable(),
  data_checks: z
    .string()
    .nullable()
    .default(null)
    .describe('Names the consistency checks that failed or warn, with their figures; null where none does'),
  reading: z.string().nullable().default(null),
})
export type ReportMeta = z.infer<typeof ReportMeta>

export const ReportSummary = z.object({
  analysis_summary: z.string(),
  operation_advice: z.string(),
  action: Action.nullable(),
  action_label: z.string().nullable(),
  trend_prediction: z.string(),
  sentiment_score: z.int().min(0).max(100),
  sentiment_label: z.string().nullable(),
})
export type ReportSummary = z.infer<typeof ReportSummary>

export const ReportStrategy = z.object({
  ideal_buy: z.string().nullable(),
  secondary_buy: z.string().nullable(),
  stop_loss: z.string().nullable(),
  take_profit: z.string().nullable(),
})
export type ReportStrategy = z.infer<typeof ReportStrategy>

const BLOCK_KEYS = ['quote', 'daily_bars', 'technical', 'chip', 'fundamentals', 'news'] as const

export const ContextBlock = z.object({
  key: z.enum([...BLOCK_KEYS, 'portfolio']),
  label: z.string(),
  status: z.enum([
    'available',
    'missing',
    'not_supported',
    'fallback',
    'stale',
    'estimated',
    'partial',
    'fetch_failed',
  ]),
  source: z.string().nullable(),
  warnings: z.array(z.string()),
  missing_reasons: z.array(z.string()),
})
export type ContextBlock = z.infer<typeof ContextBlock>

export const ContextPackOverview = z.object({
  pack_version: z.string(),
  created_at: z.string(),
  subject: z.object({ code: z.string(), stock_name: z.string().nullable(), market: z.string() }),
  blocks: z.array(ContextBlock),
  counts: z.record(z.string(), z.int()),
  data_quality: z.object({
    overall_score: z.int(),
    plausibility: z.int().nullable().default(null).describe('Whether the figures can be true, 0 to 100'),
    presence: z.int().nullable().default(null).describe('How much of the evidence is there, 0 to 100'),
    level: z.enum(['good', 'usable', 'limited', 'poor']),
    block_scores: z.record(z.string(), z.int()),
    limitations: z.array(z.string()),
  }),
  warnings: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
})
export type ContextPackOverview = z.infer<typeof ContextPackOverview>

const FreeForm = z.record(z.string(), z.unknown())
const Rankings = z.object({ top: z.array(FreeForm), bottom: z.array(FreeForm), status: z.string().optional() })

export const ReportDetails = z.object({
  news_content: z.string().nullable(),
  empty_news_disclosure: z.string().nullable(),
  raw_result: FreeForm.nullable(),
  context_snapshot: FreeForm.nullable(),
  analysis_context_pack_overview: ContextPackOverview.nullable(),
  financial_report: FreeForm.nullable(),
  dividend_metrics: FreeForm.nullable(),
  belong_boards: z.array(FreeForm).nullable(),
  sector_rankings: Rankings.nullable(),
  concept_rankings: Rankings.nullable(),
  market_structure: FreeForm.nullable(),
})
export type ReportDetails = z.infer<typeof ReportDetails>

export const AnalysisReport = z.object({
  meta: ReportMeta,
  summary: ReportSummary,
  strategy: ReportStrategy.nullable(),
  details: ReportDetails.nullable(),
})
export type AnalysisReport = z.infer<typeof AnalysisReport>

export const DiagnosticComponent = z.object({
  key: z.string(),
  label: z.string(),
  status: z.enum(['ok', 'degraded', 'failed', 'unknown', 'not_configured', 'skipped']),
  message: z.string(),
  details: FreeForm.optional(),
})
export type DiagnosticComponent = z.infer<typeof DiagnosticComponent>

export const DiagnosticSummary = z.object({
  // Unknown identities are left out, as readers of this object expect.
  trace_id: z.string().optional(),
  task_id: z.string().optional(),
  query_id: z.string().optional(),
  stock_code: z.string().optional(),
  trigger_source: z.string().optional(),
  status: z.enum(['normal', 'degraded', 'failed', 'unknown']),
  status_label: z.string(),
  reason: z.string(),
  components: z.object({
    realtime_quote: DiagnosticComponent,
    daily_data: DiagnosticComponent,
    news: DiagnosticComponent,
    llm: DiagnosticComponent,
    notification: DiagnosticComponent,
    history: DiagnosticComponent,
  }),
  copy_text: z.string(),
})
export type DiagnosticSummary = z.infer<typeof DiagnosticSummary>

export const AnalysisResultResponse = z.object({
  query_id: z.string(),
  trace_id: z.string(),
  stock_code: z.string(),
  stock_name: z.string().nullable(),
  report: AnalysisReport,
  diagnostic_summary: DiagnosticSummary.nullable(),
  created_at: z.string(),
})
export type AnalysisResultResponse = z.infer<typeof AnalysisResultResponse>
