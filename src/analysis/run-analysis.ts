// One analysis with its figures fetched, its steps told and its report saved: what a queued run and a synchronous call
// have in common.

import type { NewAnalysis } from '../db/analyses.ts'
import { type Clock, isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import type { Instrument } from '../market/instruments.ts'
import type { ProviderRun } from '../market/provider-run.ts'
import type { MarketData, MarketSnapshot } from '../market/providers/index.ts'
import { type StoredDiagnostics, storedDiagnostics } from '../reports/diagnostics.ts'
import type { AnalysisReport, ReportLanguage } from '../reports/report.ts'
import type { Names } from '../reports/stock-name.ts'
import type { AnalysisDeps, AnalysisInput, AnalysisResult } from './analyze.ts'
import { phrasesOf } from './phrases.ts'
import { type FlowEvent, flowEvent, flowNode, flowWord } from './run-flow.ts'
import { providerNodes } from './run-flow-nodes.ts'
import { recordOf, savedMark } from './run-record.ts'
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
  save: (analysis: NewAnalysis) => Promise<number>
  clock: Clock
  /** For all the sources of one need together. */
  dataTimeoutMs: number
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

/** Bars and quote come from one snapshot, so that figures of a market and of a sample never meet. */
function depsOf(plan: RunPlan, { market, clock, dataTimeoutMs }: RunWorld, hooks: RunHooks): AnalysisDeps {
  const { instrument, request } = plan
  let snapshot: Promise<MarketSnapshot> | undefined
  const take = () => {
    snapshot ??= market
      .snapshot(instrument, { count: BAR_COUNT, forceRefresh: request.forceRefresh, signal: hooks.signal })
      .then(async (taken) => {
        await hooks.onSteps(providerSteps(plan, taken.runs))
        return taken
      })
    return snapshot
  }
  return {
    dailyBars: async () => (await take()).bars,
    quote: async () => (await take()).quote,
    onStage: (progress, message, stage) =>
      hooks.onStage(progress, message, phrasesOf(request.language).stageName[stage]),
    clock,
    signal: hooks.signal,
    deadlines: { dailyBarsMs: dataTimeoutMs, quoteMs: dataTimeoutMs },
  }
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

/** Steps of different runs of one task keep apart by their numbers. */
const stepId = ({ attempt }: RunPlan, n: number) => `flow_${String((attempt - 1) * 100 + n).padStart(4, '0')}`

function providerSteps(plan: RunPlan, runs: readonly ProviderRun[]): FlowEvent[] {
  const { queryId, taskId, request } = plan
  const identity = { traceId: queryId, queryId, taskId, stockCode: request.stockCode, triggerSource: 'api' }
  const nodes = providerNodes(storedDiagnostics(identity, runs).provider_runs)
  return nodes.map((node, i) =>
    flowEvent({
      id: stepId(plan, i + 1),
      timestamp: node.ended_at ?? isoMicros(Date.now()),
      type: 'provider_run',
      node,
      metadata: { data_type: node.metadata.data_type, provider: node.provider, node },
    }),
  )
}

function savedStep(plan: RunPlan, now: number): FlowEvent {
  const node = flowNode({
    id: 'history_save',
    lane: 'artifact',
    kind: 'artifact',
    label: flowWord('history', plan.request.language),
    status: 'success',
    ended_at: isoMicros(now),
    record_count: 1,
  })
  return flowEvent({ id: stepId(plan, 99), timestamp: isoMicros(now), type: 'history_run', node, metadata: { node } })
}
