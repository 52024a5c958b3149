import { z } from '@hono/zod-openapi'
import { diagnosticsOf, reportOf } from '../../analysis/run-record.ts'
import {
  type AnalysisItem,
  deleteAnalyses,
  findAnalysis,
  listAnalyses,
  type StoredAnalysis,
} from '../../db/analyses.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt, valueError } from '../../http/validation.ts'
import { isoMicros } from '../../lib/clock.ts'
import { currentNames } from '../../market/names/store.ts'
import { resolveInput } from '../../market/resolve.ts'
import { diagnosticSummary } from '../../reports/diagnostics.ts'
import { renderMarkdown } from '../../reports/markdown.ts'
import { MarketPhaseSummary, type AnalysisReport as Report } from '../../reports/report.ts'
import { AnalysisReport, ErrorResponse, HistoryListResponse } from './schemas.ts'

const app = router(analysisEnvelope)
const tag = 'Analysis history'
const params = z.object({ record_id: z.string().describe('The id of the row, or the task or query id') })
const notFound = { 404: { description: 'No such record', schema: ErrorResponse } }

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/history',
    tag,
    summary: 'Finished analyses, newest first',
    query: z.object({
      stock_code: z.string().optional(),
      report_type: z.string().optional(),
      start_date: z.string().optional().describe('YYYY-MM-DD, the first day, in China Standard Time'),
      end_date: z.string().optional().describe('YYYY-MM-DD, the last day, in China Standard Time'),
      page: laxInt({ min: 1, max: 1_000_000 }).default(1),
      limit: laxInt({ min: 1, max: 100 }).default(20),
    }),
    replies: { 200: { description: 'One page', schema: HistoryListResponse } },
  },
  async (c, { query }) => {
    const { page, limit } = query
    const from = dayStart(query.start_date, 'start_date')
    const last = dayStart(query.end_date, 'end_date')
    const { total, items } = await listAnalyses(c.env.DB, {
      owner: c.get('principal').owner,
      key: await keyOf(c.env, query.stock_code),
      reportType: query.report_type || null,
      from: from === null ? null : isoMicros(from),
      until: last === null ? null : isoMicros(last + DAY_MS),
      limit,
      offset: (page - 1) * limit,
    })
    return c.json({ total, page, limit, items: items.map(itemOf) })
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path: '/api/v1/history',
    tag,
    summary: 'Delete records by the ids of their rows',
    body: { schema: z.object({ record_ids: z.array(laxInt({ min: 0 })).max(1_000) }), required: true },
    replies: {
      200: { description: 'How many there were', schema: z.object({ deleted: z.int() }) },
      400: { description: 'No ids', schema: ErrorResponse },
    },
  },
  async (c, { body }) => {
    if (body.record_ids.length === 0) {
      throw new AppError('bad_request', 'record_ids is empty', { word: 'invalid_request' })
    }
    return c.json({ deleted: await deleteAnalyses(c.env.DB, c.get('principal').owner, body.record_ids) })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/history/{record_id}',
    tag,
    summary: 'A stored report',
    params,
    replies: { 200: { description: 'The report', schema: AnalysisReport }, ...notFound },
  },
  async (c, { params: { record_id } }) => {
    const { report } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    return c.json(report)
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/history/{record_id}/markdown',
    tag,
    summary: 'A stored report as Markdown',
    params,
    replies: {
      200: { description: 'The text', schema: z.object({ content: z.string() }) },
      ...notFound,
      500: { description: 'The stored report cannot be read', schema: ErrorResponse },
    },
  },
  async (c, { params: { record_id } }) => {
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    const summary = diagnosticSummary(diagnosticsOf(stored), report.meta.report_language)
    return c.json({ content: renderMarkdown(report, summary) })
  },
)

async function readRecord(
  db: D1Database,
  owner: string,
  id: string,
): Promise<{ report: Report; stored: StoredAnalysis }> {
  const stored = await findAnalysis(db, owner, id)
  if (stored === null) throw new AppError('not_found', 'No such record')
  const report = reportOf(stored)
  if (report === null) {
    throw new AppError('declared_failure', 'The stored report cannot be read', { word: 'generation_failed' })
  }
  return { report, stored }
}

function itemOf(item: AnalysisItem) {
  const phase = item.marketPhaseSummary === null ? null : JSON.parse(item.marketPhaseSummary)
  return {
    id: item.id,
    query_id: item.queryId,
    stock_code: item.stockCode,
    stock_name: item.stockName,
    report_type: item.reportType,
    region: item.region,
    trend_prediction: item.trendPrediction,
    analysis_summary: item.analysisSummary,
    sentiment_score: item.sentimentScore,
    operation_advice: item.operationAdvice,
    action: item.action,
    action_label: item.actionLabel,
    current_price: item.currentPrice,
    change_pct: item.changePct,
    volume_ratio: item.volumeRatio,
    turnover_rate: item.turnoverRate,
    model_used: item.modelUsed,
    market_phase_summary: MarketPhaseSummary.safeParse(phase).data ?? null,
    created_at: item.createdAt,
    data_notice: item.dataNotice,
  }
}

/** Any spelling of a listing finds its records; what is no listing is looked for as it stands. */
async function keyOf(env: Env, stockCode: string | undefined): Promise<string | null> {
  const text = stockCode?.trim() ?? ''
  if (text === '') return null
  const resolution = resolveInput(text, await currentNames(stockNameStore(env.DB)))
  return resolution?.ok ? resolution.instrument.key : text.toUpperCase()
}

const DAY_MS = 24 * 3600 * 1000
/** Clients name days as China counts them, whatever zone they are in. */
const ZONE = '+08:00'

function dayStart(date: string | undefined, name: string): number | null {
  if (date === undefined || date === '') return null
  const at = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00${ZONE}`) : Number.NaN
  if (Number.isNaN(at)) throw valueError(['query', name], 'a date like 2026-08-14 is wanted', date)
  return at
}

export { app as history }
