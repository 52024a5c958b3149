// What every answer about one stored record has in common.

import { z } from '@hono/zod-openapi'
import { historyFlow } from '../../analysis/flow/history.ts'
import { diagnosticSummary } from '../../analysis/report/diagnostics.ts'
import { diagnosticsOf, reportOf } from '../../analysis/report/record.ts'
import { REVIEW_CODE } from '../../analysis/request.ts'
import { type AnalysisReport, type DiagnosticSummary, ReportLanguage } from '../../analysis/schemas.ts'
import { findAnalysis, type StoredAnalysis } from '../../db/analyses.ts'
import { AppError } from '../../http/errors.ts'

export const recordParams = z.object({ record_id: z.string().describe('The id of the row, or the task or query id') })
export const recordMissing = { 404: { description: 'No such record' } }
export const recordUnreadable = { 500: { description: 'The stored report cannot be read' } }

export async function findRecord(db: D1Database, owner: string, id: string): Promise<StoredAnalysis> {
  const stored = await findAnalysis(db, owner, id)
  if (stored === null) throw new AppError('not_found', 'No such record')
  return stored
}

export async function readRecord(
  db: D1Database,
  owner: string,
  id: string,
): Promise<{ report: AnalysisReport; stored: StoredAnalysis }> {
  const stored = await findRecord(db, owner, id)
  const report = reportOf(stored)
  if (report === null) {
    throw new AppError('declared_failure', 'The stored report cannot be read', { word: 'generation_failed' })
  }
  return { report, stored }
}

export function summaryOf(stored: StoredAnalysis): DiagnosticSummary {
  return diagnosticSummary(diagnosticsOf(stored), languageOf(stored))
}

/** The flow of a finished run, from what is stored of it. */
export function flowOf(stored: StoredAnalysis) {
  return historyFlow({
    queryId: stored.queryId,
    stockCode: stored.stockCode,
    stockName: stored.stockName,
    language: languageOf(stored),
    isReview: stored.key === REVIEW_CODE,
    createdAt: stored.createdAt,
    diagnostics: diagnosticsOf(stored),
    overview: reportOf(stored)?.details?.analysis_context_pack_overview ?? null,
  })
}

const languageOf = ({ reportLanguage }: StoredAnalysis): ReportLanguage =>
  ReportLanguage.catch('zh').parse(reportLanguage)
