// History by listing: one row for each, and everything of one deleted.

import { z } from '@hono/zod-openapi'
import { MarketPhaseSummary } from '../../analysis/schemas.ts'
import { deleteByKey, type ListingItem, newestByListing } from '../../db/analyses.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'
import { keyOf, period, periodQuery } from './history-filters.ts'
import { HistoryItem } from './schemas.ts'

const app = router(analysisEnvelope)
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
  app,
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
    return c.json({ total, items: items.map(itemOf) })
  },
)

endpoint(
  app,
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

function itemOf(item: ListingItem): z.infer<typeof StockBarItem> {
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

export { app as historyStocks }
