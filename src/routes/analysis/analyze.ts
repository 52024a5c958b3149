import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { StoredDiagnostics } from '../../analysis/diagnostics.ts'
import { DEFAULT_SKILL, listSkills } from '../../analysis/judge/skills.ts'
import { resultOf } from '../../analysis/report/diagnostics.ts'
import { diagnosticsOf, reportOf } from '../../analysis/report/record.ts'
import { type AnalysisReport, ReportLanguage } from '../../analysis/schemas.ts'
import type { TaskRequest } from '../../analysis/task.ts'
import { textsOf } from '../../analysis/texts/book.ts'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { findByQueryId } from '../../db/analyses.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { idempotencyHeaders, keyedRequest, otherRequest } from '../../http/idempotency.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { currentNames, type NameIndex } from '../../kits/market-names/index.ts'
import { hexId } from '../../lib/crypto.ts'
import { errorFields, log } from '../../lib/log.ts'
import { nameIn } from '../../market/names/labels.ts'
import { type Resolved, resolveEntries } from '../../market/resolve.ts'
import { awaitTasks, waitSeconds } from './awaited.ts'
import { refusalError, tooManyAnalyses, unclearNames } from './refusals.ts'
import {
  AnalysisResultResponse,
  AnalyzeRequest,
  BatchTaskAcceptedResponse,
  DuplicateTaskErrorResponse,
  TaskAccepted,
} from './schemas.ts'

const MAX_STOCKS = 50
/** The time from the end of a run until its answer is complete. */
const CLOSING_MS = 60_000
/** Sources of a selection for which the original text belongs to every task of the batch. */
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
    headers: idempotencyHeaders,
    query: z.object({ wait: waitSeconds }),
    body: { schema: AnalyzeRequest, required: true },
    replies: {
      200: {
        description: 'The finished analysis: `async_mode` false, or one stock that was ready within `wait`',
        schema: AnalysisResultResponse,
      },
      202: {
        description: 'Queued: one task, or a batch when several stocks were given',
        schema: z.union([TaskAccepted, BatchTaskAcceptedResponse]),
      },
      400: { description: 'No usable stock, too many, or several in synchronous mode' },
      409: {
        description: 'The stock, or this very request, is being analysed already',
        schema: DuplicateTaskErrorResponse,
      },
      422: { description: 'A value of the wrong type or outside its range, or a key that names another request' },
      429: { description: 'Too many unfinished tasks, or too many analyses on this day' },
      500: { description: 'The analysis produced no result' },
    },
  },
  async (c, { body, query }) => {
    const names = await currentNames(stockNameStore(c.env.DB))
    const language = body.report_language ?? body.reportLanguage
    const requests = requestsOf(c, body, names)
    const [only, ...others] = requests
    if (!only) throw refusalError(c, ({ blank }) => blank, { language })
    const keyed = await keyedRequest(c, body)
    if (body.async_mode) {
      const answer = await (others.length === 0 ? submitOne(c, only, keyed) : submitBatch(c, requests, keyed))
      return query.wait === undefined ? answer : awaitTasks(c, answer, query.wait)
    }
    if (others.length > 0) throw refusalError(c, ({ several }) => several, { language })
    return analyzeOne(c, only, keyed)
  },
)

/** One request for each distinct stock. The order of the checks is part of the interface. */
function requestsOf(c: Context<AppEnv>, body: AnalyzeRequest, names: NameIndex): TaskRequest[] {
  const configured = config(c.env).reportLanguage
  const language = body.report_language ?? body.reportLanguage
  const entries = [...(body.stock_code ? [body.stock_code] : []), ...(body.stock_codes ?? [])]
  if (entries.length === 0) throw refusalError(c, ({ noStock }) => noStock, { language })
  const { targets, rejected } = resolveEntries(entries, names, { confirm: body.confirm })
  if (rejected.length > 0) throw unclearNames(rejected, language ?? callerLanguage(c))
  if (targets.length > MAX_STOCKS) {
    throw refusalError(c, (say) => say.tooMany(targets.length, MAX_STOCKS), { language })
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

type Wishes = Pick<AnalyzeRequest, 'analysis_phase' | 'force_refresh' | 'report_language'>

/** Queues the analysis of a listing in a portfolio. */
export async function analyzeHolding(c: Context<AppEnv>, target: Resolved, wishes: Wishes): Promise<Response> {
  const body = AnalyzeRequest.parse({ ...wishes, selection_source: 'portfolio' })
  const circumstances = { isSingle: true, batch: null, configured: config(c.env).reportLanguage }
  return submitOne(c, requestOf(body, target, circumstances), await keyedRequest(c, body))
}

/** How a confirmed entry was read; null if no interpretation was needed. */
function readingOf({ readFrom, listing, instrument }: Resolved, language: TaskRequest['language']): string | null {
  if (readFrom === null) return null
  const name = (listing && nameIn(listing, language ?? 'zh')) || instrument.key
  return textsOf(language).task.reading(readFrom, name, instrument.key)
}

function acceptedText({ stockCode, language, reading }: TaskRequest): string {
  const accepted = textsOf(language).task.accepted(stockCode)
  return reading === null ? accepted : `${accepted}${language === 'zh' ? '；' : '; '}${reading}`
}

/** Only entries that needed interpretation have it. */
const readingField = ({ reading }: TaskRequest) => (reading === null ? {} : { reading })

type Key = Awaited<ReturnType<typeof keyedRequest>>

async function submit(c: Context<AppEnv>, requests: TaskRequest[], keyed: Key) {
  const answer = await taskQueue(c.env).submit(c.get('principal').owner, requests, null, keyed)
  if (answer.ok) return answer.results
  if (answer.reason === 'other_request') throw otherRequest(c, sayOf(c, requests).keyReused)
  throw tooManyAnalyses(answer, requests.length)
}

const sayOf = (c: Context<AppEnv>, [first]: readonly TaskRequest[]) =>
  textsOf(first?.language ?? config(c.env).reportLanguage).task

async function submitOne(c: Context<AppEnv>, request: TaskRequest, keyed: Key): Promise<Response> {
  const say = sayOf(c, [request])
  const [result] = await submit(c, [request], keyed)
  if (!result?.accepted) {
    const extra = { stock_code: request.stockCode, existing_task_id: result?.taskId }
    throw new AppError('duplicate_task', say.duplicate(request.stockCode), { extra })
  }
  return c.json(acceptedTask(request, result.taskId), 202)
}

function acceptedTask(request: TaskRequest, id: string) {
  return {
    task_id: id,
    trace_id: id,
    status: 'pending' as const,
    message: acceptedText(request),
    ...readingField(request),
    analysis_phase: request.analysisPhase,
  }
}

async function submitBatch(c: Context<AppEnv>, requests: TaskRequest[], keyed: Key): Promise<Response> {
  const say = sayOf(c, requests)
  // One result for each request, in their order.
  const results = await submit(c, requests, keyed)
  const accepted = requests.flatMap((request, i) => {
    const result = results[i]
    const { stockCode } = request
    return result?.accepted ? [{ ...acceptedTask(request, result.taskId), stock_code: stockCode }] : []
  })
  const duplicates = results.filter((result) => !result.accepted)
  return c.json(
    {
      accepted,
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

/**
 * A synchronous run: no task, no events, never a duplicate; it counts towards the limits, and its report is stored,
 * like any other run.
 */
async function analyzeOne(c: Context<AppEnv>, request: TaskRequest, keyed: Key): Promise<Response> {
  const begun = await beginOne(c, request, keyed)
  if ('answer' in begun) return begun.answer
  try {
    return await runOne(c, request, begun.queryId)
  } finally {
    c.executionCtx.waitUntil(endDirect(c, begun.queryId))
  }
}

/** Runs an analysis, or returns the answer of the run that was started earlier with the request's key. */
async function beginOne(
  c: Context<AppEnv>,
  request: TaskRequest,
  keyed: Key,
): Promise<{ queryId: string } | { answer: Response }> {
  const { owner } = c.get('principal')
  const until = Date.now() + config(c.env).taskTimeoutMs + CLOSING_MS
  const begin = (id: string, key: Key) =>
    taskQueue(c.env).beginDirect(owner, { id, stockCode: request.stockCode, until, keyed: key })
  const queryId = hexId()
  const begun = await begin(queryId, keyed)
  if (begun.ok) return { queryId }
  const say = sayOf(c, [request])
  if (begun.reason === 'full') throw tooManyAnalyses(begun)
  if (begun.reason === 'other_request') throw otherRequest(c, say.keyReused)
  if (begun.isRunning) {
    const extra = { stock_code: request.stockCode, existing_task_id: begun.id }
    throw new AppError('duplicate_task', say.stillRunning(request.stockCode), { extra, headers: COME_BACK })
  }
  const stored = await findByQueryId(c.env.DB, owner, begun.id)
  const report = stored && reportOf(stored)
  if (stored !== null && report !== null)
    return { answer: c.json(storedResult(report, request, diagnosticsOf(stored))) }
  // The earlier run has no result, so it is repeated under its own id.
  const again = await begin(begun.id, null)
  if (!again.ok && again.reason === 'full') throw tooManyAnalyses(again)
  return { queryId: begun.id }
}

const COME_BACK = { 'retry-after': '5' }

/** A stored report in the form of the run's own answer: without a row id, and with the type given in the request. */
function storedResult(report: AnalysisReport, { reportType }: TaskRequest, diagnostics: StoredDiagnostics | null) {
  return resultOf({ ...report, meta: { ...report.meta, id: null, report_type: reportType } }, diagnostics)
}

async function runOne(c: Context<AppEnv>, request: TaskRequest, queryId: string): Promise<Response> {
  const { owner } = c.get('principal')
  const answer = await c.env.ANALYSIS_RUNNER.analyze({ owner, queryId, taskId: null, attempt: 1, request })
  if (!answer.ok) throw new AppError('analysis_failed', answer.message)
  if (request.notify && answer.saved) await tell(c, queryId)
  return c.json(JSON.parse(answer.result) as AnalysisResultResponse)
}

/** If the call fails, the run counts until its time is over. */
async function endDirect(c: Context<AppEnv>, queryId: string): Promise<void> {
  try {
    await taskQueue(c.env).endDirect(queryId)
  } catch (error) {
    log.warn('analysis.end_not_told', { queryId, ...errorFields(error) })
  }
}

/** Has the notices sent that were saved with the report. If the call fails, the cron trigger sends them. */
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
