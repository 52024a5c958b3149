import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { DEFAULT_SKILL, listSkills } from '../../analysis/judge/skills.ts'
import type { TaskRequest } from '../../analysis/request.ts'
import { ReportLanguage } from '../../analysis/schemas.ts'
import { textsOf } from '../../analysis/texts/book.ts'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { currentNames, type NameIndex } from '../../kits/market-names/index.ts'
import { hexId } from '../../lib/crypto.ts'
import { errorFields, log } from '../../lib/log.ts'
import { type Resolved, resolveEntries } from '../../market/resolve.ts'
import {
  AnalysisResultResponse,
  AnalyzeRequest,
  BatchTaskAcceptedResponse,
  DuplicateTaskErrorResponse,
  TaskAccepted,
} from './schemas.ts'
import { tooManyAnalyses } from './too-many-analyses.ts'
import { unclearNames } from './unclear-names.ts'

const MAX_STOCKS = 50
/** From the end of a run until its answer is out. */
const CLOSING_MS = 60_000
/** Sources of a selection whose words belong to every task of the batch. */
const BATCH_SOURCES: readonly (string | null | undefined)[] = ['import', 'image']

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/analysis/analyze',
    scope: 'analysis',
    limit: 'analyses',
    bodyLimit: 'standard',
    tag: 'Analysis',
    summary: 'Analyse one stock at once, or queue one task for each of up to 50',
    body: { schema: AnalyzeRequest, required: true },
    replies: {
      200: { description: 'The finished analysis (`async_mode` false)', schema: AnalysisResultResponse },
      202: {
        description: 'Queued: one task, or a batch when several stocks were given',
        schema: z.union([TaskAccepted, BatchTaskAcceptedResponse]),
      },
      400: { description: 'No usable stock, too many, or several in synchronous mode' },
      409: { description: 'The stock is being analysed already', schema: DuplicateTaskErrorResponse },
      422: { description: 'A value of the wrong type or outside its range' },
      429: { description: 'Too many unfinished tasks, or too many analyses on this day' },
      500: { description: 'The analysis produced no result' },
    },
  },
  async (c, { body }) => {
    const names = await currentNames(stockNameStore(c.env.DB))
    const requests = requestsOf(body, { configured: config(c.env).reportLanguage, names })
    const [only, ...others] = requests
    if (!only) throw new AppError('bad_request', 'No stock code is left: every entry is blank')
    if (body.async_mode) return others.length === 0 ? submitOne(c, only) : submitBatch(c, requests)
    if (others.length > 0) {
      throw new AppError('bad_request', 'Several stocks need async_mode: true; synchronous mode takes exactly one')
    }
    return analyzeOne(c, only)
  },
)

/** One request for each distinct stock. The order of the checks is part of the interface. */
function requestsOf(
  body: AnalyzeRequest,
  { configured, names }: { configured: TaskRequest['language']; names: NameIndex },
): TaskRequest[] {
  const entries = [...(body.stock_code ? [body.stock_code] : []), ...(body.stock_codes ?? [])]
  if (entries.length === 0) throw new AppError('bad_request', 'Give stock_code or stock_codes')
  const { targets, rejected } = resolveEntries(entries, names, { confirm: body.confirm })
  if (rejected.length > 0) throw unclearNames(rejected, body.report_language ?? body.reportLanguage ?? configured)
  if (targets.length > MAX_STOCKS) {
    throw new AppError('bad_request', `${targets.length} stocks are too many: one request takes at most ${MAX_STOCKS}`)
  }
  const isSingle = targets.length === 1
  const batch = isSingle ? null : hexId()
  return targets.map((target) => requestOf(body, target, { isSingle, batch, configured }))
}

type Circumstances = { isSingle: boolean; batch: string | null; configured: TaskRequest['language'] }

function requestOf(
  body: AnalyzeRequest,
  target: Resolved,
  { isSingle, batch, configured }: Circumstances,
): TaskRequest {
  const keepsWords = isSingle || BATCH_SOURCES.includes(body.selection_source)
  const reportLanguage = body.report_language ?? body.reportLanguage ?? null
  return {
    kind: 'analysis',
    key: target.instrument.key,
    stockCode: target.stockCode,
    stockName: isSingle ? (body.stock_name ?? null) : null,
    reportType: body.report_type,
    analysisPhase: body.analysis_phase,
    language: reportLanguage ?? configured,
    reportLanguage,
    skills: body.skills ?? body.strategies ?? null,
    originalQuery: keepsWords ? (body.original_query ?? null) : null,
    reading: readingOf(target, reportLanguage ?? configured),
    selectionSource: keepsWords ? (body.selection_source ?? null) : null,
    forceRefresh: body.force_refresh,
    notify: body.notify,
    region: null,
    priority: isSingle ? 'interactive' : 'batch',
    batch,
    channels: null,
  }
}

/** How an entry was read that somebody confirmed; null where nothing had to be read. */
function readingOf({ readFrom, listing, instrument }: Resolved, language: TaskRequest['language']): string | null {
  if (readFrom === null) return null
  const name = (language === 'zh' ? listing?.zh : listing?.en) || listing?.zh || instrument.key
  return textsOf(language).task.reading(readFrom, name, instrument.key)
}

function acceptedText({ stockCode, language, reading }: TaskRequest): string {
  const accepted = textsOf(language).task.accepted(stockCode)
  return reading === null ? accepted : `${accepted}${language === 'zh' ? '；' : '; '}${reading}`
}

/** Only an entry that had to be read has it. */
const readingField = ({ reading }: TaskRequest) => (reading === null ? {} : { reading })

async function submit(c: Context<AppEnv>, requests: TaskRequest[]) {
  const answer = await taskQueue(c.env).submit(c.get('principal').owner, requests)
  if (answer.ok) return answer.results
  throw tooManyAnalyses(answer, requests.length)
}

async function submitOne(c: Context<AppEnv>, request: TaskRequest): Promise<Response> {
  const say = textsOf(request.language).task
  const [result] = await submit(c, [request])
  if (!result?.accepted) {
    const extra = { stock_code: request.stockCode, existing_task_id: result?.taskId }
    throw new AppError('duplicate_task', say.duplicate(request.stockCode), { extra })
  }
  const { id } = result.task
  return c.json(
    {
      task_id: id,
      trace_id: id,
      status: 'pending' as const,
      message: acceptedText(request),
      ...readingField(request),
      analysis_phase: request.analysisPhase,
    },
    202,
  )
}

async function submitBatch(c: Context<AppEnv>, requests: TaskRequest[]): Promise<Response> {
  const say = textsOf(requests[0]?.language ?? config(c.env).reportLanguage).task
  const results = await submit(c, requests)
  const accepted = results.flatMap((result) => (result.accepted ? [result.task] : []))
  const duplicates = results.flatMap((result) => (result.accepted ? [] : [result]))
  return c.json(
    {
      accepted: accepted.map(({ id, request }) => ({
        task_id: id,
        trace_id: id,
        stock_code: request.stockCode,
        status: 'pending' as const,
        message: acceptedText(request),
        ...readingField(request),
        analysis_phase: request.analysisPhase,
      })),
      duplicates: duplicates.map(({ stockCode, taskId }) => ({
        stock_code: stockCode,
        existing_task_id: taskId,
        message: say.duplicate(stockCode),
      })),
      message: say.batch(accepted.length, duplicates.length),
    },
    202,
  )
}

/** A synchronous run: no task, no events, never a duplicate; it counts, and its report is stored, like any other. */
async function analyzeOne(c: Context<AppEnv>, request: TaskRequest): Promise<Response> {
  const { taskTimeoutMs } = config(c.env)
  const queryId = hexId()
  const until = Date.now() + taskTimeoutMs + CLOSING_MS
  const full = await taskQueue(c.env).beginDirect(c.get('principal').owner, queryId, until)
  if (full !== null) throw tooManyAnalyses(full)
  try {
    return await runOne(c, request, queryId)
  } finally {
    c.executionCtx.waitUntil(endDirect(c, queryId))
  }
}

async function runOne(c: Context<AppEnv>, request: TaskRequest, queryId: string): Promise<Response> {
  const { owner } = c.get('principal')
  const answer = await c.env.ANALYSIS_RUNNER.analyze({ owner, queryId, taskId: null, attempt: 1, request })
  if (!answer.ok) throw new AppError('analysis_failed', answer.message)
  if (request.notify && answer.saved) await tell(c, queryId)
  return c.json(JSON.parse(answer.result) as AnalysisResultResponse)
}

/** Should the call be lost, the run counts until its time is over. */
async function endDirect(c: Context<AppEnv>, queryId: string): Promise<void> {
  try {
    await taskQueue(c.env).endDirect(queryId)
  } catch (error) {
    log.warn('analysis.end_not_told', { queryId, ...errorFields(error) })
  }
}

/** Has the news sent that was saved with the report. Should the call be lost, the cron trigger makes it. */
async function tell(c: Context<AppEnv>, queryId: string): Promise<void> {
  try {
    await taskQueue(c.env).notify([])
  } catch (error) {
    log.warn('notify.not_asked', { queryId, ...errorFields(error) })
  }
}

// The strategies that `skills` of an analysis may name.

const SkillsResponse = z
  .object({
    skills: z.array(z.object({ id: z.string(), name: z.string(), description: z.string() }).openapi('SkillInfo')),
    default_skill_id: z.string(),
  })
  .openapi('SkillsResponse')

const Query = z.object({ language: ReportLanguage.optional().describe('The configured one by default') })

const spec = {
  method: 'get',
  scope: 'analysis',
  limit: 'reads',
  bodyLimit: 'standard',
  tag: 'Analysis',
  query: Query,
  replies: { 200: { description: 'In the order in which they are offered', schema: SkillsResponse } },
} as const

const answer = (c: Context<AppEnv>, { language }: z.infer<typeof Query>): Response =>
  c.json({ skills: listSkills(language ?? config(c.env).reportLanguage), default_skill_id: DEFAULT_SKILL })

endpoint(
  app,
  { ...spec, path: '/api/v1/agent/skills', summary: 'The strategies that an analysis can weigh' },
  (c, { query }) => answer(c, query),
)

endpoint(
  app,
  {
    ...spec,
    path: '/api/v1/agent/strategies',
    summary: 'Another name of /api/v1/agent/skills',
    deprecated: true,
  },
  (c, { query }) => answer(c, query),
)

export { app as analyze }
