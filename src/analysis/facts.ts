import type { ProviderRun } from '../market/provider-run.ts'
import type { NewsFound } from '../news/search.ts'
import { type AnalysisFacts, priceDay } from '../reports/build.ts'
import { contextPackOverview } from '../reports/context-pack.ts'
import { type StoredDiagnostics, storedDiagnostics } from '../reports/diagnostics.ts'
import { fill, type NewsEvidence, sampleNotice } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import { knownName, unnamed } from '../reports/stock-name.ts'
import type { AnalysisInput } from './analyze.ts'
import { changesSince } from './changes.ts'
import { companyRuns } from './company.ts'
import { companyTexts } from './company-texts.ts'
import { type Judgement, judge } from './judge.ts'
import { nearbyLevels } from './levels.ts'
import type { Gathering, MarketView, Prices } from './market-view.ts'
import { type Narrative, narrate } from './narrative.ts'
import { phrasesOf } from './phrases.ts'

/** Everything a report tells, decided and put into words by code. */
export function reportFacts(gathering: Gathering, view: MarketView, language: ReportLanguage): AnalysisFacts {
  const { input, now, company } = gathering
  const stockName = knownName(input.names, view.quote?.name ?? null, { language, instrument: input.instrument })
  const displayName = stockName ?? unnamed(language)
  const judged = judge(gathering, view, language)
  const news = newsEvidence(gathering.news)
  const overview = contextPackOverview({
    blocks: judged.evidence.blocks,
    subject: { code: input.instrument.key, stockName: displayName, market: input.instrument.market },
    createdAt: now,
    language,
    metadata: { trigger_source: input.triggerSource, news_result_count: news.count },
  })
  const quality = overview.data_quality.overall_score
  const { evidence: _, previous, ...decided } = judged
  return {
    ...requestFacts(gathering, language),
    ...marketFacts(gathering, view),
    ...decided,
    stockName,
    displayName,
    company,
    newsFound: gathering.news,
    changes: changesOf(judged, view, language),
    narrative: narrateView(gathering, view, { language, name: displayName, quality, judged }),
    overview,
    news,
    told: null,
    diagnostics: diagnosticsOf(input, allRuns(gathering)),
  }
}

/**
 * Evidence is what was really found: hits, words from social platforms, items of the pool. A search that found nothing is
 * told apart from none being configured.
 */
function newsEvidence(news: NewsFound | null): NewsEvidence {
  if (news === null) return { known: true, count: null, evidencePresent: false }
  const evidencePresent = (news.count ?? 0) > 0 || news.isPooled || news.social !== null
  return { known: true, count: news.count, evidencePresent }
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
    bars: view.bars,
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

function changesOf({ previous, decision, decimals }: Judgement, view: MarketView, language: ReportLanguage) {
  if (previous === null) return null
  return changesSince({ previous, decision, technical: view.technical, price: view.price, decimals, language })
}

type Telling = { language: ReportLanguage; name: string; quality: number; judged: Judgement }

function narrateView(
  { input, company, news, now }: Gathering,
  view: MarketView,
  { language, name, quality, judged }: Telling,
): Narrative {
  const { provenance } = view
  const { decimals, currency, decision, strategy, levels } = judged
  return narrate({
    language,
    name,
    code: input.instrument.key,
    decimals,
    currency,
    decision,
    strategy,
    levels,
    quality,
    limitations: limitationsOf(judged, language),
    date: view.bars.at(-1)?.date ?? view.phase.effective_daily_bar_date,
    partial: view.partial,
    price: view.price,
    changePct: view.changePct,
    barCount: view.bars.length,
    technical: view.technical,
    phase: view.phase,
    sampleNotice: provenance && sampleNotice(provenance, language),
    company: companyTexts({
      ...judged,
      instrument: input.instrument,
      company,
      news,
      price: view.price,
      asOf: priceDay(view.bars.at(-1) ?? null, now),
      isSample: provenance !== null,
      language,
    }),
  })
}

function limitationsOf(
  { evidence, unknownSkills, skillFindings, decision }: Judgement,
  language: ReportLanguage,
): string[] {
  const phrases = phrasesOf(language)
  const isAgainst = decision.type === 'buy' && skillFindings.some(({ verdict }) => verdict === 'not')
  const allAgainst = isAgainst && skillFindings.every(({ verdict }) => verdict === 'not' || verdict === 'unknown')
  return [
    ...evidence.notes,
    ...(unknownSkills.length > 0 ? [fill(phrases.unknownSkills, { names: unknownSkills.join(', ') })] : []),
    ...(allAgainst ? [phrases.skillsAgainst] : []),
  ]
}

/** Every attempt at bars and quote, in the order in which they began. */
export function priceRuns({ bars, quote }: Pick<Prices, 'bars' | 'quote'>): ProviderRun[] {
  return [...quote.runs, ...bars.runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/** Every attempt of a run. */
export function allRuns(gathering: Gathering): ProviderRun[] {
  return [...priceRuns(gathering), ...companyRuns(gathering.company), ...(gathering.news?.runs ?? [])]
}

function diagnosticsOf(input: AnalysisInput, runs: ProviderRun[]): StoredDiagnostics {
  const { traceId, taskId, queryId, triggerSource, instrument } = input
  return storedDiagnostics({ traceId, taskId, queryId, triggerSource, stockCode: instrument.key }, runs)
}
