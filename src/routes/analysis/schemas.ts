// The JSON shapes of the analysis family, with the names in its document. Reports and flows are defined elsewhere; here
// they only get their names.

import { z } from '@hono/zod-openapi'
import * as flow from '../../analysis/flow/run-flow.ts'
import type { ReportLanguage } from '../../analysis/schemas.ts'
import * as reports from '../../analysis/schemas.ts'
import { TaskState } from '../../analysis/task.ts'
import { findingText } from '../../analysis/texts/findings.ts'
import { laxBool } from '../../lib/lax.ts'
import type { Consistency } from '../../market/consistency/examine.ts'
import { CHECKS, type Finding, type Touch } from '../../market/consistency/types.ts'

// The fields of a price or of bars that a check is about. `data_checks` names the checks for readers; this names the
// figures, for programs that show only some of them.

const VERDICTS = ['fail', 'warn', 'not_possible'] as const
type MarkVerdict = (typeof VERDICTS)[number]

const FieldCheck = z
  .object({
    check: z.enum(CHECKS).describe('The check that speaks'),
    verdict: z.enum(VERDICTS).describe('`not_possible`: nothing at hand can tell whether the figures are right'),
    fields: z.array(z.string()).describe('The fields of this answer that it speaks of; of bars, those of each bar'),
    date: z.string().nullable().describe('The day of which it speaks; null where it speaks of none'),
    text: z.string().describe('The check with what it found'),
  })
  .openapi('FieldCheck')
type FieldCheck = z.infer<typeof FieldCheck>

type FieldsOf = Partial<Record<Touch, readonly string[]>>

/** A quote contains no past average or range. */
export const QUOTE_FIELDS: FieldsOf = {
  price: ['current_price', 'open', 'high', 'low', 'prev_close'],
  change: ['change', 'change_percent'],
  volume: ['volume', 'amount'],
}

/** A change between two bars is computed from their prices. */
const BAR_PRICES = ['open', 'high', 'low', 'close', 'change_percent']
export const BAR_FIELDS: FieldsOf = {
  price: BAR_PRICES,
  change: ['change_percent'],
  averages: BAR_PRICES,
  range: BAR_PRICES,
  levels: BAR_PRICES,
  volume: ['volume', 'amount'],
}

type Figures = Readonly<Record<string, unknown>>
type CheckedFields = { fields: FieldsOf; rows: readonly Figures[]; language: ReportLanguage }

/** The worst first. A field without a figure in any row is left out. */
export function fieldChecks({ findings }: Consistency, { fields, rows, language }: CheckedFields): FieldCheck[] {
  const isTold = (field: string) => rows.some((row) => row[field] !== null && row[field] !== undefined)
  const markOf = (finding: Finding, verdict: MarkVerdict): FieldCheck[] => {
    const touched = new Set(finding.touches.flatMap((touch) => fields[touch] ?? []))
    const named = [...touched].filter(isTold)
    const { check, date } = finding
    return named.length === 0 ? [] : [{ check, verdict, fields: named, date, text: findingText(finding, language) }]
  }
  return VERDICTS.flatMap((verdict) => {
    return findings.filter((one) => one.verdict === verdict).flatMap((finding) => markOf(finding, verdict))
  })
}

const MAX_ENTRIES = 1_000
const MAX_TEXT = 1_000

const skills = z.array(z.string().max(100)).max(50).nullish()
const language = reports.ReportLanguage.nullish()

export const AnalyzeRequest = z
  .object({
    stock_code: z.string().nullish(),
    stock_codes: z.array(z.string()).max(MAX_ENTRIES).nullish(),
    stock_name: z.string().max(MAX_TEXT).nullish(),
    original_query: z.string().max(MAX_TEXT).nullish(),
    selection_source: z.string().max(100).nullish(),
    report_type: z.enum(['simple', 'detailed', 'full', 'brief']).default('detailed'),
    analysis_phase: z.enum(['auto', 'premarket', 'intraday', 'postmarket']).default('auto'),
    force_refresh: laxBool().default(false),
    notify: laxBool().default(true),
    async_mode: laxBool().default(false),
    confirm: laxBool().default(false),
    skills,
    strategies: skills.describe('Another name of `skills`'),
    report_language: language,
    reportLanguage: language.describe('Another name of `report_language`'),
  })
  .openapi('AnalyzeRequest')
export type AnalyzeRequest = z.infer<typeof AnalyzeRequest>

export const AnalysisReport = reports.AnalysisReport.extend({
  meta: reports.ReportMeta.extend({}).openapi('ReportMeta'),
  summary: reports.ReportSummary.extend({}).openapi('ReportSummary'),
  strategy: reports.ReportStrategy.extend({}).openapi('ReportStrategy').nullable(),
  details: reports.ReportDetails.extend({}).openapi('ReportDetails').nullable(),
}).openapi('AnalysisReport')

export const AnalysisResultResponse = reports.AnalysisResultResponse.extend({
  report: AnalysisReport,
  diagnostic_summary: reports.DiagnosticSummary.extend({}).openapi('DiagnosticSummary').nullable(),
}).openapi('AnalysisResultResponse')
export type AnalysisResultResponse = reports.AnalysisResultResponse

export const TaskAccepted = z
  .object({
    task_id: z.string(),
    trace_id: z.string(),
    status: z.literal('pending'),
    message: z.string(),
    reading: z.string().optional(),
    analysis_phase: z.string(),
    /** Only for a waiting client: always false, because no finished task has this answer. */
    finished: z.literal(false).optional(),
    progress: z.int().optional(),
  })
  .openapi('TaskAccepted')

export const TaskInfo = z
  .object({
    task_id: z.string(),
    trace_id: z.string(),
    stock_code: z.string(),
    stock_name: z.string().nullable(),
    status: TaskState,
    progress: z.int(),
    message: z.string().nullable(),
    report_type: z.string(),
    report_language: z.string().nullable().describe('As it was asked for; null for what the service is set to'),
    created_at: z.string(),
    started_at: z.string().nullable(),
    completed_at: z.string().nullable(),
    error: z.string().nullable(),
    original_query: z.string().nullable(),
    reading: z.string().nullable(),
    selection_source: z.string().nullable(),
    analysis_phase: z.string().nullable(),
    skills: z.array(z.string()).nullable(),
    region: z.string().nullable(),
  })
  .openapi('TaskInfo')

export const BatchTaskAcceptedResponse = z
  .object({
    accepted: z.array(TaskAccepted.extend({ stock_code: z.string() }).openapi('BatchTaskAcceptedItem')),
    duplicates: z.array(
      z
        .object({ stock_code: z.string(), existing_task_id: z.string(), message: z.string() })
        .openapi('BatchDuplicateTaskItem'),
    ),
    message: z.string(),
    /** Both only for a waiting client. */
    finished: z.boolean().optional(),
    tasks: z.array(TaskInfo).optional(),
  })
  .openapi('BatchTaskAcceptedResponse')

export const DuplicateTaskErrorResponse = z
  .object({
    error: z.literal('duplicate_task'),
    message: z.string(),
    stock_code: z.string(),
    existing_task_id: z.string(),
  })
  .openapi('DuplicateTaskErrorResponse')

export const TaskListResponse = z
  .object({ total: z.int(), pending: z.int(), processing: z.int(), tasks: z.array(TaskInfo) })
  .openapi('TaskListResponse')

export const TaskStatus = z
  .object({
    task_id: z.string(),
    trace_id: z.string(),
    status: TaskState,
    progress: z.int(),
    result: AnalysisResultResponse.nullable(),
    market_review_report: z.string().nullable(),
    market_review_payload: z.record(z.string(), z.unknown()).nullable(),
    region: z.string().nullable(),
    error: z.string().nullable(),
    stock_name: z.string().nullable(),
    original_query: z.string().nullable(),
    reading: z.string().nullable(),
    selection_source: z.string().nullable(),
    analysis_phase: z.string().nullable(),
    skills: z.array(z.string()).nullable(),
  })
  .openapi('TaskStatus')
export type TaskStatus = z.infer<typeof TaskStatus>

export const RunFlowSnapshot = flow.RunFlowSnapshot.extend({
  summary: flow.FlowSummary.extend({}).openapi('RunFlowSummary'),
  lanes: z.array(flow.FlowLane.extend({}).openapi('RunFlowLane')),
  nodes: z.array(flow.FlowNode.extend({}).openapi('RunFlowNode')),
  edges: z.array(flow.FlowEdge.extend({}).openapi('RunFlowEdge')),
  events: z.array(flow.FlowEvent.extend({}).openapi('RunFlowEvent')),
}).openapi('RunFlowSnapshot')

export const HistoryItem = z
  .object({
    id: z.int(),
    query_id: z.string(),
    stock_code: z.string(),
    stock_name: z.string().nullable(),
    report_type: z.string(),
    region: z.string().nullable(),
    trend_prediction: z.string().nullable(),
    analysis_summary: z.string().nullable(),
    sentiment_score: z.int().nullable(),
    operation_advice: z.string().nullable(),
    action: z.string().nullable(),
    action_label: z.string().nullable(),
    current_price: z.number().nullable(),
    change_pct: z.number().nullable(),
    volume_ratio: z.number().nullable(),
    turnover_rate: z.number().nullable(),
    model_used: z.string().nullable(),
    market_phase_summary: reports.MarketPhaseSummary.extend({}).openapi('MarketPhaseSummary').nullable(),
    created_at: z.string(),
    data_notice: z.string().nullable(),
    data_checks: z.string().nullable(),
  })
  .openapi('HistoryItem')

export const HistoryListResponse = z
  .object({ total: z.int(), page: z.int(), limit: z.int(), items: z.array(HistoryItem) })
  .openapi('HistoryListResponse')

export const StockQuote = z
  .object({
    stock_code: z.string(),
    stock_name: z.string().nullable(),
    current_price: z.number(),
    change: z.number(),
    change_percent: z.number(),
    open: z.number().nullable(),
    high: z.number().nullable(),
    low: z.number().nullable(),
    prev_close: z.number(),
    volume: z.number().nullable(),
    amount: z.number().nullable(),
    update_time: z.string().nullable(),
    data_notice: z.string().nullable(),
    data_checks: z.string().nullable(),
    field_checks: z.array(FieldCheck),
  })
  .openapi('StockQuote')

export const StockHistory = z
  .object({
    stock_code: z.string(),
    stock_name: z.string().nullable(),
    period: z.enum(['daily', 'weekly', 'monthly']),
    data: z.array(
      z
        .object({
          date: z.string(),
          open: z.number(),
          high: z.number(),
          low: z.number(),
          close: z.number(),
          volume: z.number(),
          amount: z.number().nullable(),
          change_percent: z.number().nullable(),
        })
        .openapi('KLineData'),
    ),
    data_notice: z.string().nullable(),
    data_checks: z.string().nullable(),
    field_checks: z.array(FieldCheck),
  })
  .openapi('StockHistoryResponse')
