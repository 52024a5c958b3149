import { diagnosticsOf, reportOf } from '../../analysis/run-record.ts'
import type { Task } from '../../analysis/task.ts'
import type { StoredAnalysis } from '../../db/analyses.ts'
import { diagnosticSummary, type StoredDiagnostics } from '../../reports/diagnostics.ts'
import type { AnalysisReport } from '../../reports/report.ts'
import type { AnalysisResultResponse } from './schemas.ts'

export function resultOf(report: AnalysisReport, diagnostics: StoredDiagnostics | null): AnalysisResultResponse {
  const { meta } = report
  return {
    query_id: meta.query_id,
    trace_id: meta.query_id,
    stock_code: meta.stock_code,
    stock_name: meta.stock_name,
    report,
    diagnostic_summary: diagnosticSummary(diagnostics, meta.report_language),
    created_at: meta.created_at,
  }
}

/** The result as history tells it, or null when the stored report cannot be read. */
export function storedResult(stored: StoredAnalysis): AnalysisResultResponse | null {
  const report = reportOf(stored)
  return report && resultOf(report, diagnosticsOf(stored))
}

/** The result of a task that the queue still knows: live, so under the request's own word and without a row's id. */
export function liveResult(stored: StoredAnalysis, task: Task): AnalysisResultResponse | null {
  const report = reportOf(stored)
  if (report === null) return null
  const meta = { ...report.meta, id: null, report_type: task.request.reportType }
  return resultOf({ ...report, meta }, diagnosticsOf(stored))
}
