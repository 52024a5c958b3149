// Builds the dependencies of an analysis from the configuration, the sources and the database. Heavy modules are loaded when
// the first analysis needs them.

import { config } from '../config.ts'
import { findByQueryId, type NewAnalysis, newestOfListing, newestReview, saveAnalysis } from '../db/analyses.ts'
import { notifyTargets } from '../db/channels.ts'
import { deliveryStore, noteNotice, untoldNotices } from '../db/deliveries.ts'
import { evidenceRows, evidenceRun, saveReport } from '../db/evidence.ts'
import { answerStore, gateStore, newsPool } from '../db/market-state.ts'
import type { CallType } from '../db/model-calls.ts'
import { saveModelCall } from '../db/model-calls.ts'
import { ownerSettings } from '../db/settings.ts'
import { stockNameStore } from '../db/stock-names.ts'
import { currentNames } from '../kits/market-names/index.ts'
import { systemClock } from '../lib/clock.ts'
import { hexId } from '../lib/crypto.ts'
import { errorFields, log } from '../lib/log.ts'
import type { CallNote } from '../llm/metrics.ts'
import { type Instrument, parseCode } from '../market/instruments.ts'
import { instrumentOf, namesOf } from '../market/names/labels.ts'
import { storedGate } from '../market/providers/gate.ts'
import type { MarketSnapshot } from '../market/providers/index.ts'
import type { Notice } from '../notify/delivery.ts'
import type { ToldReport } from '../notify/message.ts'
import type { NotifyDeps } from '../notify/run.ts'
import type { AnalysisCtx } from './ctx.ts'
import { ledgerEntryOf } from './evidence/ledger.ts'
import { EvidenceRow, METHOD_VERSION } from './evidence/vocabulary.ts'
import type { RunHooks } from './flow/live.ts'
import type { AnalysisInput, Deps } from './gather/input.ts'
import { marketDataOf } from './market-data.ts'
import type { ReviewDeps } from './market-review/gather.ts'
import type { Narrator } from './narrator.ts'
import { resultOf } from './report/diagnostics.ts'
import { reportOf } from './report/record.ts'
import type { RunResult, Save } from './run/run-analysis.ts'
import type { Outcome, RunJob } from './task.ts'
import { textsOf } from './texts/book.ts'

/** Makes and saves the report of a task. If the database does not accept it, the queue gets it with the outcome. */
export async function workOn(env: Env, job: RunJob & { taskId: string }, hooks: RunHooks): Promise<Outcome> {
  if (job.request.kind === 'market_review') return review(env, job, hooks)
  let record: NewAnalysis | undefined
  const result = await analysis(env, job, {
    hooks,
    save: (analysis) => {
      record = analysis
      return saveReport(env.DB, { analysis, entry: ledgerEntryOf(analysis) })
    },
  })
  if (!result.ok) return { ok: false, error: result.message }
  const { stockName, saved } = result
  if (saved) return { ok: true, stockName }
  if (record === undefined) return { ok: false, error: textsOf(job.request.language).task.notSaved }
  return { ok: true, stockName, unsaved: JSON.stringify(record) }
}

/** `result` is the JSON text of an `AnalysisResultResponse`; if `saved` is false, the report cannot be found later. */
export type DirectAnswer = { ok: true; result: string; saved: boolean } | { ok: false; message: string }

/** Runs one analysis that is not a task; saves the report together with a notice about it, if one should be sent. */
export async function analyzeDirectly(env: Env, job: RunJob, hooks: RunHooks): Promise<DirectAnswer> {
  const { owner, queryId, request } = job
  const key = `report:${queryId}`
  const notice: Notice = { kind: 'report', key, owner, channels: request.channels, taskId: queryId, isInBatch: false }
  const save = (analysis: NewAnalysis) =>
    saveReport(env.DB, {
      ...{ analysis, entry: ledgerEntryOf(analysis) },
      beside: request.notify ? [noteNotice(env.DB, notice, systemClock())] : [],
    })
  const result = await analysis(env, job, { hooks, save })
  if (!result.ok) return result
  return { ok: true, saved: result.saved, result: JSON.stringify(resultOf(result.report, result.diagnostics)) }
}

type Run = { hooks: RunHooks; save: Save }

async function analysis(env: Env, job: RunJob, { hooks, save }: Run): Promise<RunResult> {
  const { analysisCtx, runAnalysis } = await import('./run/run-analysis.ts')
  const input = await inputOf(env, job)
  const language = job.request.reportLanguage ?? config(env).reportLanguage
  const ctx = analysisCtx(input, { language, clock: systemClock }, hooks)
  const notes = callNotes(env, job)
  try {
    return await runAnalysis(input, await depsOf(env, input, ctx, notes), { ctx, hooks, save })
  } finally {
    await notes.settled()
  }
}

/** The input of a job. Throws when the code is not a listing. */
export async function inputOf(env: Env, job: RunJob): Promise<AnalysisInput> {
  const key = job.request.key ?? job.request.stockCode
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`a task for ${key}, which is no listing`)
  const listing = (await currentNames(stockNameStore(env.DB))).byKey(key)
  const names = listing === null ? {} : namesOf(listing)
  const instrument = listing === null ? parsed.instrument : instrumentOf(listing)
  return { ...job, instrument, names }
}

/** Optional data of a report is not worth a longer wait. */
const COMPANY_MS = 20_000
const NEWS_MS = 25_000

/** Notes of a run's model calls. They are written during the run; `settled` resolves when all are. */
type CallNotes = { note: (call: CallNote) => void; settled: () => Promise<unknown> }

function callNotes(env: Env, { owner, request }: RunJob): CallNotes {
  const writes: Promise<void>[] = []
  const isReview = request.kind === 'market_review'
  const type: CallType = isReview ? 'market_review' : 'analysis'
  const stockCode = isReview ? null : request.stockCode
  const write = (call: CallNote) =>
    saveModelCall(env.DB, { owner, key: hexId(), type, stockCode, ...call }).catch((error: unknown) => {
      // A report is complete without this note.
      log.warn('analysis.call_not_noted', errorFields(error))
    })
  return { note: (call) => void writes.push(write(call)), settled: () => Promise.all(writes) }
}

export async function depsOf(
  env: Env,
  input: AnalysisInput,
  ctx: AnalysisCtx,
  notes: CallNotes | null = null,
): Promise<Deps> {
  const { owner, instrument, request } = input
  const { forceRefresh } = request
  const market = await marketDataOf(env)
  const { moodOf, previousOf } = await import('./gather/previous.ts')
  return {
    ...pricesOf(market, input, ctx),
    otherQuote: async (known, signal) => {
      const other = await market.otherQuote(instrument, known, { forceRefresh, signal })
      await ctx.tried(other.runs)
      return other
    },
    dayVolumes: (signal) => market.dayVolumes(instrument, { forceRefresh, signal }),
    indexBars: (index, signal) => market.indexBars(index, { count: BAR_COUNT, signal }),
    company: companyOf(market, input),
    news: await newsOf(env, input),
    narrator: await narratorOf(env, owner, notes),
    previous: async () => {
      const stored = await newestOfListing(env.DB, owner, request.key ?? instrument.key)
      const report = stored && reportOf(stored)
      return report && previousOf(report)
    },
    mood: async () => moodOf(await newestReview(env.DB, owner), instrument.market, systemClock()),
    evidenceRows: (isSample) => evidenceRowsOf(env, instrument, isSample),
    deadlines: deadlinesOf(env),
  }
}

function companyOf(market: Market, { instrument, request: { forceRefresh } }: AnalysisInput): Deps['company'] {
  return {
    fundamentals: (signal) => market.fundamentals(instrument, { forceRefresh, signal }),
    flow: (signal) => market.capitalFlow(instrument, { forceRefresh, signal }),
    boards: (signal) => market.boards(instrument, { forceRefresh, signal }),
    peers: (boards, signal) => market.peers(instrument, boards, { forceRefresh, signal }),
    rankings: (signal) => market.rankings(instrument, { forceRefresh, signal }),
  }
}

function deadlinesOf(env: Env): Deps['deadlines'] {
  const { taskTimeoutMs, marketData, fetchTimeoutMs } = config(env)
  const dataMs = Math.min(taskTimeoutMs, marketData.length * fetchTimeoutMs + 5_000)
  return {
    dailyBarsMs: dataMs,
    quoteMs: dataMs,
    companyMs: Math.min(dataMs, COMPANY_MS),
    newsMs: Math.min(dataMs, NEWS_MS),
    modelMs: modelMs(env),
  }
}

/** For advice over 20 sessions in the listing's market. */
export async function evidenceRowsOf(env: Env, { market, kind }: Instrument, isSample: boolean) {
  // The replay has no results for indices.
  if (kind === 'index') return null
  const data = isSample ? 'sample' : 'market'
  // The results of an earlier method do not apply to this one.
  if ((await evidenceRun(env.DB, data))?.methodVersion !== METHOD_VERSION) return null
  const { rows } = await evidenceRows(env.DB, {
    ...{ data, measure: 'sessions_20', market },
    ...{ part: null, regime: null, verdict: null, limit: 100, offset: 0 },
  })
  return rows.length === 0 ? null : rows.map((body) => EvidenceRow.parse(JSON.parse(body)))
}

/** Enough for the longest average and the range of a year. */
const BAR_COUNT = 400

type Market = Awaited<ReturnType<typeof marketDataOf>>

/** Bars and quote come from one snapshot, so that market data and sample data are never mixed. */
function pricesOf(market: Market, { instrument, request }: AnalysisInput, { signal, tried }: AnalysisCtx) {
  let snapshot: Promise<MarketSnapshot> | undefined
  const take = () => {
    snapshot ??= market
      .snapshot(instrument, { count: BAR_COUNT, forceRefresh: request.forceRefresh, signal })
      .then(async (taken) => {
        await tried(taken.runs)
        return taken
      })
    return snapshot
  }
  return { dailyBars: async () => (await take()).bars, quote: async () => (await take()).quote }
}

/** The configured searches, the pool of earlier results, and social platforms. */
async function newsOf(env: Env, { instrument, names, request }: AnalysisInput): Promise<Deps['news']> {
  const { news: settings, variables, fetchTimeoutMs: timeoutMs } = config(env)
  const { searchNews, searchProviders } = await import('../news/search.ts')
  const gate = gateOf(env)
  const kept = { pool: newsPool(env.DB), store: answerStore(env.DB) }
  const options = { settings, variables, clock: systemClock, gate, ...kept, timeoutMs }
  const { forceRefresh } = request
  return {
    isConfigured: (await searchProviders(options)).length > 0,
    search: (signal) => searchNews(options, { instrument, names }, { forceRefresh, signal }),
  }
}

/** The model's share of the time of a task or of one stage; the rest must suffice for a report without it. */
const MODEL_SHARE = 0.6

function modelMs(env: Env): number {
  const { taskTimeoutMs, tasks } = config(env)
  return Math.min(taskTimeoutMs, tasks.stageTimeoutMs) * MODEL_SHARE
}

/** The owner's model, else the operator's; null when neither is set. */
async function narratorOf(env: Env, owner: string, notes: CallNotes | null): Promise<Narrator | null> {
  const { addressPolicy, models } = config(env)
  const { failingNarrator, modelNarrator } = await import('./write/model-narrator.ts')
  const settings = await ownerSettings(env, owner).catch((error: unknown) => {
    log.warn('analysis.settings_away', errorFields(error))
    return null
  })
  // Without the settings the model is unknown, so the report is made without one.
  if (settings === null) return failingNarrator('network')
  if (!settings.ok) return failingNarrator('no_key')
  const { chooseModel, isChoice } = await import('../llm/choose.ts')
  const choice = chooseModel(settings.settings, models.operator)
  if (choice === null) return null
  if (!isChoice(choice)) return failingNarrator('no_key', settings.settings.llmModel ?? models.operator.model)
  const { languageModel } = await import('../llm/client.ts')
  const { patience } = models
  const { ownerPurse } = await import('../limits/owner-purse.ts')
  const purse = ownerPurse(env, owner, settings.settings)
  const ai = 'AI' in env ? env.AI : undefined
  const options = { addressPolicy, patience, toolProtocol: 'native' as const, ai, purse }
  const onCall = notes === null ? {} : { onCall: notes.note }
  return modelNarrator(await languageModel(choice, { ...options, ...onCall }))
}

/** The longest time for one region, however much is left. */
const LONGEST_REGION_MS = 120_000
/** The share of a region's time for each part besides its indices. */
const PART_SHARE = 0.7
/** Reserved for writing the texts and for saving. */
const REVIEW_MARGIN_MS = 15_000

async function review(env: Env, job: RunJob & { taskId: string }, hooks: RunHooks): Promise<Outcome> {
  const save = (record: NewAnalysis) => saveAnalysis(env.DB, record)
  const { workReview } = await import('./market-review/run-review.ts')
  const notes = callNotes(env, job)
  try {
    return await workReview(job, await reviewDepsOf(env, job, notes), { hooks, clock: systemClock, save })
  } finally {
    await notes.settled()
  }
}

async function reviewDepsOf(env: Env, { owner, request }: RunJob, notes: CallNotes): Promise<ReviewDeps> {
  const settings = config(env)
  const { lenientRegions } = await import('./market-review/regions.ts')
  const { listedPrices } = await import('./market-review/listed-prices.ts')
  const narrator = await narratorOf(env, owner, notes)
  const listing = {
    options: { providers: settings.marketData, variables: settings.variables },
    gate: gateOf(env),
    clock: systemClock,
  }
  const count = lenientRegions(request.region ?? '').length
  const perRegionMs = Math.max(1_000, (settings.taskTimeoutMs - REVIEW_MARGIN_MS) / (narrator === null ? 1 : 2) / count)
  const regionMs = Math.min(LONGEST_REGION_MS, perRegionMs)
  return {
    market: await marketDataOf(env),
    listed: (signal) => listedPrices(listing, signal),
    news: await marketNewsOf(env),
    narrator,
    colorScheme: settings.tasks.colorScheme,
    deadlines: { regionMs, partMs: regionMs * PART_SHARE, modelMs: Math.min(modelMs(env), perRegionMs) },
  }
}

/** Null when no search is configured. */
async function marketNewsOf(env: Env): Promise<ReviewDeps['news']> {
  const { news: settings, variables, fetchTimeoutMs: timeoutMs } = config(env)
  const { searchProviders } = await import('../news/search.ts')
  const { reviewNews } = await import('./market-review/news.ts')
  const providers = await searchProviders({ settings, variables, clock: systemClock })
  const gate = gateOf(env)
  if (providers.length === 0) return null
  return (question, signal) => reviewNews({ providers, clock: systemClock, gate, timeoutMs }, question, signal)
}

const gateOf = (env: Env) => storedGate(gateStore(env.DB), systemClock)

export function notifyDepsOf(env: Env): NotifyDeps {
  return {
    store: deliveryStore(env.DB),
    targets: (owner) => notifyTargets(env, owner),
    report: (owner, taskId) => toldReport(env, owner, taskId),
    news: untoldNotices(env.DB),
    policy: config(env).addressPolicy,
    clock: systemClock,
  }
}

/** A stored report in the form for messages; null for sample data, which is never sent. */
async function toldReport(env: Env, owner: string, taskId: string): Promise<ToldReport | null> {
  const stored = await findByQueryId(env.DB, owner, taskId)
  if (stored === null || stored.dataNotice !== null) return null
  const report = reportOf(stored)
  if (report === null) return null
  const { reviewOf } = await import('./market-review/record.ts')
  const { withoutPictures } = await import('./market-review/markdown.ts')
  const { title, text } = reviewOf(stored)
  return { report, finished: text === null ? null : { title, markdown: withoutPictures(text) } }
}
