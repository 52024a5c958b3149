// One analysis, from two fetches to a report. All it needs of the world is passed in; it stores nothing, sends nothing, and
// ends in one of two ways: a report, or the stage that stopped it and why.

import { type Clock, isoMicros } from '../lib/clock.ts'
import type { Bar, Quote } from '../market/bars.ts'
import type { Instrument } from '../market/instruments.ts'
import type { Fetched, ProviderRun } from '../market/provider-run.ts'
import { buildReport, type RequestReportType } from '../reports/build.ts'
import type { StoredDiagnostics } from '../reports/diagnostics.ts'
import { fill } from '../reports/labels.ts'
import { AnalysisReport, type ReportLanguage } from '../reports/report.ts'
import { knownName, type Names } from '../reports/stock-name.ts'
import { type Bounded, within } from './deadline.ts'
import { allRuns, reportFacts } from './facts.ts'
import { type Gathering, marketView } from './market-view.ts'
import { phrasesOf } from './phrases.ts'
import { type RunStage, STAGE_PROGRESS, stageMessage } from './stages.ts'

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
  onStage(progress: number, message: string, stage: RunStage): void | Promise<void>
  clock: Clock
  signal: AbortSignal
  deadlines: { dailyBarsMs: number; quoteMs: number }
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
 * Analyses one instrument. Without daily bars in time there is no analysis; without a quote the last close stands in and
 * the report says so. Throws only what nobody planned.
 */
export async function analyze(input: AnalysisInput, deps: AnalysisDeps): Promise<AnalysisResult> {
  const language = input.request.language ?? input.configuredLanguage
  const { instrument, names } = input
  const name = knownName(names, null, { language, instrument }) ?? instrument.key
  const run: Run = { input, deps, language, name }
  const early = await enter(run, 'preparing', [])
  if (early !== null) return early

  const [bars, quote] = await Promise.all([fetchBars(run), fetchQuote(run)])
  const gathering: Gathering = { input, bars: settled(bars), quote, now: deps.clock() }
  const runs = allRuns(gathering)
  const stopped =
    dataFailure(run, bars, gathering) ?? (await enter(run, 'quote', runs)) ?? (await enter(run, 'trend', runs))
  if (stopped !== null) return stopped
  const view = marketView(gathering)
  const halted = (await enter(run, 'news', runs)) ?? (await enter(run, 'context', runs))
  if (halted !== null) return halted
  const facts = reportFacts(gathering, view, language)
  const ended = await enter(run, 'validating', runs)
  if (ended !== null) return ended
  const report = AnalysisReport.parse(buildReport(facts))
  return { ok: true, report, diagnostics: facts.diagnostics, stockName: facts.stockName }
}

type Run = { input: AnalysisInput; deps: AnalysisDeps; language: ReportLanguage; name: string }

/** Reports a stage, unless the run was cancelled before it. */
async function enter(run: Run, stage: RunStage, runs: ProviderRun[], values: Record<string, number> = {}) {
  const { deps, name, language } = run
  if (deps.signal.aborted) return failed(run, { reason: 'cancelled', stage, runs })
  await deps.onStage(STAGE_PROGRESS[stage], stageMessage(stage, { name, language }, values), stage)
  return deps.signal.aborted ? failed(run, { reason: 'cancelled', stage, runs }) : null
}

async function fetchBars(run: Run): Promise<Bounded<Fetched<Bar[]>>> {
  const { deps } = run
  const bound = { timeoutMs: deps.deadlines.dailyBarsMs, signal: deps.signal }
  const bars = await within(bound, (signal) => deps.dailyBars(signal))
  if (bars.ok && bars.value.ok) await enter(run, 'daily_bars', [], { count: bars.value.value.length })
  return bars
}

/** A quote that does not come in time is one that failed: the bars alone still make a report. */
async function fetchQuote({ deps }: Run): Promise<Fetched<Quote>> {
  const startedAt = deps.clock()
  const { quoteMs } = deps.deadlines
  const quote = await within({ timeoutMs: quoteMs, signal: deps.signal }, (signal) => deps.quote(signal))
  if (quote.ok) return quote.value
  const run: ProviderRun = {
    dataType: 'realtime_quote',
    provider: 'all',
    operation: 'quote',
    success: false,
    latencyMs: deps.clock() - startedAt,
    errorType: quote.reason,
    errorMessage: quote.reason === 'deadline' ? `no quote within ${quoteMs} ms` : 'cancelled',
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 0,
    createdAt: isoMicros(startedAt),
  }
  return { ok: false, runs: [run] }
}

/** What the fetches leave no report to make of. */
function dataFailure(run: Run, bars: Bounded<Fetched<Bar[]>>, gathering: Gathering): AnalysisResult | null {
  const runs = allRuns(gathering)
  const stage = 'daily_bars'
  if (run.deps.signal.aborted) return failed(run, { reason: 'cancelled', stage, runs })
  if (!bars.ok) return failed(run, { reason: bars.reason, stage, runs })
  const hasBars = bars.value.ok && bars.value.value.length > 0
  return hasBars || gathering.quote.ok ? null : failed(run, { reason: 'no_data', stage, runs })
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
