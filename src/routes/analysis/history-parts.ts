// Parts of one stored record: its news, its diagnostics, its flow.

import { z } from '@hono/zod-openapi'
import { reportOf } from '../../analysis/report/record.ts'
import * as reports from '../../analysis/schemas.ts'
import { findAnalysis } from '../../db/analyses.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'
import { NewsItem } from '../../news/article.ts'
import { findRecord, flowOf, recordMissing, recordParams, summaryOf } from './history-record.ts'
import { RunFlowSnapshot } from './schemas.ts'

const app = router(analysisEnvelope)
const common = {
  method: 'get',
  scope: 'analysis',
  limit: 'reads',
  bodyLimit: 'standard',
  tag: 'Analysis history',
  params: recordParams,
} as const

const NewsIntelResponse = z
  .object({
    total: z.int(),
    items: z.array(
      z
        .object({
          title: z.string(),
          snippet: z.string().describe('At most 200 characters'),
          url: z.string(),
          source: z.string().nullable(),
          published_at: z.string().nullable(),
          dimension: z.string(),
        })
        .openapi('NewsIntelItem'),
    ),
  })
  .openapi('NewsIntelResponse')

const Snapshot = z.object({ news_items: z.array(NewsItem).catch([]) })
const MAX_SNIPPET = 200

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/history/{record_id}/news',
    summary: 'The news that a report was made with; empty for an unknown record too',
    query: z.object({ limit: laxInt({ min: 1, max: 100 }).default(20) }),
    replies: { 200: { description: 'The news', schema: NewsIntelResponse } },
  },
  async (c, { params: { record_id }, query: { limit } }) => {
    const stored = await findAnalysis(c.env.DB, c.get('principal').owner, record_id)
    const report = stored && reportOf(stored)
    const items = Snapshot.safeParse(report?.details?.context_snapshot).data?.news_items ?? []
    const shown = items.slice(0, limit).map(({ title, snippet, url, source, publishedAt, dimension }) => {
      return { title, snippet: snippet.slice(0, MAX_SNIPPET), url, source, published_at: publishedAt, dimension }
    })
    return c.json({ total: items.length, items: shown })
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/history/{record_id}/diagnostics',
    summary: 'What the run of a report went through',
    replies: {
      200: { description: 'The summary', schema: reports.DiagnosticSummary.extend({}).openapi('DiagnosticSummary') },
      ...recordMissing,
    },
  },
  async (c, { params: { record_id } }) => {
    return c.json(summaryOf(await findRecord(c.env.DB, c.get('principal').owner, record_id)))
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/history/{record_id}/flow',
    summary: 'The flow of the run of a report',
    replies: { 200: { description: 'The flow', schema: RunFlowSnapshot }, ...recordMissing },
  },
  async (c, { params: { record_id } }) => {
    return c.json(flowOf(await findRecord(c.env.DB, c.get('principal').owner, record_id)))
  },
)

export { app as historyParts }
