import { isoMicros } from '../lib/clock.ts'
import { labelsOf } from './labels.ts'
import {
  ContextBlock as BlockSchema,
  type ContextBlock,
  type ContextPackOverview,
  type ReportLanguage,
} from './report.ts'

/** What is known of one kind of evidence behind a report, before it is put into words. */
export type Block = Omit<ContextBlock, 'label'>

type Weighted = Exclude<Block['key'], 'portfolio'>

const WEIGHT: Record<Weighted, number> = {
  quote: 25,
  daily_bars: 25,
  technical: 25,
  chip: 5,
  fundamentals: 10,
  news: 10,
}

const STATUS_SCORE: Record<Block['status'], number> = {
  available: 100,
  partial: 75,
  estimated: 75,
  not_supported: 70,
  fallback: 65,
  stale: 50,
  missing: 35,
  fetch_failed: 25,
}

const MAX_WARNINGS = 5
const MAX_REASONS = 3
const MAX_LIMITATIONS = 5

export type PackSubject = { code: string; stockName: string | null; market: string }

export type PackInput = {
  blocks: readonly Block[]
  subject: PackSubject
  createdAt: number
  language: ReportLanguage
  metadata: Record<string, unknown>
}

/** The overview of all evidence with its quality: the weighted mean of what each block's state is worth. */
export function contextPackOverview({
  blocks,
  subject,
  createdAt,
  language,
  metadata,
}: PackInput): ContextPackOverview {
  const labels = labelsOf(language).block
  return {
    pack_version: '1.0',
    created_at: isoMicros(createdAt),
    subject: { code: subject.code, stock_name: subject.stockName, market: subject.market },
    blocks: blocks.map((block) => ({
      ...block,
      label: labels[block.key],
      warnings: block.warnings.slice(0, MAX_WARNINGS),
      missing_reasons: block.missing_reasons.slice(0, MAX_REASONS),
    })),
    counts: countByStatus(blocks),
    data_quality: dataQuality(blocks),
    warnings: blocks.flatMap((block) => block.warnings).slice(0, MAX_WARNINGS),
    metadata,
  }
}

/** The quality of the evidence, 0 to 100, with what holds it down. */
export function dataQuality(blocks: readonly Block[]): ContextPackOverview['data_quality'] {
  const scored = blocks.flatMap(({ key, status }) =>
    key === 'portfolio' ? [] : [{ key, score: STATUS_SCORE[status] }],
  )
  const total = scored.reduce((sum, { key }) => sum + WEIGHT[key], 0)
  const points = scored.reduce((sum, { key, score }) => sum + WEIGHT[key] * score, 0)
  const overall = total === 0 ? 0 : Math.round(points / total)
  const short = blocks.filter(({ status }) => status !== 'available')
  return {
    overall_score: overall,
    level: levelOf(overall),
    block_scores: Object.fromEntries(scored.map(({ key, score }) => [key, score])),
    limitations: short.map(({ key, status }) => `${key}: ${status}`).slice(0, MAX_LIMITATIONS),
  }
}

function levelOf(score: number): ContextPackOverview['data_quality']['level'] {
  if (score >= 85) return 'good'
  if (score >= 70) return 'usable'
  return score >= 55 ? 'limited' : 'poor'
}

function countByStatus(blocks: readonly Block[]): Record<string, number> {
  const states = BlockSchema.shape.status.options
  return Object.fromEntries(states.map((state) => [state, blocks.filter(({ status }) => status === state).length]))
}
