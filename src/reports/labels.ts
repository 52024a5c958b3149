// Every fixed word of a report in its three languages. A further language is one more file of the same shape.

import type { LevelBasis } from '../analysis/levels.ts'
import type { ScorePartKey } from '../analysis/score.ts'
import type { TrendState } from '../analysis/trend.ts'
import type { ChipHealth } from '../market/indicators/chips.ts'
import type { Dimension } from '../news/article.ts'
import { en } from './languages/en.ts'
import { ko } from './languages/ko.ts'
import { zh } from './languages/zh.ts'
import type {
  Action,
  ContextBlock,
  DiagnosticComponent,
  DiagnosticSummary,
  MarketPhaseSummary,
  ReportLanguage,
} from './report.ts'

export const ADVICES = ['strong_buy', 'buy', 'hold', 'watch', 'reduce', 'sell', 'strong_sell'] as const
export type Advice = (typeof ADVICES)[number]
export type TrendPrediction = 'strong_bullish' | 'bullish' | 'sideways' | 'bearish' | 'strong_bearish'
export type Confidence = 'high' | 'medium' | 'low'
export type GuardCode =
  | 'insufficient_bars'
  | 'trend_unconfirmed'
  | 'trend_against_score'
  | 'buy_near_resistance'
  | 'buy_against_outflow'
  | 'buy_in_mid_range'
  | 'sell_near_support'
  | 'sell_into_inflow'
  | 'defensive_market'
  | 'unsettled'
  | 'reversal'
export type SentimentLevel = 'very_bullish' | 'bullish' | 'neutral' | 'bearish' | 'very_bearish'
export type CurrencyCode = 'CNY' | 'HKD' | 'USD' | 'JPY' | 'KRW' | 'TWD' | 'points'

type Indicator = 'ma' | 'bias' | 'macd' | 'rsi' | 'kdj' | 'boll' | 'atr' | 'volume' | 'volume_ratio' | 'year_range'

type Heading =
  | 'report'
  | 'price'
  | 'data_date'
  | 'session'
  | 'conclusion'
  | 'advice'
  | 'trend'
  | 'score'
  | 'confidence'
  | 'score_parts'
  | 'part'
  | 'points'
  | 'reason'
  | 'levels'
  | 'level'
  | 'reference'
  | 'indicators'
  | 'indicator'
  | 'value'
  | 'supports'
  | 'resistances'
  | 'reasons_for'
  | 'risks'
  | 'plan'
  | 'no_position'
  | 'has_position'
  | 'entry_plan'
  | 'risk_control'
  | 'data_quality'
  | 'diagnostics'
  | 'company'
  | 'news'
  | 'strategies'
  | 'changes'
  | 'outlook'
  | 'model'
  | 'disclaimer'

export type Labels = {
  sentiment: Record<SentimentLevel, string>
  action: Record<Action, string>
  advice: Record<Advice, string>
  trendPrediction: Record<TrendPrediction, string>
  confidence: Record<Confidence, string>
  trendState: Record<TrendState, string>
  scorePart: Record<ScorePartKey, string>
  guard: Record<GuardCode, string>
  level: Record<'ideal_buy' | 'secondary_buy' | 'stop_loss' | 'take_profit', string>
  basis: Record<LevelBasis, string>
  /** How a level stands to its basis: `near`, or so many ATR `below` or `above` it. */
  place: Record<'near' | 'below' | 'above', string>
  /** A number before its unit; `{amount}`, `{unit}`. */
  amountText: string
  /** What is said beside a text, with the blank before it where the language has one; `{text}`. */
  aside: string
  /** `renminbi` is CNY beside a listing in other money. */
  unit: Record<CurrencyCode | 'renminbi', string>
  phase: Record<MarketPhaseSummary['phase'], string>
  /** The phase of a day that is not the data's; `{phase}`. */
  phaseNow: string
  /** The phase that the request asked for; `{phase}`. */
  phaseAsked: string
  block: Record<ContextBlock['key'], string>
  blockStatus: Record<ContextBlock['status'], string>
  diagnosticStatus: Record<DiagnosticSummary['status'], string>
  component: Record<keyof DiagnosticSummary['components'], string>
  componentStatus: Record<DiagnosticComponent['status'], string>
  diagnostic: Record<'answered' | 'before' | 'all_failed' | 'not_asked' | 'sample' | 'not_saved' | 'saved', string>
  overall: Record<'normal' | 'unknown' | 'affected', string>
  disclosure: Record<'not_configured' | 'no_hits', string>
  sample: Record<'historical' | 'synthetic', string>
  heading: Record<Heading, string>
  indicator: Record<Indicator, string>
  /** Large numbers: divisor and suffix, largest first. */
  magnitudes: readonly (readonly [number, string])[]
  chipHealth: Record<ChipHealth, string>
  newsDimension: Record<Dimension, string>
  unnamed: string
  codeMade: string
  modelMade: string
  disclaimer: string
  /** Between the parts of a clause. */
  comma: string
  /** Between clauses that have commas of their own. */
  clauseJoin: string
  listComma: string
  colon: string
}

const LABELS: Record<ReportLanguage, Labels> = { zh, en, ko }

export function labelsOf(language: ReportLanguage): Labels {
  return LABELS[language]
}

/** A template with its `{names}` filled in; a name without a value stays as it is, which shows in the text. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** The sentiment word of a score: five bands of twenty points. */
export function sentimentLevel(score: number): SentimentLevel {
  if (score >= 80) return 'very_bullish'
  if (score >= 60) return 'bullish'
  if (score >= 40) return 'neutral'
  return score >= 20 ? 'bearish' : 'very_bearish'
}

/** The notice that figures are not a live market's. It stands in every rendering of such a report. */
export function sampleNotice(
  provenance: { kind: 'historical' | 'synthetic'; endsOn: string },
  language: ReportLanguage,
): string {
  return fill(labelsOf(language).sample[provenance.kind], { date: provenance.endsOn })
}

/** What is known of the news search behind a report. `count` is null when no channel was configured. */
export type NewsEvidence = { known: boolean; count: number | null; evidencePresent: boolean }

/** The admission that no news went into the analysis; null when some did, or when nothing is known of the search. */
export function emptyNewsDisclosure(news: NewsEvidence, language: ReportLanguage): string | null {
  if (!news.known || news.evidencePresent || (news.count ?? 0) > 0) return null
  const { disclosure } = labelsOf(language)
  return news.count === null ? disclosure.not_configured : disclosure.no_hits
}
