// The sentences a code-made report is built from, in its three languages, as templates with `{names}`.

import type { FinancialReport } from '../market/company.ts'
import type { ReportLanguage } from '../reports/report.ts'
import type { PartState } from './company.ts'
import type { Decision } from './decision.ts'
import type { NarratorFault } from './narrator.ts'
import { en } from './phrases/en.ts'
import { ko } from './phrases/ko.ts'
import { zh } from './phrases/zh.ts'
import type { ReasonCode } from './score.ts'
import type { RunStage, StageKey } from './stages.ts'

export type Phrases = {
  /** Why a part of the score has its points; `{value}` is the figure that decided. */
  reason: Record<ReasonCode, string>
  stage: Record<StageKey, string>
  failure: Record<'no_data' | 'deadline' | 'cancelled', string>
  /** What a failure calls the stage it happened in. */
  stageName: Record<RunStage, string>
  summaryClosed: string
  summaryLive: string
  summaryNoPrice: string
  view: string
  good: string
  bad: string
  noTechnical: string
  oneSentence: string
  averages: string
  momentum: string
  range: string
  /** By what the decision comes to. */
  noPosition: Record<Decision['type'], string>
  hasPosition: Record<Decision['type'], string>
  /** The same where no level could be derived. */
  noPositionBare: Record<Decision['type'], string>
  hasPositionBare: Record<Decision['type'], string>
  size: Record<Decision['type'], string>
  timing: Record<Decision['type'], string>
  entryPlan: string
  riskControl: string
  /** Stop and target as changes of the price. */
  riskReward: string
  immediate: Record<Decision['type'], string>
  notNow: string
  window: Record<'open' | 'next', string>
  watchBelow: string
  watchAbove: string
  nextCheck: Record<'open' | 'next', string>
  confidence: string
  limitation: string
  staleBars: string
  staleQuote: string
  partialBar: string
  nameMismatch: string
  otherCurrency: string
  mixedSources: string
  nearYearHigh: string
  nearYearLow: string
  unknown: string
  changes: Record<'price' | 'samePrice' | 'score' | 'sameScore' | 'parts' | 'trend' | 'advice' | 'crossed', string>
  /** Results by the period they are of; `{figures}` are those that are known. */
  results: Record<FinancialReport['period'], string>
  resultFigure: Record<'revenue' | 'profit' | 'cashFlow' | 'margin' | 'roe' | 'roeTrailing' | 'onYear', string>
  valuation: Record<'pe' | 'pb' | 'size' | 'on', string>
  dividends: Record<'paid' | 'yield' | 'none' | 'mixed', string>
  company: Record<'flow' | 'chips' | 'boards' | 'ranked' | 'absent' | 'notAsked', string>
  part: Record<'results' | 'flow' | 'boards' | 'rankings' | 'chips', string>
  partState: Record<Exclude<PartState, 'ok'>, string>
  news: Record<'found' | 'pooled' | 'undated' | 'social', string>
  /** A kept answer with its age. */
  kept: string
  age: Record<'seconds' | 'minutes' | 'hours' | 'days', string>
  modelFailed: string
  modelFault: Record<NarratorFault, string>
  modelDiffers: string
  figuresStruck: string
  unknownSkills: string
  skillFinding: string
  skillsAgainst: string
}

const PHRASES: Record<ReportLanguage, Phrases> = { zh, en, ko }

export function phrasesOf(language: ReportLanguage): Phrases {
  return PHRASES[language]
}
