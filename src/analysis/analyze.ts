// One analysis, from what is fetched to a report. All it needs of the world is passed in; it stores nothing, sends nothing,
// and ends in one of two ways: a report, or the stage that stopped it and why.

import type { Clock } from '../lib/clock.ts'
import type { Bar, Quote } from '../market/bars.ts'
import type { Instrument } from '../market/instruments.ts'
import type { Fetched, ProviderRun } from '../market/provider-run.ts'
import type { NewsFound } from '../news/search.ts'
import { type AnalysisFacts, buildReport, type RequestReportType } from '../reports/build.ts'
import type { StoredDiagnostics } from '../reports/diagnostics.ts'
import { fill } from '../reports/labels.ts'
import { AnalysisReport, type ReportLanguage } from '../reports/report.ts'
import { knownName, type Names } from '../reports/stock-name.ts'
import type { CompanyQuestions } from './company.ts'
import type { Bounded } from './deadline.ts'
import { priceRuns, reportFacts } from './facts.ts'
import { gatherContext } from './gather.ts'
import type { Mood } from './guardrails.ts'
import { marketView, type Prices } from './market-view.ts'
import type { ModelRun } from './model-narrative.ts'
import type { Narrator } from './narrator.ts'
import { phrasesOf } from './phrases.ts'
import type { PreviousReport } from './previous.ts'
import { fetchBars, fetchQuote } from './prices.ts'
import { type RunStage, STAGE_PROGRESS, type StageKey, stageMessage } from './stages.ts'
import { withModelWords } from './with-model.ts'

export type AnalysisInput = {
  instrument: Instrument
  /** What the stock index calls the listing. Sources never rename it. */
  names: Names
  request: {
    reportType: RequestReportType
    /** Null leaves it to the configuration. */
    language: ReportLanguage | null
    analysisPhase: 'auto' | 'premarket' | 'intraday' | 'postmarket'
    skills: string[] | null
  }
  configuredLanguage: ReportLanguage
  queryId: string
  traceId: string
  taskId: string | null
  triggerSource: string
}

export type AnalysisDeps = {
  dailyBars(signal: AbortSignal): Promise<Fetched<Bar[]>>
  quote(signal: AbortSignal): Promise<Fetched<Quote>>
  /** Null: nobody is asked about companies. */
  company: CompanyQuestions | null
  /** Null: nobody searches. */
  news: { isConfigured: boolean; search(signal: AbortSignal): Promise<NewsFound> } | null
  /** The report before this one. */
  previous(): Promise<PreviousReport | null>
  mood(): Promise<Mood | null>
  /** Null: the words are code's. */
  narrator: Narrator | null
  onStage(progress: number, message: string, stage: RunStage): void | Promise<void>
  /** Attempts at other things than bars and quote, as they come in. */
  onRuns(runs: readonly ProviderRun[]): void | Promise<void>
  onModel(run: ModelRun | null): void | Promise<void>
  clock: Clock
  signal: AbortSignal
  deadlines: { dailyBarsMs: number; quoteMs: number; companyMs: number; newsMs: number; modelMs: number }
}

export type AnalysisResult =
  | { ok: true; report: AnalysisReport; diagnostics: StoredDiagnostics; stockName: string | null }
  | {
      ok: false
      reason: 'no_data' | 'deadline' | 'cancelled'
      stage: RunStage
      message: string
      runs: ProviderRun[]
    }

/**
 * Analyses one instrument. Without daily bars in time there is no analysis; without a quote the last close stands in, and
 * whatever else is missing is told in the report. Throws only what nobody planned.
 */
export async function analyze(input: AnalysisInput, deps: AnalysisDeps): Promise<AnalysisResult> {
  const language = input.request.language ?? input.configuredLanguage
  const { instrument, names } = input
  const name = knownName(names, null, { language, instrument }) ?? instrument.key
  const run: Run = { input, deps, language, name }
  const early = await enter(run, 'preparing', [])
  if (early !== null) return early

  const bars = await Promise.all([barsOf(run), fetchQuote(deps)])
  const prices: Prices = { input, bars: settled(bars[0]), quote: bars[1], now: deps.clock() }
  const runs = priceRuns(prices)
  const stopped = dataFailure(run, bars[0], prices) ?? (await enter(run, 'quote', runs))
  if (stopped !== null) return stopped
  const view = marketView(prices)
  const context = await gatherContext(prices, view, { deps, enter: (stage) => enter(run, stage, runs) })
  if (!context.ok) return context.stopped
  const halted = await enter(run, 'context', runs)
  if (halted !== null) return halted
  const computed = reportFacts({ ...prices, ...context.value }, view, language)
  const facts = await withModelWords(computed, deps, (stage) => enter(run, stage, runs))
  const ended = await enter(run, 'validating', runs)
  if (ended !== null) return ended
  return finished(facts)
}

function finished(facts: AnalysisFacts): AnalysisResult {
  const report = AnalysisReport.parse(buildReport(facts))
  return { ok: true, report, diagnostics: facts.diagnostics, stockName: facts.stockName }
}

type Run = { input: AnalysisInput; deps: AnalysisDeps; language: ReportLanguage; name: string }

export type EnteredStage = Exclude<StageKey, 'queued' | 'started' | 'saving' | 'done'>

/** The stage that a message counts as: what a model does is one stage to whoever waits. */
const STAGE_OF: Partial<Record<EnteredStage, RunStage>> = {
  news_skipped: 'news',
  model_wait: 'model',
  parsing: 'model',
  repairing: 'model',
}

/** Reports a stage, unless the run was cancelled before it. */
async function enter(run: Run, entered: EnteredStage, runs: ProviderRun[], values: Record<string, number> = {}) {
  const { deps, name, language } = run
  const stage = STAGE_OF[entered] ?? (entered as RunStage)
  if (deps.signal.aborted) return failed(run, { reason: 'cancelled', stage, runs })
  await deps.onStage(STAGE_PROGRESS[entered], stageMessage(entered, { name, language }, values), stage)
  return deps.signal.aborted ? failed(run, { reason: 'cancelled', stage, runs }) : null
}

async function barsOf(run: Run): Promise<Bounded<Fetched<Bar[]>>> {
  const bars = await fetchBars(run.deps)
  if (bars.ok && bars.value.ok) await enter(run, 'daily_bars', [], { count: bars.value.value.length })
  return bars
}

/** What the fetches leave no report to make of. */
function dataFailure(run: Run, bars: Bounded<Fetched<Bar[]>>, prices: Prices): AnalysisResult | null {
  const runs = priceRuns(prices)
  const stage = 'daily_bars'
  if (run.deps.signal.aborted) return failed(run, { reason: 'cancelled', stage, runs })
  if (!bars.ok) return failed(run, { reason: bars.reason, stage, runs })
  const hasBars = bars.value.ok && bars.value.value.length > 0
  return hasBars || prices.quote.ok ? null : failed(run, { reason: 'no_data', stage, runs })
}

function settled(bars: Bounded<Fetched<Bar[]>>): Fetched<Bar[]> {
  return bars.ok ? bars.value : { ok: false, runs: [] }
}

type Failure = { reason: 'no_data' | 'deadline' | 'cancelled'; stage: RunStage; runs: ProviderRun[] }

function failed({ deps, language, name }: Run, { reason, stage, runs }: Failure): AnalysisResult {
  const phrases = phrasesOf(language)
  const reasons = new Set(runs.flatMap(({ errorMessage }) => errorMessage ?? []))
  const text = fill(phrases.failure[reason], {
    stage: phrases.stageName[stage],
    seconds: deps.deadlines.dailyBarsMs / 1000,
    detail: [...reasons].join('; ') || phrases.unknown,
  })
  return { ok: false, reason, stage, message: `${name}：${text}`, runs }
}
