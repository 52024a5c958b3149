import { fill } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import { phrasesOf } from './phrases.ts'

/** The stages of one run with the progress at which each is reported. Those of a model's answer lie between 58 and 94. */
export const STAGE_PROGRESS = {
  queued: 0,
  started: 10,
  preparing: 12,
  daily_bars: 16,
  quote: 18,
  trend: 32,
  news: 46,
  news_skipped: 46,
  context: 58,
  model: 64,
  model_wait: 68,
  parsing: 93,
  repairing: 93,
  validating: 94,
  saving: 97,
  done: 100,
} as const

export type StageKey = keyof typeof STAGE_PROGRESS

/** The stages in which a run itself can end. */
export type RunStage = 'preparing' | 'daily_bars' | 'quote' | 'trend' | 'news' | 'context' | 'model' | 'validating'

export type StageSubject = { name: string; language: ReportLanguage }

/** The message of a stage: the stock's name, a full-width colon in every language (clients cut there), what is going on. */
export function stageMessage(
  stage: StageKey,
  { name, language }: StageSubject,
  values: Record<string, string | number> = {},
): string {
  return `${name}：${fill(phrasesOf(language).stage[stage], values)}`
}
