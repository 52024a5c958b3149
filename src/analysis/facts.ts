import type { ProviderRun } from '../market/provider-run.ts'
import type { AnalysisFacts } from '../reports/build.ts'
import { contextPackOverview } from '../reports/context-pack.ts'
import { type StoredDiagnostics, storedDiagnostics } from '../reports/diagnostics.ts'
import { currencyOf, priceDecimals } from '../reports/format.ts'
import { type NewsEvidence, sampleNotice } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import { knownName, namesDisagree, unnamed } from '../reports/stock-name.ts'
import { strategyOf } from '../reports/strategy.ts'
import type { AnalysisInput } from './analyze.ts'
import { type Decision, decide } from './decision.ts'
import { type Evidence, evidenceOf, isCoreSound } from './evidence.ts'
import { nearbyLevels, strategyLevels } from './levels.ts'
import type { Gathering, MarketView } from './market-view.ts'
import { type Narrative, narrate } from './narrative.ts'

// No search channel exists yet: the count is not zero but unknown, and a report says which of the two it is.
const NO_NEWS: NewsEvidence = { known: true, count: null, evidencePresent: false }

/** Everything a report tells, decided and put into words. */
export function reportFacts(gathering: Gathering, view: MarketView, language: ReportLanguage): AnalysisFacts {
  const { input, now } = gathering
  const stockName = knownName(input.names, view.quote?.name ?? null, { language, instrument: input.instrument })
  const displayName = stockName ?? unnamed(language)
  const judged = judge(gathering, view, language)
  const { decision, strategy, decimals, currency, evidence } = judged
  const overview = contextPackOverview({
    blocks: evidence.blocks,
    subject: { code: input.instrument.key, stockName: displayName, market: input.instrument.market },
    createdAt: now,
    language,
    metadata: { trigger_source: input.triggerSource, news_result_count: NO_NEWS.count },
  })
  const narrative = narrateView(view, {
    language,
    name: displayName,
    code: input.instrument.key,
    decimals,
    currency,
    decision,
    strategy,
    quality: overview.data_quality.overall_score,
    limitations: evidence.notes,
  })
  return {
    ...requestFacts(gathering, language),
    ...marketFacts(gathering, view),
    stockName,
    displayName,
    decimals,
    currency,
    decision,
    levels: judged.levels,
    strategy,
    narrative,
    overview,
    news: NO_NEWS,
    diagnostics: diagnosticsOf(input, allRuns(gathering)),
  }
}

function judge(gathering: Gathering, view: MarketView, language: ReportLanguage) {
  const { instrument } = gathering.input
  const price = view.price ?? 0
  const decimals = priceDecimals(instrument, price)
  const currency = currencyOf(instrument)
  const levels = strategyLevels(view.technical, price, decimals)
  const evidence = evidenceFor(gathering, view, language)
  const sources = { coreIsSound: isCoreSound(evidence.blocks), flowKnown: false }
  return {
    decimals,
    currency,
    levels,
    strategy: strategyOf(levels, { decimals, currency, language }),
    evidence,
    decision: decide(view.technical, sources),
  }
}

function requestFacts({ input, now }: Gathering, language: ReportLanguage) {
  const { queryId, instrument, request } = input
  return { queryId, createdAt: now, instrument, language, reportType: request.reportType, skills: request.skills }
}

function marketFacts({ quote }: Gathering, view: MarketView) {
  return {
    price: view.price,
    changePct: view.changePct,
    today: view.bars.at(-1) ?? null,
    yesterday: view.bars.at(-2) ?? null,
    barCount: view.bars.length,
    partial: view.partial,
    quote: view.quote,
    quoteSource: view.quote !== null && quote.ok ? quote.provider : null,
    provenance: view.provenance,
    technical: view.technical,
    nearby: view.technical && nearbyLevels(view.technical, view.price ?? 0),
    phase: view.phase,
  }
}

type Told = Pick<
  Parameters<typeof narrate>[0],
  'language' | 'name' | 'code' | 'decimals' | 'currency' | 'strategy' | 'quality' | 'limitations'
> & { decision: Decision }

function narrateView(view: MarketView, told: Told): Narrative {
  const { provenance } = view
  return narrate({
    ...told,
    date: view.bars.at(-1)?.date ?? view.phase.effective_daily_bar_date,
    partial: view.partial,
    price: view.price,
    changePct: view.changePct,
    barCount: view.bars.length,
    technical: view.technical,
    phase: view.phase,
    sampleNotice: provenance && sampleNotice(provenance, told.language),
  })
}

function evidenceFor({ input, bars, quote }: Gathering, view: MarketView, language: ReportLanguage): Evidence {
  const { instrument, names } = input
  const quoteName = quote.ok ? quote.value.name : null
  const disagrees = namesDisagree(names.zh, quoteName) || namesDisagree(names.en, quoteName)
  return evidenceOf({
    instrument,
    language,
    bars,
    quote,
    technical: view.technical,
    barCount: view.bars.length,
    staleSince: view.staleSince,
    quoteUnused: view.quoteUnused,
    partial: view.partial,
    otherName: disagrees ? quoteName : null,
  })
}

/** Every attempt of a run, in the order in which they began. */
export function allRuns({ bars, quote }: Gathering): ProviderRun[] {
  return [...quote.runs, ...bars.runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

function diagnosticsOf(input: AnalysisInput, runs: ProviderRun[]): StoredDiagnostics {
  const { traceId, taskId, queryId, triggerSource, instrument } = input
  return storedDiagnostics({ traceId, taskId, queryId, triggerSource, stockCode: instrument.key }, runs)
}
