// Every fixed word of a review in its three languages.

import type { ReportLanguage } from '../reports/report.ts'
import type { Gap } from './facts.ts'
import type { LightState, Temperature } from './light.ts'
import { en } from './words/en.ts'
import { ko } from './words/ko.ts'
import { zh } from './words/zh.ts'

/** The parts of a review, in their order. */
export const PARTS = ['overview', 'indices', 'sectors', 'funds', 'news', 'plan', 'risks'] as const
export type Part = (typeof PARTS)[number]

/** How the main index went: more than 1 %, up, down by less than 1 %, further down. */
export type Tone = 'strong' | 'firm' | 'soft' | 'weak'

type IndexColumn = 'name' | 'current' | 'change' | 'high' | 'low' | 'amplitude' | 'amount' | 'date'

export type ReviewWords = {
  /** The name of a review in lists. */
  title: string
  /** A review's heading, with its date. */
  dated: (date: string) => string
  regionReview: (scope: string) => string
  part: Record<Part, string>
  column: Record<IndexColumn, string>
  breadthTable: Record<'up' | 'down' | 'flat' | 'limitUp' | 'limitDown' | 'turnover', string>
  board: Record<'industry' | 'concept' | 'top' | 'bottom' | 'change' | 'leader' | 'netInflow', string>
  overnightTitle: string
  chartTitle: string
  light: Record<LightState, string>
  lightLine: (light: { label: string; temperature: string; score: number }) => string
  temperature: Record<Temperature, string>
  guidance: Record<LightState, string>
  reason: {
    main: (name: string, change: string) => string
    average: (change: string) => string
    breadth: (up: number, down: number) => string
    limits: (up: number, down: number) => string
    leader: (name: string, change: string) => string
  }
  tone: Record<Tone, string>
  indexSpread: (best: string, worst: string) => string
  /** Of the last close among those of the chart. */
  place: (percent: number, sessions: number) => string
  fundsLine: (names: string) => string
  noFunds: string
  noSectors: string
  noNews: string
  plan: Record<LightState, string>
  risk: Record<LightState, string>
  volatile: (name: string, amplitude: string) => string
  partial: string
  missing: string
  gap: Record<Gap['what'], string>
  regionFailed: (scope: string, reason: string) => string
  failedTitle: string
  noIndex: string
  timedOut: (seconds: number) => string
  codeMade: string
  modelMade: (model: string) => string
  disclaimer: string
  colon: string
  comma: string
  stage: Record<'preparing' | 'narrating' | 'saving', string>
  stageRegion: (scope: string) => string
  noReport: (reasons: string) => string
}

const WORDS: Record<ReportLanguage, ReviewWords> = { zh, en, ko }

export function reviewWords(language: ReportLanguage): ReviewWords {
  return WORDS[language]
}
