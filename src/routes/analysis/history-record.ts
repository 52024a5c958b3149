// What all answers about one stored record have in common.

import { z } from '@hono/zod-openapi'
import { historyFlow } from '../../analysis/flow/history.ts'
import { diagnosticSummary } from '../../analysis/report/diagnostics.ts'
import { diagnosticsOf, reportOf } from '../../analysis/report/record.ts'
import { type AnalysisReport, type DiagnosticSummary, ReportLanguage } from '../../analysis/schemas.ts'
import { REVIEW_CODE } from '../../analysis/task.ts'
import { findAnalysis, type StoredAnalysis } from '../../db/analyses.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import { AppError } from '../../http/errors.ts'
import { valueError } from '../../http/validation.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { resolveInput } from '../../market/resolve.ts'

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

/** The flow of a finished run, from its stored data. */
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

export const periodQuery = {
  start_date: z.string().optional().describe('YYYY-MM-DD, the first day, in China Standard Time'),
  end_date: z.string().optional().describe('YYYY-MM-DD, the last day, in China Standard Time'),
}

const DAY_MS = 24 * 3600 * 1000

/** The days of a query as times: from the start of the first to the end of the last. */
export function period(query: { start_date?: string | undefined; end_date?: string | undefined }) {
  const from = dayStart(query.start_date, 'start_date')
  const last = dayStart(query.end_date, 'end_date')
  return {
    from: from === null ? null : isoMicros(from),
    until: last === null ? null : isoMicros(last + DAY_MS),
  }
}

/** Clients send days in China's time zone, whatever their own is. */
const ZONE = '+08:00'

function dayStart(date: string | undefined, name: string): number | null {
  if (date === undefined || date === '') return null
  const at = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00${ZONE}`) : Number.NaN
  if (Number.isNaN(at)) throw valueError(['query', name], 'a date like 2026-08-14 is wanted', date)
  return at
}

/** Records can be found with any form of a listing's code; other text is searched unchanged. */
export async function keyOf(env: Env, stockCode: string | undefined): Promise<string | null> {
  const text = stockCode?.trim() ?? ''
  if (text === '') return null
  const resolution = resolveInput(text, await currentNames(stockNameStore(env.DB)))
  return resolution?.ok ? resolution.instrument.key : text.toUpperCase()
}
