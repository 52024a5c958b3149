// The reasons for the advice in a stored report, and its further texts. As everywhere in a stored report, a part that
// is missing or has an unexpected shape is not shown.

import type { DailyBar, Report } from '../wire.ts'
import { isObject } from './stored-parts.ts'

export type ScorePart = { label: string; points: number; max: number; reason: string }
export type Gate = { raw: number; score: number; reason: string }
export type Headline = { title: string; url: string | null; source: string; day: string }
export type Zone = { price: number; basis: string }
export type Strategy = { name: string; verdict: string; met: string[]; unmet: string[]; unknown: string[] }

export type Story = {
  oneSentence: string | null
  confidence: string | null
  scoreParts: ScorePart[]
  /** Changes of the advice, with reasons. */
  gates: Gate[]
  /** The number of checks of the figures, and of passed ones. */
  checked: { passed: number; made: number } | null
  changes: string[]
  risks: string[]
  catalysts: string[]
  doNext: { noPosition: string | null; hasPosition: string | null; watch: string[] }
  limitations: string[]
  supports: Zone[]
  resistances: Zone[]
  strategies: Strategy[]
  told: string[]
  headlines: Headline[]
  quality: { score: number; level: string; blocks: { label: string; status: string; source: string }[] } | null
  bars: DailyBar[]
  index: { code: string; name: string } | null
}

type Json = Record<string, unknown>

const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((part, name) => objectOf(part)[name], value)
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.flatMap((item) => text(item) ?? []) : [])
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

const TOLD = [
  ...['fundamental_analysis', 'capital_flow_summary', 'sector_position', 'chip_summary'],
  ...['news_summary', 'market_sentiment', 'short_term_outlook', 'medium_term_outlook'],
]

export function storedStory({ details }: Pick<Report, 'details'>): Story {
  const raw = objectOf(details?.raw_result)
  const context = objectOf(details?.context_snapshot)
  const trend = objectOf(at(context, 'enhanced_context', 'trend_analysis'))
  const dashboard = objectOf(raw.dashboard)
  const advice = objectOf(at(dashboard, 'core_conclusion', 'position_advice'))
  const index = objectOf(at(raw, 'market_comparison', 'index'))
  const [code, name] = [text(index.code), text(index.name)]
  return {
    oneSentence: text(at(dashboard, 'core_conclusion', 'one_sentence')),
    confidence: text(raw.confidence_level),
    scoreParts: list(trend.score_parts).flatMap(scorePart),
    gates: list(raw.guardrail_interventions).flatMap(gate),
    checked: checked(at(raw, 'consistency', 'findings')),
    changes: texts(at(raw, 'changes_since_previous', 'sentences')),
    risks: texts(at(dashboard, 'intelligence', 'risk_alerts')),
    catalysts: texts(at(dashboard, 'intelligence', 'positive_catalysts')),
    doNext: {
      noPosition: text(advice.no_position),
      hasPosition: text(advice.has_position),
      watch: texts(at(dashboard, 'phase_decision', 'watch_conditions')),
    },
    limitations: texts(at(dashboard, 'phase_decision', 'data_limitations')),
    supports: list(trend.supports).flatMap(zone),
    resistances: list(trend.resistances).flatMap(zone),
    strategies: list(at(raw, 'strategy_synthesis', 'findings')).flatMap(strategy),
    told: TOLD.flatMap((field) => text(raw[field]) ?? []),
    headlines: list(context.news_items).flatMap(headline),
    quality: quality(objectOf(details?.analysis_context_pack_overview)),
    bars: bars(objectOf(context.chart_series)),
    index: code !== null && name !== null ? { code, name } : null,
  }
}

function scorePart(part: Json): ScorePart[] {
  const [label, points, max] = [text(part.label), number(part.points), number(part.max)]
  if (label === null || points === null || max === null) return []
  return [{ label, points, max, reason: text(part.reason) ?? '' }]
}

function gate(one: Json): Gate[] {
  const [raw, score, reason] = [number(one.raw_score), number(one.score), text(one.reason)]
  return raw === null || score === null || reason === null ? [] : [{ raw, score, reason }]
}

function checked(findings: unknown): Story['checked'] {
  // A check that was not possible has no result.
  const verdicts = list(findings).filter(
    ({ verdict }) => verdict === 'pass' || verdict === 'warn' || verdict === 'fail',
  )
  if (verdicts.length === 0) return null
  return { passed: verdicts.filter(({ verdict }) => verdict === 'pass').length, made: verdicts.length }
}

function zone(one: Json): Zone[] {
  const [price, basis] = [number(one.price), text(one.basis)]
  return price === null || basis === null ? [] : [{ price, basis }]
}

function strategy(one: Json): Strategy[] {
  const [name, verdict] = [text(one.name), text(one.verdict_label)]
  if (name === null || verdict === null) return []
  return [{ name, verdict, met: texts(one.met), unmet: texts(one.unmet), unknown: texts(one.unknown) }]
}

/** News of the industry may be about other companies, so it is not evidence about this listing. */
function headline(item: Json): Headline[] {
  const title = text(item.title)
  if (title === null || item.dimension === 'industry') return []
  const url = text(item.url)
  return [
    {
      title,
      url: url !== null && /^https?:\/\//i.test(url) ? url : null,
      source: text(item.source) ?? '',
      day: (text(item.publishedAt) ?? '').slice(0, 10),
    },
  ]
}

function quality(overview: Json): Story['quality'] {
  const [score, level] = [
    number(at(overview, 'data_quality', 'overall_score')),
    text(at(overview, 'data_quality', 'level')),
  ]
  if (score === null || level === null) return null
  const blocks = list(overview.blocks).flatMap(({ label, status, source }) => {
    const [named, told] = [text(label), text(status)]
    return named === null || told === null ? [] : [{ label: named, status: told, source: text(source) ?? '' }]
  })
  return { score, level, blocks }
}

const COLUMNS = ['date', 'open', 'high', 'low', 'close', 'volume'] as const

/** Read by the names of their columns; a row without a price is left out. */
function bars({ columns, rows }: Json): DailyBar[] {
  if (!Array.isArray(columns) || !Array.isArray(rows)) return []
  const [date, open, high, low, close, volume] = COLUMNS.map((name) => columns.indexOf(name)) as number[]
  return rows.flatMap((row: unknown) => {
    if (!Array.isArray(row)) return []
    const prices = [open, high, low, close].map((place) => number(row[place ?? -1]))
    const day = text(row[date ?? -1])
    if (day === null || prices.includes(null)) return []
    const [o, h, l, c] = prices as [number, number, number, number]
    return [{ date: day, open: o, high: h, low: l, close: c, volume: number(row[volume ?? -1]) }]
  })
}
