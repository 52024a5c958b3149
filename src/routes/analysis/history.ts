import { z } from '@hono/zod-openapi'
import { renderMarkdown } from '../../analysis/report/render/markdown.ts'
import { MarketPhaseSummary } from '../../analysis/schemas.ts'
import { type AnalysisItem, deleteAnalyses, listAnalyses } from '../../db/analyses.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'
import { historyAccuracy } from './history-accuracy.ts'
import { keyOf, period, periodQuery } from './history-filters.ts'
import { historyPages } from './history-pages.ts'
import { readRecord, recordMissing, recordParams, recordUnreadable, summaryOf } from './history-record.ts'
import { historyStocks } from './history-stocks.ts'
import { refused } from './refusals.ts'
import { AnalysisReport, HistoryListResponse } from './schemas.ts'

const app = router(analysisEnvelope)
const tag = 'Analysis history'
const params = recordParams
// Fixed words of the path come before the id of a record, which may be any.
for (const part of [historyStocks, historyAccuracy, historyPages]) app.route('/', part)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/history',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Finished analyses, newest first',
    query: z.object({
      stock_code: z.string().optional(),
      report_type: z.string().optional(),
      ...periodQuery,
      page: laxInt({ min: 1, max: 1_000_000 }).default(1),
      limit: laxInt({ min: 1, max: 100 }).default(20),
    }),
    replies: { 200: { description: 'One page', schema: HistoryListResponse } },
  },
  async (c, { query }) => {
    const { page, limit } = query
    const { total, items } = await listAnalyses(c.env.DB, {
      owner: c.get('principal').owner,
      key: await keyOf(c.env, query.stock_code),
      reportType: query.report_type || null,
      ...period(query),
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
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Delete records by the ids of their rows',
    body: { schema: z.object({ record_ids: z.array(laxInt({ min: 0 })).max(1_000) }), required: true },
    replies: {
      200: { description: 'How many there were', schema: z.object({ deleted: z.int() }) },
      400: { description: 'No ids' },
    },
  },
  async (c, { body }) => {
    if (body.record_ids.length === 0) {
      throw refused(c, ({ noRecords }) => noRecords, { word: 'invalid_request' })
    }
    return c.json({ deleted: await deleteAnalyses(c.env.DB, c.get('principal').owner, body.record_ids) })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/history/{record_id}',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'A stored report',
    params,
    replies: { 200: { description: 'The report', schema: AnalysisReport }, ...recordMissing },
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
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'A stored report as Markdown',
    params,
    replies: {
      200: { description: 'The text', schema: z.object({ content: z.string() }) },
      ...recordMissing,
      ...recordUnreadable,
    },
  },
  async (c, { params: { record_id } }) => {
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    return c.json({ content: renderMarkdown(report, summaryOf(stored)) })
  },
)

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
    data_checks: item.dataChecks,
  }
}

export { app as history }
