// Runs analyses outside the queue's object, in whatever isolate is free. Here the pieces meet the world: configuration,
// sources, the database, the queue. What is heavy is loaded when the first analysis needs it.

import { WorkerEntrypoint } from 'cloudflare:workers'
import { config } from '../config.ts'
import { findByQueryId, saveAnalysis } from '../db/analyses.ts'
import { answerStore, gateStore } from '../db/market-state.ts'
import { mainlandNames, saveChangedNames, stockNameStore } from '../db/stock-names.ts'
import { systemClock } from '../lib/clock.ts'
import { parseCode } from '../market/instruments.ts'
import type { Refreshed } from '../market/names/refresh.ts'
import { currentNames, forgetNames } from '../market/names/store.ts'
import { storedGate } from '../market/providers/stored-gate.ts'
import { type RunHooks, type RunPlan, type RunResult, type RunWorld, runAnalysis } from './run-analysis.ts'
import { runTask } from './run-task.ts'
import type { Outcome, RunOrder, TaskRequest } from './task.ts'
import { taskMessages } from './task-messages.ts'

/** Runs one analysis in this isolate and saves its report. */
export async function analyzeNow(env: Env, job: RunJob, hooks: RunHooks): Promise<RunResult> {
  return runAnalysis(await planOf(env, job), await worldOf(env), hooks)
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
      savedName: async () => (await findByQueryId(env.DB, owner, taskId))?.stockName,
      analyse: async (hooks) => {
        const result = await analyzeNow(env, { owner, queryId: taskId, taskId, attempt, request }, hooks)
        return outcomeOf(result, request)
      },
    })
  }
}

function outcomeOf(result: RunResult, { language }: TaskRequest): Outcome {
  if (!result.ok) return { ok: false, error: result.message }
  if (!result.saved) return { ok: false, error: taskMessages(language).notSaved }
  return { ok: true, stockName: result.stockName }
}

async function planOf(env: Env, job: RunJob): Promise<RunPlan> {
  const key = job.request.key ?? job.request.stockCode
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`a task for ${key}, which is no listing`)
  const listing = (await currentNames(stockNameStore(env.DB))).byKey(key)
  const names = listing === null ? {} : { zh: listing.zh, en: listing.en }
  return { ...job, instrument: parsed.instrument, names, configuredLanguage: config(env).reportLanguage }
}

async function worldOf(env: Env): Promise<RunWorld> {
  const settings = config(env)
  const { analyze } = await import('./analyze.ts')
  const market = await marketDataOf(env)
  return {
    analyze,
    market,
    save: (analysis) => saveAnalysis(env.DB, analysis),
    clock: systemClock,
    dataTimeoutMs: Math.min(settings.taskTimeoutMs, settings.marketData.length * settings.fetchTimeoutMs + 5_000),
  }
}
