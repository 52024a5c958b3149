import { z } from '@hono/zod-openapi'
import { withChartAddresses } from '../../analysis/market-review/record.ts'
import { renderMarkdown } from '../../analysis/report/render/markdown.ts'
import { MarketPhaseSummary } from '../../analysis/schemas.ts'
import {
  type AnalysisItem,
  deleteAnalyses,
  deleteByKey,
  type ListingItem,
  listAnalyses,
  newestByListing,
} from '../../db/analyses.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../lib/lax.ts'
import { historyAccuracy } from './history-accuracy.ts'
import { historyPages } from './history-pages.ts'
import {
  keyOf,
  period,
  periodQuery,
  readRecord,
  recordMissing,
  recordParams,
  recordUnreadable,
  summaryOf,
} from './history-record.ts'
import { refusalError } from './refusals.ts'
import { AnalysisReport, HistoryItem, HistoryListResponse } from './schemas.ts'

// History by listing: one row for each, and the deletion of all records of one.

const historyStocks = router(analysisEnvelope)
const tag = 'Analysis history'

const StockBarItem = HistoryItem.pick({
  id: true,
  stock_code: true,
  stock_name: true,
  report_type: true,
  sentiment_score: true,
  operation_advice: true,
  action: true,
  action_label: true,
  model_used: true,
  market_phase_summary: true,
  data_notice: true,
  data_checks: true,
})
  .extend({ analysis_count: z.int(), last_analysis_time: z.string() })
  .openapi('StockBarItem')

const StockBarResponse = z.object({ total: z.int(), items: z.array(StockBarItem) }).openapi('StockBarResponse')

endpoint(
  historyStocks,
  {
    method: 'get',
    path: '/api/v1/history/stocks',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One row for each listing that has reports: its newest one',
    query: z.object({ ...periodQuery, limit: laxInt({ min: 1, max: 500 }).default(200) }),
    replies: { 200: { description: 'The listings, the newest report first', schema: StockBarResponse } },
  },
  async (c, { query }) => {
    const { owner } = c.get('principal')
    const { total, items } = await newestByListing(c.env.DB, { owner, ...period(query), limit: query.limit })
    return c.json({ total, items: items.map(stockItemOf) })
  },
)

endpoint(
  historyStocks,
  {
    method: 'delete',
    path: '/api/v1/history/by-code/{code}',
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Delete every report of a listing, whichever way its code is spelled',
    params: z.object({ code: z.string() }),
    replies: { 200: { description: 'How many there were', schema: z.object({ deleted: z.int() }) } },
  },
  async (c, { params: { code } }) => {
    const key = await keyOf(c.env, code)
    return c.json({ deleted: key === null ? 0 : await deleteByKey(c.env.DB, c.get('principal').owner, key) })
  },
)

function stockItemOf(item: ListingItem): z.infer<typeof StockBarItem> {
  const phase = item.marketPhaseSummary === null ? null : JSON.parse(item.marketPhaseSummary)
  return {
    id: item.id,
    stock_code: item.stockCode,
    stock_name: item.stockName,
    report_type: item.reportType,
    sentiment_score: item.sentimentScore,
    operation_advice: item.operationAdvice,
    action: item.action,
    action_label: item.actionLabel,
    analysis_count: item.analysisCount,
    last_analysis_time: item.createdAt,
    model_used: item.modelUsed,
    market_phase_summary: MarketPhaseSummary.safeParse(phase).data ?? null,
    data_notice: item.dataNotice,
    data_checks: item.dataChecks,
  }
}

export { historyStocks }

const app = router(analysisEnvelope)
const params = recordParams
// Fixed path segments are registered before record ids, which may be any text.
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
      throw refusalError(c, ({ noRecords }) => noRecords, { word: 'invalid_request' })
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
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    return c.json(withChartAddresses(report, stored))
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
    return c.json(withChartAddresses({ content: renderMarkdown(report, summaryOf(stored)) }, stored))
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
