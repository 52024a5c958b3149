// The parts of one stored record (its news, diagnostics and flow), and its report for display: a page, its chart, and
// the image that the web client shares.

import { z } from '@hono/zod-openapi'
import { chartsOf, reviewOf } from '../../analysis/market-review/record.ts'
import { reportOf } from '../../analysis/report/record.ts'
import { inDark } from '../../analysis/report/render/dark-chart.ts'
import { renderMarkdown } from '../../analysis/report/render/markdown.ts'
import * as reports from '../../analysis/schemas.ts'
import { findAnalysis } from '../../db/analyses.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../lib/lax.ts'
import { NewsItem } from '../../news/article.ts'
import {
  findRecord,
  flowOf,
  readRecord,
  recordMissing,
  recordParams,
  recordUnreadable,
  summaryOf,
} from './history-record.ts'
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

const html = { description: 'The page', contentType: 'text/html', schema: z.string() }

const PAGE_EXAMPLE = '<!doctype html><title>600519</title>'

/** A page is shared as an image; a longer report does not fit. */
const MAX_SHARED_CHARACTERS = 15_000

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/history/{record_id}/html',
    summary: 'A stored report as a page of HTML with its chart',
    example: { reply: PAGE_EXAMPLE },
    replies: { 200: html, ...recordMissing, ...recordUnreadable },
  },
  async (c, { params: { record_id } }) => {
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    const { renderHtml, REPORT_PAGE_POLICY } = await import('../../analysis/report/render/html.ts')
    return page(renderHtml(report, summaryOf(stored)), REPORT_PAGE_POLICY)
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/history/{record_id}/chart.svg',
    summary: 'The chart of a stored report: candles, averages, levels and volume; of a market review its indices',
    query: z.object({
      region: z.string().max(20).optional().describe('Of a review of several markets: which of them'),
      theme: z.enum(['light', 'dark']).default('light'),
    }),
    example: { reply: '<svg xmlns="http://www.w3.org/2000/svg"></svg>' },
    replies: {
      200: { description: 'The chart', contentType: 'image/svg+xml', schema: z.string() },
      ...recordMissing,
      ...recordUnreadable,
    },
  },
  async (c, { params: { record_id }, query: { region, theme } }) => {
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    const { reportChart } = await import('../../analysis/report/render/html.ts')
    const charts = chartsOf(stored)
    const chart = reportChart(report) ?? (region === undefined ? [...charts.values()][0] : charts.get(region)) ?? null
    if (chart === null) throw new AppError('not_found', 'This record has no chart')
    // An image that is opened directly is a document: it may not load or run anything.
    return new Response(theme === 'dark' ? inDark(chart) : chart, {
      headers: { 'content-type': 'image/svg+xml', 'content-security-policy': "default-src 'none'; sandbox" },
    })
  },
)

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/history/{record_id}/share-image-html',
    summary: 'The page of a report that is short enough to be shared as a picture',
    example: { reply: PAGE_EXAMPLE },
    replies: {
      200: html,
      ...recordMissing,
      413: { description: 'The report is too long' },
      ...recordUnreadable,
    },
  },
  async (c, { params: { record_id } }) => {
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    const summary = summaryOf(stored)
    const size = renderMarkdown(report, summary).length
    if (size > MAX_SHARED_CHARACTERS) {
      const message = `The report has ${size} characters, more than the ${MAX_SHARED_CHARACTERS} that fit a picture`
      throw new AppError('payload_too_large', message, { word: 'share_image_too_large' })
    }
    const { renderHtml, REPORT_PAGE_POLICY } = await import('../../analysis/report/render/html.ts')
    return page(renderHtml(report, summary), REPORT_PAGE_POLICY)
  },
)

const FONT = '/fonts/noto-sans-cjk-sc.otf.br'

endpoint(
  app,
  {
    ...common,
    limit: 'writes',
    path: '/api/v1/history/{record_id}/share-image',
    summary: 'The card of a report as a picture (PNG, 1080 × 1350)',
    query: z.object({ theme: z.enum(['light', 'dark']).default('light') }),
    example: { reply: 'the bytes of a picture' },
    replies: {
      200: { description: 'The picture', contentType: 'image/png', schema: z.string() },
      ...recordMissing,
      503: { description: 'The font of the pictures is not there' },
      ...recordUnreadable,
    },
  },
  async (c, { params: { record_id }, query: { theme } }) => {
    const { report, stored } = await readRecord(c.env.DB, c.get('principal').owner, record_id)
    const { renderCard } = await import('../../analysis/report/render/card.ts')
    const { pngOf } = await import('../../analysis/report/render/lazy/picture.ts')
    const png = await pngOf(renderCard(report, theme, reviewOf(stored).payload), async () => {
      const file = await c.env.ASSETS.fetch(new Request(new URL(FONT, c.req.url)))
      return file.ok ? new Uint8Array(await file.arrayBuffer()) : null
    })
    if (png === null) {
      throw new AppError('unavailable', 'No picture is made here; take share-image-html or chart.svg', {
        word: 'share_image_unavailable',
      })
    }
    return new Response(png, {
      headers: {
        'content-type': 'image/png',
        'content-disposition': `inline; filename="${report.meta.stock_code.replace(/[^\w.-]/g, '_')}.png"`,
        // A stored report does not change, but may be deleted.
        'cache-control': 'private, max-age=300',
      },
    })
  },
)

function page(body: string, policy: string): Response {
  return new Response(body, {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  })
}

export { app as historyPages }
