// A review as a record of the history: in lists it looks like any other report; requests for it get its own text and
// payload.

import { z } from 'zod'
import type { NewAnalysis, StoredAnalysis } from '../../db/analyses.ts'
import { isoMicros } from '../../lib/clock.ts'
import { storedDiagnostics } from '../diagnostics.ts'
import { recordOf } from '../report/record.ts'
import { type AnalysisReport, type ReportLanguage, type ReportMeta, wireProvenance } from '../schemas.ts'
import { REVIEW_CODE, type RunJob } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import { sampleLabelled } from '../texts/format.ts'
import { svgAddress } from './chart.ts'
import type { MarketLight } from './judge.ts'
import type { Review } from './payload.ts'
import { REGION_SPECS, type Region } from './regions.ts'

/** Neutral: for a review of markets without a light. */
const NO_SCORE = 50

export function reviewRecord(review: Review, job: RunJob, now: number): NewAnalysis {
  const { owner, request } = job
  const diagnostics = {
    ...storedDiagnostics({ ...job, stockCode: REVIEW_CODE }, review.runs),
    llm_runs: review.modelRuns.map((run) => ({ ...run })),
    scope: 'market_review',
  }
  const record = recordOf({ owner, request, report: reportOfReview(review, job, now), diagnostics })
  return { ...record, sentimentScore: lightOf(review, request.language).score }
}

/**
 * The combined text of the markets' lights; if there are several, each market is named. Markets without a light are
 * left out.
 */
function lightOf({ lights, provenance }: Review, language: ReportLanguage) {
  const shown = Object.entries(lights)
  const { colon } = textsOf(language).review
  const words = (of: (light: MarketLight) => string) => {
    const named = shown.map(([region, light]) =>
      shown.length === 1 ? of(light) : `${REGION_SPECS[region as Region].scope[language]}${colon}${of(light)}`,
    )
    const text = named.join(textsOf(language).report.clauseJoin)
    return text === '' ? '' : sampleLabelled(text, provenance, language)
  }
  const sum = shown.reduce((total, [, light]) => total + light.score, 0)
  return {
    score: shown.length === 0 ? null : Math.round(sum / shown.length),
    advice: words(({ label }) => label),
    trend: words(({ temperature_label }) => temperature_label),
  }
}

function reportOfReview(review: Review, { queryId, request }: RunJob, now: number): AnalysisReport {
  const { language } = request
  const light = lightOf(review, language)
  return {
    meta: metaOf(review, { queryId, language, now }),
    summary: {
      analysis_summary: review.summary,
      operation_advice: light.advice,
      action: null,
      action_label: null,
      trend_prediction: light.trend,
      sentiment_score: light.score ?? NO_SCORE,
      sentiment_label: null,
    },
    strategy: null,
    details: {
      news_content: null,
      empty_news_disclosure: null,
      raw_result: { market_review_report: review.text },
      context_snapshot: {
        report_kind: 'market_review',
        market_review_region: request.region,
        report_language: language,
        market_light_snapshots: review.lights,
        market_review_payload: review.payload,
        analysis_context_pack_overview: null,
      },
      ...NO_COMPANY,
    },
  }
}

function metaOf(
  review: Review,
  { queryId, language, now }: { queryId: string; language: ReportLanguage; now: number },
): ReportMeta {
  return {
    id: null,
    query_id: queryId,
    stock_code: REVIEW_CODE,
    stock_name: textsOf(language).review.title,
    report_type: 'market_review',
    report_language: language,
    created_at: isoMicros(now),
    current_price: null,
    change_pct: null,
    model_used: review.model,
    market_phase_summary: null,
    data_notice: review.notice,
    data_provenance: wireProvenance(review.provenance),
    data_checks: review.checks,
    reading: null,
  }
}

/** Fields that only a company's report has. */
const NO_COMPANY = {
  analysis_context_pack_overview: null,
  financial_report: null,
  dividend_metrics: null,
  belong_boards: null,
  sector_rankings: null,
  concept_rankings: null,
  market_structure: null,
}

const Text = z.object({ details: z.object({ raw_result: z.object({ market_review_report: z.string() }) }) })
const Payload = z.object({ market_review_payload: z.record(z.string(), z.unknown()) })

type ReviewRow = Pick<StoredAnalysis, 'stockName' | 'reportType' | 'report' | 'contextSnapshot'>

/** A stored review; text and payload are null when they cannot be read, and for a record that is not a review. */
export function reviewOf(stored: ReviewRow): {
  /** Includes the day of its figures. */
  title: string
  text: string | null
  payload: Record<string, unknown> | null
} {
  if (stored.reportType !== 'market_review') return { title: '', text: null, payload: null }
  const text = Text.safeParse(JSON.parse(stored.report)).data?.details.raw_result.market_review_report
  const payload = Payload.safeParse(JSON.parse(stored.contextSnapshot ?? 'null')).data?.market_review_payload
  const title = typeof payload?.title === 'string' ? payload.title : (stored.stockName ?? REVIEW_CODE)
  return { title, text: text === undefined || text === '' ? null : text, payload: payload ?? null }
}

const Chart = z.object({ chart_svg: z.string().nullable().catch(null) })
const Charted = z.object({ region: z.string(), markets: z.record(z.string(), Chart).nullish(), ...Chart.shape })

/** The charts of a stored review by their markets. */
export function chartsOf(stored: ReviewRow): Map<string, string> {
  const payload = Charted.safeParse(reviewOf(stored).payload).data
  if (payload === undefined) return new Map()
  const all = payload.markets ? Object.entries(payload.markets) : [[payload.region, payload] as const]
  return new Map(all.flatMap(([region, { chart_svg: svg }]) => (svg === null ? [] : [[region, svg]])))
}

/** The same value with addresses in place of its pictures: clients that sanitize Markdown do not show inline pictures. */
export function withChartAddresses<T>(value: T, stored: ReviewRow & Pick<StoredAnalysis, 'queryId'>): T {
  const charts = [...chartsOf(stored)]
  if (charts.length === 0) return value
  const path = `/api/v1/history/${stored.queryId}/chart.svg?region=`
  const told = charts.reduce(
    (text, [region, svg]) => text.replaceAll(svgAddress(svg), path + region),
    JSON.stringify(value),
  )
  return JSON.parse(told) as T
}
