import { z } from '@hono/zod-openapi'
import { part, type RestTool, recordId, restTool } from './rest-tool.ts'

const MAX_STOCKS = 50

const searchStocks = restTool(
  {
    name: 'search_stocks',
    title: 'Search stocks',
    description: 'Stocks of China, Hong Kong, the US, Japan, Korea and Taiwan by code, name, pinyin or alias.',
    input: z.strictObject({
      query: z.string().min(1).max(100),
      limit: z.int().min(1).max(50).default(10),
      language: z.enum(['zh', 'en', 'ko']).nullish(),
    }),
    call: ({ query: q, limit, language }) => ({
      method: 'GET',
      path: '/api/v1/stocks/search',
      query: { q, limit, language },
    }),
  },
  true,
)

const submitAnalysis = restTool(
  {
    name: 'submit_analysis',
    title: 'Analyse stocks',
    description: 'Queues an analysis of each stock and answers with the ids of the tasks; see get_task and get_report.',
    input: z.strictObject({
      stocks: z.array(z.string().min(1)).min(1).max(MAX_STOCKS).describe('Codes or names'),
      report_type: z.enum(['simple', 'detailed', 'full', 'brief']).default('detailed'),
      report_language: z.enum(['zh', 'en', 'ko']).nullish(),
      force_refresh: z.boolean().default(false).describe('Whether to fetch market data anew'),
    }),
    call: ({ stocks, ...rest }) => ({
      method: 'POST',
      path: '/api/v1/analysis/analyze',
      body: { stock_codes: stocks, async_mode: true, ...rest },
    }),
  },
  false,
)

const getTask = restTool(
  {
    name: 'get_task',
    title: 'State of an analysis',
    description: 'How far an analysis is, and its result once it is completed.',
    input: z.strictObject({ task_id: recordId }),
    call: (args) => ({ method: 'GET', path: `/api/v1/analysis/status/${part(args.task_id)}` }),
  },
  true,
)

const getReport = restTool(
  {
    name: 'get_report',
    title: 'Read a report',
    description: 'The report of a completed analysis, as Markdown.',
    input: z.strictObject({ record_id: recordId.describe('The task id, or the id of the record') }),
    call: (args) => ({ method: 'GET', path: `/api/v1/history/${part(args.record_id)}/markdown` }),
    text: (answer) => z.object({ content: z.string() }).parse(answer).content,
  },
  true,
)

export const ANALYSIS_TOOLS: readonly RestTool[] = [searchStocks, submitAnalysis, getTask, getReport]
