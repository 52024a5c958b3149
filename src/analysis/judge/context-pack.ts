import { isoMicros } from '../../lib/clock.ts'
import type { CheckKey, Finding } from '../../market/consistency/types.ts'
import type { Inputs } from '../gather/gather.ts'
import { ContextBlock as BlockSchema, type ContextBlock, type ContextPackOverview } from '../schemas.ts'
import { TRIGGER_SOURCE } from '../task.ts'
import { textsOf } from '../texts/book.ts'

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

type Subject = Pick<Inputs, 'instrument' | 'displayName' | 'now' | 'language' | 'consistency'>

/** The overview of all evidence with its quality. */
export function contextPackOverview(
  { instrument, displayName, now, language, consistency }: Subject,
  blocks: readonly Block[],
  newsCount: number | null,
): ContextPackOverview {
  const labels = textsOf(language).report.block
  return {
    pack_version: '1.0',
    created_at: isoMicros(now),
    subject: { code: instrument.key, stock_name: displayName, market: instrument.market },
    blocks: blocks.map((block) => ({
      ...block,
      label: labels[block.key],
      warnings: block.warnings.slice(0, MAX_WARNINGS),
      missing_reasons: block.missing_reasons.slice(0, MAX_REASONS),
    })),
    counts: countByStatus(blocks),
    data_quality: dataQuality(blocks, consistency.findings),
    warnings: blocks.flatMap((block) => block.warnings).slice(0, MAX_WARNINGS),
    metadata: { trigger_source: TRIGGER_SOURCE, news_result_count: newsCount },
  }
}

/** What a check that warns takes off, and what is left of figures that failed one. */
const WARNED_OFF = 20
const WARNED_LEAST = 40
const FAILED_VOLUME = 40
/** Figures that could be compared with no others are never called good. */
const UNCOMPARED_MOST = 84

/** Whether the figures can be true, 0 to 100: nothing is left where a check that touches prices failed. */
export function plausibility(findings: readonly Finding[]): number {
  const failed = findings.filter(({ verdict }) => verdict === 'fail')
  if (failed.some(({ touches }) => touches.some((touch) => touch !== 'volume'))) return 0
  if (failed.length > 0) return FAILED_VOLUME
  const warned = findings.filter(({ verdict }) => verdict === 'warn').length
  if (warned > 0) return Math.max(WARNED_LEAST, 100 - WARNED_OFF * warned)
  const isCompared = findings.some(({ check, verdict }) => COMPARING.includes(check) && verdict === 'pass')
  return isCompared ? 100 : UNCOMPARED_MOST
}

const COMPARING: readonly CheckKey[] = ['previous_close', 'same_day_close']

/**
 * The quality of the evidence, 0 to 100, with what holds it down. What cannot be true is no evidence, however complete it
 * is: presence, the weighted mean of what each block's state is worth, counts up to the plausibility.
 */
export function dataQuality(
  blocks: readonly Block[],
  findings: readonly Finding[],
): ContextPackOverview['data_quality'] {
  const scored = blocks.flatMap(({ key, status }) =>
    key === 'portfolio' ? [] : [{ key, score: STATUS_SCORE[status] }],
  )
  const total = scored.reduce((sum, { key }) => sum + WEIGHT[key], 0)
  const points = scored.reduce((sum, { key, score }) => sum + WEIGHT[key] * score, 0)
  const presence = total === 0 ? 0 : Math.round(points / total)
  const plausible = plausibility(findings)
  const overall = Math.min(presence, plausible)
  const alarms = findings.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
  const short = blocks.filter(({ status }) => status !== 'available')
  return {
    overall_score: overall,
    plausibility: plausible,
    presence,
    level: levelOf(overall),
    block_scores: Object.fromEntries(scored.map(({ key, score }) => [key, score])),
    limitations: [
      ...alarms.map(({ check, verdict }) => `${check}: ${verdict}`),
      ...short.map(({ key, status }) => `${key}: ${status}`),
    ].slice(0, MAX_LIMITATIONS),
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
