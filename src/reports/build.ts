// From the facts of one analysis to the report. Nothing is decided here: score, advice, levels and words come in, each is
// put where its readers look for it, and the same value goes to every place that shows it.

import type { FlowView } from '../analysis/capital-flow.ts'
import type { Changes } from '../analysis/changes.ts'
import type { Company } from '../analysis/company.ts'
import type { Decision } from '../analysis/decision.ts'
import type { Structure } from '../analysis/guardrails.ts'
import type { NearbyLevels, StrategyLevels } from '../analysis/levels.ts'
import type { Told } from '../analysis/model-narrative.ts'
import type { Narrative } from '../analysis/narrative.ts'
import type { Technical } from '../analysis/signals.ts'
import type { SkillFinding } from '../analysis/skills/catalogue.ts'
import { isoMicros } from '../lib/clock.ts'
import type { Bar, Quote } from '../market/bars.ts'
import type { ChipDistribution } from '../market/indicators/chips.ts'
import type { Instrument } from '../market/instruments.ts'
import type { Provenance } from '../market/provider-run.ts'
import type { CompanyValue } from '../market/valuation.ts'
import type { NewsFound } from '../news/search.ts'
import { actionLabel, deriveAction } from './action.ts'
import { contextSnapshot } from './build-context.ts'
import { rawResult } from './build-raw.ts'
import { belongBoards, type DividendInput, dividendMetrics, financialReport, wireRankings } from './company.ts'
import type { StoredDiagnostics } from './diagnostics.ts'
import {
  type CurrencyCode,
  emptyNewsDisclosure,
  labelsOf,
  type NewsEvidence,
  sampleNotice,
  sentimentLevel,
} from './labels.ts'
import { marketStructure } from './market-structure.ts'
import { newsContent } from './news-content.ts'
import { wireProvenance } from './provenance.ts'
import type {
  Action,
  AnalysisReport,
  ContextPackOverview,
  MarketPhaseSummary,
  ReportLanguage,
  ReportMeta,
  ReportStrategy,
} from './report.ts'

export type RequestReportType = 'simple' | 'detailed' | 'full' | 'brief'

export type AnalysisFacts = {
  queryId: string
  createdAt: number
  instrument: Instrument
  /** Null when nobody knows it. */
  stockName: string | null
  displayName: string
  language: ReportLanguage
  /** The word of the request; history maps it with `storedReportType`. */
  reportType: RequestReportType
  skills: string[] | null
  price: number | null
  changePct: number | null
  decimals: number
  currency: CurrencyCode
  /** What the price is counted in, also where reports have no name for that money. */
  priceCurrency: string | null
  /** The last bar and the one before it. */
  today: Bar | null
  yesterday: Bar | null
  /** All of them, oldest first. */
  bars: readonly Bar[]
  barCount: number
  partial: boolean
  quote: Quote | null
  quoteSource: string | null
  provenance: Provenance | null
  technical: Technical | null
  nearby: NearbyLevels | null
  decision: Decision
  levels: StrategyLevels
  strategy: ReportStrategy | null
  narrative: Narrative
  phase: MarketPhaseSummary
  overview: ContextPackOverview
  news: NewsEvidence
  newsFound: NewsFound | null
  company: Company
  flow: FlowView
  /** Ratios and size of the company; null while nobody tells. */
  value: CompanyValue | null
  chips: ChipDistribution | null
  structure: Structure | null
  changes: Changes | null
  skillFindings: SkillFinding[]
  unknownSkills: string[]
  /** What a model wrote; null when none was asked. */
  told: Told | null
  diagnostics: StoredDiagnostics
}

/** What both halves of the details repeat from the summary. */
export type Verdict = { action: Action | null; actionLabel: string | null; advice: string; trend: string }

export function buildReport(facts: AnalysisFacts): AnalysisReport {
  const { decision, language } = facts
  const verdict = verdictOf(facts)
  return {
    meta: metaOf(facts),
    summary: {
      analysis_summary: facts.narrative.summary,
      operation_advice: verdict.advice,
      action: verdict.action,
      action_label: verdict.actionLabel,
      trend_prediction: verdict.trend,
      sentiment_score: decision.score,
      sentiment_label: labelsOf(language).sentiment[sentimentLevel(decision.score)],
    },
    strategy: facts.strategy,
    details: {
      news_content: newsContent(facts.newsFound, language),
      empty_news_disclosure: emptyNewsDisclosure(facts.news, language),
      raw_result: rawResult(facts, verdict),
      context_snapshot: contextSnapshot(facts),
      analysis_context_pack_overview: facts.overview,
      financial_report: financialReport(facts.company),
      dividend_metrics: dividendMetrics(dividendInput(facts)),
      belong_boards: belongBoards(facts.company),
      sector_rankings: wireRankings(facts.company, 'industries'),
      concept_rankings: wireRankings(facts.company, 'concepts'),
      market_structure: structureOf(facts),
    },
  }
}

function verdictOf({ decision, language, narrative }: AnalysisFacts): Verdict {
  const labels = labelsOf(language)
  const advice = labels.advice[decision.advice]
  const action = deriveAction({
    explicit: decision.action,
    advice,
    score: decision.score,
    guardrailReason: narrative.guardReason,
  })
  return {
    action,
    actionLabel: actionLabel(action, language),
    advice,
    trend: labels.trendPrediction[decision.trend],
  }
}

function metaOf(facts: AnalysisFacts): ReportMeta {
  const { provenance, language } = facts
  return {
    id: null,
    query_id: facts.queryId,
    stock_code: facts.instrument.key,
    stock_name: facts.displayName,
    report_type: facts.reportType,
    report_language: language,
    created_at: isoMicros(facts.createdAt),
    current_price: facts.price,
    change_pct: facts.changePct,
    model_used: facts.told?.model ?? null,
    market_phase_summary: facts.phase,
    data_notice: provenance && sampleNotice(provenance, language),
    data_provenance: wireProvenance(provenance),
  }
}

export function dividendInput({ company, price, priceCurrency, today, createdAt }: AnalysisFacts): DividendInput {
  return { company, price, priceCurrency, asOf: priceDay(today, createdAt) }
}

function structureOf({ instrument, displayName, today, company }: AnalysisFacts): Record<string, unknown> {
  return marketStructure({ instrument, stockName: displayName, date: today?.date ?? null, company })
}

/** The day that the price belongs to. */
export const priceDay = (today: Bar | null, createdAt: number): string =>
  today?.date ?? isoMicros(createdAt).slice(0, 10)

/** The report type as history keeps it: `detailed` and `full` are one thing there. */
export function storedReportType(word: string): 'simple' | 'full' | 'brief' | 'market_review' {
  if (word === 'detailed' || word === 'full') return 'full'
  if (word === 'market' || word === 'market_review') return 'market_review'
  return word === 'brief' ? 'brief' : 'simple'
}
