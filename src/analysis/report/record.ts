// Converts a report to its stored form and back. The columns repeat what lists show; the report itself is stored as
// JSON, the data that it was made from in a separate column.

import { z } from 'zod'
import type { NewAnalysis, StoredAnalysis } from '../../db/analyses.ts'
import { errorFields, log } from '../../lib/log.ts'
import { StoredDiagnostics } from '../diagnostics.ts'
import { AnalysisReport } from '../schemas.ts'
import type { TaskRequest } from '../task.ts'
import { hasScore } from './consistency.ts'

export type Finished = { owner: string; request: TaskRequest; report: AnalysisReport; diagnostics: StoredDiagnostics }

/** Only these two are read from the snapshot. */
const Ratios = z.object({
  enhanced_context: z.object({
    realtime: z.object({ volume_ratio: z.number().nullable(), turnover_rate: z.number().nullable() }),
  }),
})

/** The history's words for report types: `detailed` and `full` are the same there. */
const STORED_TYPE = {
  simple: 'simple',
  brief: 'brief',
  detailed: 'full',
  full: 'full',
  market_review: 'market_review',
} as const

export function recordOf({ owner, request, report, diagnostics }: Finished): NewAnalysis {
  return {
    owner,
    ...columnsOf(report, request),
    ...bodiesOf(report),
    diagnostics: JSON.stringify({ ...diagnostics, history_runs: [savedMark(true)] }),
  }
}

/** What lists of the history show and search, besides the fields of the request. */
function columnsOf(report: AnalysisReport, request: TaskRequest) {
  const { meta, summary, details } = report
  const ratios = Ratios.safeParse(details?.context_snapshot).data?.enhanced_context.realtime
  return {
    queryId: meta.query_id,
    key: request.key ?? meta.stock_code,
    stockCode: meta.stock_code,
    stockName: meta.stock_name,
    reportType: STORED_TYPE[meta.report_type],
    reportLanguage: meta.report_language,
    region: request.region,
    analysisPhase: request.analysisPhase,
    originalQuery: request.originalQuery,
    selectionSource: request.selectionSource,
    skills: request.skills && JSON.stringify(request.skills),
    trendPrediction: summary.trend_prediction,
    analysisSummary: summary.analysis_summary,
    sentimentScore: hasScore(report) ? summary.sentiment_score : null,
    operationAdvice: summary.operation_advice,
    action: summary.action,
    actionLabel: summary.action_label,
    currentPrice: meta.current_price,
    changePct: meta.change_pct,
    volumeRatio: ratios?.volume_ratio ?? null,
    turnoverRate: ratios?.turnover_rate ?? null,
    modelUsed: meta.model_used,
    marketPhaseSummary: meta.market_phase_summary && JSON.stringify(meta.market_phase_summary),
    dataNotice: meta.data_notice,
    dataChecks: meta.data_checks,
    createdAt: meta.created_at,
  }
}

/** The report as it is stored, and separately the data that it was made from. */
function bodiesOf(report: AnalysisReport) {
  const { meta, details } = report
  const { diagnostics: _, ...snapshot } = details?.context_snapshot ?? {}
  const stored = {
    ...report,
    meta: { ...meta, report_type: STORED_TYPE[meta.report_type] },
    details: details && { ...details, context_snapshot: null },
  }
  return {
    report: JSON.stringify(stored),
    contextSnapshot: details?.context_snapshot ? JSON.stringify(snapshot) : null,
  }
}

/** The diagnostics' entry about saving. A record that can be read was saved. */
export const savedMark = (saved: boolean) => ({ report_saved: saved, metadata_saved: saved })

/** The report as it was saved, with its row's id; null when it cannot be read. */
export function reportOf(stored: StoredAnalysis): AnalysisReport | null {
  const parsed = AnalysisReport.safeParse(parseOrNull(stored.report))
  if (!parsed.success) return null
  const { meta, details, ...rest } = parsed.data
  const snapshot = Snapshot.safeParse(parseOrNull(stored.contextSnapshot)).data ?? null
  const diagnostics = diagnosticsOf(stored)
  const context_snapshot = snapshot && { ...snapshot, ...(diagnostics === null ? {} : { diagnostics }) }
  return { meta: { ...meta, id: stored.id }, ...rest, details: details && { ...details, context_snapshot } }
}

const Snapshot = z.record(z.string(), z.unknown())

/** The diagnostics of the run, or null. */
export function diagnosticsOf(stored: StoredAnalysis): StoredDiagnostics | null {
  const parsed = StoredDiagnostics.safeParse(parseOrNull(stored.diagnostics))
  if (!parsed.success) return null
  const history_runs = parsed.data.history_runs.map((run) => ({ ...run, analysis_history_id: stored.id }))
  return { ...parsed.data, history_runs }
}

const Skills = z.array(z.string())

export function skillsOf({ skills }: Pick<StoredAnalysis, 'skills'>): string[] | null {
  return Skills.safeParse(parseOrNull(skills)).data ?? null
}

/** A column with invalid JSON counts as empty; the rest of its record is still usable. */
function parseOrNull(json: string | null): unknown {
  if (json === null) return null
  try {
    return JSON.parse(json)
  } catch (error) {
    log.error('analysis.column_unreadable', errorFields(error))
    return null
  }
}
