// One analysis with its figures fetched, its steps told and its report saved: what a queued run and a synchronous call
// have in common.

import type { NewAnalysis, StoredAnalysis } from '../db/analyses.ts'
import type { Clock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { turn } from '../lib/turns.ts'
import type { Instrument, Market } from '../market/instruments.ts'
import type { MarketData, MarketSnapshot } from '../market/providers/index.ts'
import type { Subject } from '../news/questions.ts'
import type { NewsFound, NewsQuery } from '../news/search.ts'
import type { StoredDiagnostics } from '../reports/diagnostics.ts'
import type { AnalysisReport, ReportLanguage } from '../reports/report.ts'
import type { Names } from '../reports/stock-name.ts'
import type { AnalysisDeps, AnalysisInput, AnalysisResult } from './analyze.ts'
import type { Mood } from './guardrails.ts'
import type { Narrator } from './narrator.ts'
import { phrasesOf } from './phrases.ts'
import { previousOf } from './previous.ts'
import type { FlowEvent } from './run-flow.ts'
import { recordOf, reportOf, savedMark } from './run-record.ts'
import { type StepTeller, savedStep, stepTeller } from './run-steps.ts'
import { STAGE_PROGRESS, stageMessage } from './stages.ts'
import type { TaskRequest } from './task.ts'
import { taskMessages } from './task-messages.ts'

/** What is to be analysed, for whom, under which id. */
export type RunPlan = {
  owner: string
  queryId: string
  /** Null for a synchronous call. */
  taskId: string | null
  /** Which run of the task this is, from 1. */
  attempt: number
  request: TaskRequest
  instrument: Instrument
  names: Names
  configuredLanguage: ReportLanguage
}

/** What a run needs of the world. */
export type RunWorld = {
  analyze: (input: AnalysisInput, deps: AnalysisDeps) => Promise<AnalysisResult>
  market: MarketData
  /** Null: nobody searches. */
  news: NewsSearch | null
  /** Null: no model is configured. */
  narrator: Narrator | null
  /** The owner's newest report of the listing. */
  previous: (owner: string, key: string) => Promise<StoredAnalysis | null>
  mood: (owner: string, market: Market) => Promise<Mood | null>
  save: (analysis: NewAnalysis) => Promise<number>
  clock: Clock
  /** For all the sources of one need together. */
  dataTimeoutMs: number
  /** For both tries of a model together. */
  modelTimeoutMs: number
}

export type NewsSearch = {
  isConfigured: boolean
  search: (subject: Subject, query: NewsQuery) => Promise<NewsFound>
}

/** What a run tells while it goes on, and by what it can be stopped. */
export type RunHooks = {
  onStage: (progress: number, message: string, stage: string) => Promise<void>
  onSteps: (steps: readonly FlowEvent[]) => Promise<void>
  signal: AbortSignal
}

export type RunResult =
  | { ok: true; report: AnalysisReport; diagnostics: StoredDiagnostics; stockName: string | null; saved: boolean }
  | { ok: false; message: string }

/** Enough for the longest average and the range of a year. */
const BAR_COUNT = 400
const SAVE_DELAYS_MS = [200, 1_000]

export async function runAnalysis(plan: RunPlan, world: RunWorld, hooks: RunHooks): Promise<RunResult> {
  const { language } = plan.request
  const result = await world.analyze(inputOf(plan), depsOf(plan, world, hooks))
  if (!result.ok) return { ok: false, message: result.message }
  const name = result.stockName ?? plan.request.stockCode
  await hooks.onStage(STAGE_PROGRESS.saving, stageMessage('saving', { name, language }), taskMessages(language).saving)
  // Whoever was stopped must not leave a report behind that nobody waits for.
  if (hooks.signal.aborted) return { ok: false, message: taskMessages(language).notSaved }
  const { report, diagnostics, stockName } = result
  const saved = await savePatiently(world, recordOf({ owner: plan.owner, request: plan.request, report, diagnostics }))
  if (saved) await hooks.onSteps([savedStep(plan, world.clock())])
  return { ok: true, report, stockName, saved, diagnostics: { ...diagnostics, history_runs: [savedMark(saved)] } }
}

function inputOf({ request, instrument, names, queryId, taskId, configuredLanguage }: RunPlan): AnalysisInput {
  return {
    instrument,
    names,
    request: {
      reportType: request.reportType,
      language: request.reportLanguage,
      analysisPhase: request.analysisPhase,
      skills: request.skills,
    },
    configuredLanguage,
    queryId,
    traceId: queryId,
    taskId,
    triggerSource: 'api',
  }
}

/** Longer is not worth waiting for what a report can do without. */
const COMPANY_MS = 20_000
const NEWS_MS = 25_000

function depsOf(plan: RunPlan, world: RunWorld, hooks: RunHooks): AnalysisDeps {
  const { instrument, names, request, owner } = plan
  const { market, news, clock, dataTimeoutMs } = world
  const steps = stepTeller(plan, hooks)
  const query = { forceRefresh: request.forceRefresh, signal: hooks.signal }
  return {
    ...pricesOf(plan, world, { hooks, steps }),
    company: {
      fundamentals: (signal) => market.fundamentals(instrument, { ...query, signal }),
      flow: (signal) => market.capitalFlow(instrument, { ...query, signal }),
      boards: (signal) => market.boards(instrument, { ...query, signal }),
      rankings: (signal) => market.rankings(instrument, { ...query, signal }),
    },
    news: news && {
      isConfigured: news.isConfigured,
      search: (signal) => news.search({ instrument, names }, { ...query, signal }),
    },
    previous: async () => {
      const stored = await world.previous(owner, request.key ?? instrument.key)
      const report = stored && reportOf(stored)
      return report && previousOf(report)
    },
    mood: () => world.mood(owner, instrument.market),
    narrator: world.narrator,
    onStage: async (progress, message, stage) => {
      await hooks.onStage(progress, message, phrasesOf(request.language).stageName[stage])
      await turn(plan)
    },
    onRuns: steps.providers,
    onModel: steps.model,
    clock,
    signal: hooks.signal,
    deadlines: {
      dailyBarsMs: dataTimeoutMs,
      quoteMs: dataTimeoutMs,
      companyMs: Math.min(dataTimeoutMs, COMPANY_MS),
      newsMs: Math.min(dataTimeoutMs, NEWS_MS),
      modelMs: world.modelTimeoutMs,
    },
  }
}

type Telling = { hooks: RunHooks; steps: StepTeller }

/** Bars and quote come from one snapshot, so that figures of a market and of a sample never meet. */
function pricesOf({ instrument, request }: RunPlan, { market }: RunWorld, { hooks, steps }: Telling) {
  let snapshot: Promise<MarketSnapshot> | undefined
  const take = () => {
    snapshot ??= market
      .snapshot(instrument, { count: BAR_COUNT, forceRefresh: request.forceRefresh, signal: hooks.signal })
      .then(async (taken) => {
        await steps.providers(taken.runs)
        return taken
      })
    return snapshot
  }
  return { dailyBars: async () => (await take()).bars, quote: async () => (await take()).quote }
}

async function savePatiently({ save }: RunWorld, analysis: NewAnalysis): Promise<boolean> {
  for (const delayMs of [...SAVE_DELAYS_MS, null]) {
    try {
      await save(analysis)
      return true
    } catch (error) {
      log.warn('analysis.save_failed', { queryId: analysis.queryId, ...errorFields(error) })
      if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  return false
}
