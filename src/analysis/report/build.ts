// The last step, from the judgement and its texts to the report. Nothing is decided here: score, advice, levels and
// texts are given, each is put into the fields where readers expect it, and every field shows the same value.

import { isoMicros } from '../../lib/clock.ts'
import { type StoredDiagnostics, storedDiagnostics } from '../diagnostics.ts'
import { allRuns } from '../gather/gather.ts'
import type { Judged } from '../judge/judge.ts'
import { AnalysisReport, type ReportMeta, wireProvenance } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { checksNotice } from '../texts/findings.ts'
import {
  emptyNewsDisclosure,
  figure,
  keptDecimals,
  sampleLabelled,
  sampleNotice,
  sentimentLevel,
} from '../texts/format.ts'
import { figureCheck } from '../write/model-box.ts'
import type { Words } from '../write/write.ts'
import { actionLabel, deriveAction } from './action.ts'
import { contextSnapshot, newsContent } from './build-context.ts'
import { rawResult } from './build-raw.ts'
import { belongBoards, dividendMetrics, financialReport, wireRankings } from './company.ts'
import type { Facts, Verdict } from './facts.ts'
import { marketStructure } from './market-structure.ts'

export type Report = { report: AnalysisReport; diagnostics: StoredDiagnostics; stockName: string | null }

/** The last step. */
export function report(judged: Judged, words: Words): Report {
  const diagnostics = diagnosticsOf(judged, words)
  const built = AnalysisReport.parse(buildReport({ ...judged, ...words, diagnostics }))
  return { report: built, diagnostics, stockName: judged.stockName }
}

function diagnosticsOf(judged: Judged, { told }: Words): StoredDiagnostics {
  const stored = storedDiagnostics({ ...judged, stockCode: judged.instrument.key }, allRuns(judged))
  if (told === null) return stored
  const check = figureCheck(told)
  return {
    ...stored,
    llm_runs: told.runs.map((run) => ({ ...run })),
    ...(check === null ? {} : { figure_check: check }),
  }
}

function buildReport(facts: Facts): AnalysisReport {
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
      sentiment_label: sentimentLabel(facts),
    },
    strategy: facts.strategy,
    details: {
      news_content: newsContent(facts.news, language),
      empty_news_disclosure: emptyNewsDisclosure(facts.newsEvidence, language),
      raw_result: rawResult(facts, verdict),
      context_snapshot: contextSnapshot(facts),
      analysis_context_pack_overview: facts.overview,
      financial_report: financialReport(facts.company),
      dividend_metrics: dividendMetrics(facts),
      belong_boards: belongBoards(facts.company),
      sector_rankings: wireRankings(facts.company, 'industries'),
      concept_rankings: wireRankings(facts.company, 'concepts'),
      market_structure: marketStructure(facts),
    },
  }
}

/** A missing score has the neutral figure, because readers need a number, and its label says so. */
function sentimentLabel({ decision, language, consistency }: Facts): string {
  const { report: labels, consistency: words } = textsOf(language)
  return consistency.isBlocked ? words.noScore : labels.sentiment[sentimentLevel(decision.score)]
}

/** Lists and titles show only these words, so those of a sample contain the word "sample". */
function verdictOf({ decision, language, narrative, provenance }: Facts): Verdict {
  const labels = textsOf(language).report
  const labelled = (text: string): string => sampleLabelled(text, provenance, language)
  const plain = labels.advice[decision.advice]
  const [advice, trend] = [labelled(plain), labelled(labels.trendPrediction[decision.trend])]
  if (decision.action === null) return { action: null, actionLabel: null, advice, trend }
  const action = deriveAction({
    explicit: decision.action,
    advice: plain,
    score: decision.score,
    guardrailReason: narrative.guardReason,
  })
  const label = actionLabel(action, language)
  return { action, actionLabel: label && labelled(label), advice, trend }
}

function metaOf(facts: Facts): ReportMeta {
  const { provenance, language } = facts
  return {
    id: null,
    query_id: facts.queryId,
    stock_code: facts.instrument.key,
    stock_name: facts.displayName,
    report_type: facts.request.reportType,
    report_language: language,
    created_at: isoMicros(facts.now),
    current_price: figure(facts.price, keptDecimals(facts.decimals)),
    change_pct: facts.changePct,
    model_used: facts.told?.model ?? null,
    market_phase_summary: facts.phase,
    data_notice: provenance && sampleNotice(provenance, language),
    data_provenance: wireProvenance(provenance),
    data_checks: checksNotice(facts.consistency, language),
    reading: facts.request.reading,
  }
}
