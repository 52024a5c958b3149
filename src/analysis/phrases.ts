// The sentences a code-made report is built from, in its three languages, as templates with `{names}`.

import type { ReportLanguage } from '../reports/report.ts'
import type { Decision } from './decision.ts'
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
  size: Record<Decision['type'], string>
  timing: Record<Decision['type'], string>
  entryPlan: string
  riskControl: string
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
  mixedSources: string
  nearYearHigh: string
  nearYearLow: string
  unknown: string
}

const PHRASES: Record<ReportLanguage, Phrases> = { zh, en, ko }

export function phrasesOf(language: ReportLanguage): Phrases {
  return PHRASES[language]
}
