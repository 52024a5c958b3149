// Runs analyses outside the queue's object, in whatever isolate is free. Here the pieces meet the world: configuration,
// sources, the database, the queue. What is heavy is loaded when the first analysis needs it.

import { WorkerEntrypoint } from 'cloudflare:workers'
import { config } from '../config.ts'
import { findByQueryId, type NewAnalysis, newestOfListing, newestReview, saveAnalysis } from '../db/analyses.ts'
import { deliveryStore } from '../db/deliveries.ts'
import { answerStore, gateStore } from '../db/market-state.ts'
import { newsPool } from '../db/news.ts'
import { notifyTargets } from '../db/notify-targets.ts'
import { ownerSettings } from '../db/settings.ts'
import { mainlandNames, saveChangedNames, stockNameStore } from '../db/stock-names.ts'
import { noteNotice, untoldNotices } from '../db/untold-notices.ts'
import { withdrawAnalysis } from '../db/withdrawn-analyses.ts'
import { systemClock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { parseCode } from '../market/instruments.ts'
import { instrumentOf } from '../market/names/labels.ts'
import type { Refreshed } from '../market/names/refresh.ts'
import { currentNames, forgetNames } from '../market/names/store.ts'
import { storedGate } from '../market/providers/stored-gate.ts'
import type { ToldReport } from '../notify/message.ts'
import type { Notice } from '../notify/notice.ts'
import type { Told } from '../notify/run.ts'
import type { ReviewSources } from '../review/gather.ts'
import { moodOf } from './market-mood.ts'
import type { Narrator } from './narrator.ts'
import {
  type NewsSearch,
  type RunHooks,
  type RunPlan,
  type RunResult,
  type RunWorld,
  runAnalysis,
} from './run-analysis.ts'
import { reportOf } from './run-record.ts'
import { runTask } from './run-task.ts'
import type { Outcome, RunOrder } from './task.ts'
import { taskMessages } from './task-messages.ts'

/** Runs one analysis in this isolate and saves its report, and with it the news of it where that is to be told. */
export async function analyzeNow(env: Env, job: RunJob, hooks: RunHooks): Promise<RunResult> {
  const { owner, queryId, request } = job
  const key = `report:${queryId}`
  const notice: Notice = { kind: 'report', key, owner, channels: request.channels, taskId: queryId, isInBatch: false }
  const save = (analysis: NewAnalysis) =>
    saveAnalysis(env.DB, analysis, request.notify ? [noteNotice(env.DB, notice, systemClock())] : [])
  return runAnalysis(await planOf(env, job), { ...(await worldOf(env, owner)), save }, hooks)
}

export type RunJob = Pick<RunPlan, 'owner' | 'queryId' | 'taskId' | 'attempt' | 'request'>

/** The market data of the configured sources. What is kept of them, and which are unwell, lies in the database. */
export async function marketDataOf(env: Env) {
  const settings = config(env)
  const { createMarketData } = await import('../market/providers/index.ts')
  return createMarketData({
    ...settings,
    providers: settings.marketData,
    timeoutMs: settings.fetchTimeoutMs,
    gate: storedGate(gateStore(env.DB), systemClock),
    store: answerStore(env.DB),
  })
}

/** Compares the names of mainland stocks with a provider's list and stores what changed. It takes about a minute. */
export async function refreshStockNames(env: Env): Promise<Refreshed> {
  const settings = config(env)
  const { refreshNames } = await import('../market/names/refresh.ts')
  const { nameSources } = await import('../market/names/sources.ts')
  // Lays the packaged list down first, where that has not happened yet.
  await currentNames(stockNameStore(env.DB))
  const gate = storedGate(gateStore(env.DB), systemClock)
  const sources = nameSources({ ...settings, providers: settings.marketData }, { clock: systemClock, gate })
  const store = { known: () => mainlandNames(env.DB), save: saveChangedNames.bind(null, env.DB) }
  const refreshed = await refreshNames(store, sources, systemClock)
  forgetNames()
  return refreshed
}

export class AnalysisRunner extends WorkerEntrypoint<Env> {
  /** Carries out the order and reports to the queue it came from. Answers when the run is over. */
  async run(order: RunOrder): Promise<void> {
    const { env } = this
    const queue = env.TASK_QUEUE.get(env.TASK_QUEUE.idFromString(order.queueId))
    const { owner, taskId, request, attempt } = order
    await runTask(order, {
      report: (report) => queue.progress(report),
      finish: (finish) => queue.finish(finish),
      saved: async () => {
        const stored = await findByQueryId(env.DB, owner, taskId)
        return stored && { stockName: stored.stockName }
      },
      withdraw: () => withdrawAnalysis(env.DB, taskId),
      work: (hooks) => {
        const job = { owner, queryId: taskId, taskId, attempt, request }
        return request.kind === 'market_review' ? review(env, job, hooks) : work(env, job, hooks)
      },
    })
  }

  /** Makes deliveries of the notices and carries on those that are due. Answers when nothing is due any more. */
  async notify(notices: Notice[]): Promise<Told> {
    const { env } = this
    const { notify } = await import('../notify/run.ts')
    return notify(notices, {
      store: deliveryStore(env.DB),
      targets: (owner) => notifyTargets(env, owner),
      report: (owner, taskId) => toldReport(env, owner, taskId),
      news: untoldNotices(env.DB),
      policy: config(env).addressPolicy,
      clock: systemClock,
    })
  }
}

/** A stored report as it is sent; null for sample data, which never is. */
async function toldReport(env: Env, owner: string, taskId: string): Promise<ToldReport | null> {
  const stored = await findByQueryId(env.DB, owner, taskId)
  if (stored === null || stored.dataNotice !== null) return null
  const report = reportOf(stored)
  if (report === null) return null
  const { reviewOf } = await import('../review/review-record.ts')
  const { withoutPictures } = await import('../review/markdown.ts')
  const { title, text } = reviewOf(stored)
  return { report, finished: text === null ? null : { title, markdown: withoutPictures(text) } }
}

/** Makes and saves the report. What the database does not take goes to the queue with the outcome. */
async function work(env: Env, job: RunJob, hooks: RunHooks): Promise<Outcome> {
  let record: NewAnalysis | undefined
  const save = (analysis: NewAnalysis) => {
    record = analysis
    return saveAnalysis(env.DB, analysis)
  }
  const result = await runAnalysis(await planOf(env, job), { ...(await worldOf(env, job.owner)), save }, hooks)
  if (!result.ok) return { ok: false, error: result.message }
  const { stockName, saved } = result
  if (saved) return { ok: true, stockName }
  if (record === undefined) return { ok: false, error: taskMessages(job.request.language).notSaved }
  return { ok: true, stockName, unsaved: JSON.stringify(record) }
}

/** The longest that one region may take, however much time there is. */
const LONGEST_REGION_MS = 120_000
/** Of a region's time, for each part beside its own indices. */
const PART_SHARE = 0.7
/** Kept back for the words and the saving. */
const REVIEW_MARGIN_MS = 15_000

async function review(env: Env, job: RunJob & { taskId: string }, hooks: RunHooks): Promise<Outcome> {
  const settings = config(env)
  const { workReview } = await import('../review/work-review.ts')
  const { lenientRegions } = await import('../review/regions.ts')
  const { listedPrices } = await import('../review/listed-prices.ts')
  const { narrator, market, modelTimeoutMs } = await worldOf(env, job.owner)
  const gate = storedGate(gateStore(env.DB), systemClock)
  const listing = { options: { ...settings, providers: settings.marketData }, gate, clock: systemClock }
  const count = lenientRegions(job.request.region ?? '').length
  const perRegionMs = Math.max(1_000, (settings.taskTimeoutMs - REVIEW_MARGIN_MS) / (narrator === null ? 1 : 2) / count)
  const world = {
    sources: {
      market,
      listed: (signal: AbortSignal) => listedPrices(listing, signal),
      news: await marketNewsOf(env),
      clock: systemClock,
      partTimeoutMs: Math.min(LONGEST_REGION_MS, perRegionMs) * PART_SHARE,
    },
    narrator,
    regionTimeoutMs: Math.min(LONGEST_REGION_MS, perRegionMs),
    modelTimeoutMs: Math.min(modelTimeoutMs, perRegionMs),
    save: (record: NewAnalysis) => saveAnalysis(env.DB, record),
  }
  return workReview({ ...job, colorScheme: settings.tasks.colorScheme }, world, hooks)
}

/** Null where no search is configured. */
async function marketNewsOf(env: Env): Promise<ReviewSources['news']> {
  const { news: settings, fetchTimeoutMs: timeoutMs } = config(env)
  const { searchProviders } = await import('../news/search.ts')
  const { reviewNews } = await import('../review/news.ts')
  const providers = searchProviders({ settings, clock: systemClock })
  const gate = storedGate(gateStore(env.DB), systemClock)
  if (providers.length === 0) return null
  return (question, signal) => reviewNews({ providers, clock: systemClock, gate, timeoutMs }, question, signal)
}

async function planOf(env: Env, job: RunJob): Promise<RunPlan> {
  const key = job.request.key ?? job.request.stockCode
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`a task for ${key}, which is no listing`)
  const listing = (await currentNames(stockNameStore(env.DB))).byKey(key)
  const names = listing === null ? {} : { zh: listing.zh, en: listing.en }
  const instrument = listing === null ? parsed.instrument : instrumentOf(listing)
  return { ...job, instrument, names, configuredLanguage: config(env).reportLanguage }
}

async function worldOf(env: Env, owner: string): Promise<RunWorld> {
  const settings = config(env)
  const { analyze } = await import('./analyze.ts')
  const market = await marketDataOf(env)
  return {
    analyze,
    market,
    news: await newsOf(env),
    narrator: await narratorOf(env, owner),
    // What is left after it must do for a report without it.
    modelTimeoutMs: Math.min(settings.taskTimeoutMs, settings.tasks.stageTimeoutMs) * MODEL_SHARE,
    previous: (whose, key) => newestOfListing(env.DB, whose, key),
    mood: async (whose, place) => moodOf(await newestReview(env.DB, whose), place, systemClock()),
    save: (analysis) => saveAnalysis(env.DB, analysis),
    clock: systemClock,
    dataTimeoutMs: Math.min(settings.taskTimeoutMs, settings.marketData.length * settings.fetchTimeoutMs + 5_000),
  }
}

/** Of the time that a task, or one stage of it, may take. */
const MODEL_SHARE = 0.6

/** The owner's model, else the operator's; null when neither names one. */
async function narratorOf(env: Env, owner: string): Promise<Narrator | null> {
  const { addressPolicy, models } = config(env)
  const { failingNarrator, modelNarrator } = await import('./model-narrator.ts')
  const settings = await ownerSettings(env, owner).catch((error: unknown) => {
    log.warn('analysis.settings_away', errorFields(error))
    return null
  })
  // Whose model it would be cannot be told now; a report is made without one.
  if (settings === null) return failingNarrator('network')
  if (!settings.ok) return failingNarrator('no_key')
  const { chooseModel, isChoice } = await import('../llm/choose.ts')
  const choice = chooseModel(settings.settings, models.operator)
  if (choice === null) return null
  if (!isChoice(choice)) return failingNarrator('no_key', settings.settings.llmModel ?? models.operator.model)
  const { languageModel } = await import('../llm/client.ts')
  const { patience } = models
  const means = { addressPolicy, patience, toolProtocol: 'native' as const, ai: 'AI' in env ? env.AI : undefined }
  return modelNarrator(await languageModel(choice, means))
}

/** The configured searches; the pool of earlier finds and social platforms beside them. */
async function newsOf(env: Env): Promise<NewsSearch> {
  const { news: settings, fetchTimeoutMs: timeoutMs } = config(env)
  const { searchNews, searchProviders } = await import('../news/search.ts')
  const gate = storedGate(gateStore(env.DB), systemClock)
  const world = { settings, clock: systemClock, gate, pool: newsPool(env.DB), store: answerStore(env.DB), timeoutMs }
  return {
    isConfigured: searchProviders(world).length > 0,
    search: (subject, query) => searchNews(world, subject, query),
  }
}
