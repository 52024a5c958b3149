// The technical view in its stored form: written when a report is built, read when one is rendered.

import { z } from 'zod'
import type { Bar } from '../../market/bars.ts'
import type { Adjustment } from '../../market/consistency/types.ts'
import { INDICATOR_LINES, type IndicatorField } from '../../market/indicators/index.ts'
import type { ReportPart } from '../../market/indicators/series.ts'
import type { ScorePartKey } from '../codes.ts'
import type { NearbyLevels } from '../judge/levels.ts'
import type { ScorePart } from '../judge/score.ts'
import type { Technical } from '../judge/signals.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { adjustmentText } from '../texts/findings.ts'
import { figure, keptDecimals, round } from '../texts/format.ts'
import { basisText } from '../write/strategy.ts'

const Figure = z.number().nullable()
const PricedLevel = z.object({ price: z.number(), basis: z.string() })

/** A report that is older than an indicator has no value of it. */
const IndicatorFigure = Figure.default(null)

/** The fields that the indicators add. */
const FIGURES = Object.fromEntries(
  INDICATOR_LINES.flatMap(({ field }) => (field === null ? [] : [[field, IndicatorFigure]])),
) as Record<IndicatorField, typeof IndicatorFigure>

export const TrendAnalysis = z.object({
  ...FIGURES,
  trend_state: z.string(),
  trend_status: z.string(),
  trend_strength: z.number(),
  ma_alignment: z.string(),
  current_price: z.number(),
  /** For old reports in which MA20 was stored as MA60, before that existed; not written any more. */
  ma60_is_ma20: z.boolean().optional(),
  volume_status: z.string(),
  support_ma5: z.boolean(),
  support_ma10: z.boolean(),
  support_levels: z.array(z.number()),
  resistance_levels: z.array(z.number()),
  supports: z.array(PricedLevel),
  resistances: z.array(PricedLevel),
  macd_status: z.string(),
  rsi_status: z.string(),
  high_52w: Figure,
  low_52w: Figure,
  position_52w_pct: Figure,
  /** How the bars were adjusted, and by whom; older reports do not have it. */
  adjustment: z.object({ kind: z.string(), source: z.string().nullable(), label: z.string() }).optional(),
  pivot_points: z.object({ pivot: z.number(), r1: z.number(), r2: z.number(), s1: z.number(), s2: z.number() }),
  buy_signal: z.string(),
  signal_score: z.int(),
  score_parts: z.array(
    z.object({ key: z.string(), label: z.string(), points: z.number(), max: z.number(), reason: z.string() }),
  ),
  signal_reasons: z.array(z.string()),
  risk_factors: z.array(z.string()),
})
export type TrendAnalysis = z.infer<typeof TrendAnalysis>

/** The texts of a technical view; `partReasons` in the order of the parts. */
export type TrendTexts = { partReasons: string[]; catalysts: string[]; risks: string[] }

export type TrendFacts = {
  technical: Technical
  price: number
  nearby: NearbyLevels
  texts: TrendTexts
  language: ReportLanguage
  adjustment: Adjustment
  /** The number of decimals of prices. */
  decimals: number
}

export function trendAnalysisOf(facts: TrendFacts): TrendAnalysis {
  const { technical, price, texts, language, decimals } = facts
  const kept = keptDecimals(decimals)
  const { score } = technical
  const labels = textsOf(language).report
  const reasonOf = (key: ScorePartKey) => texts.partReasons[score.parts.findIndex((part) => part.key === key)] ?? ''
  const support = score.parts.find((part) => part.key === 'support')?.reason
  return {
    trend_state: technical.trend,
    trend_status: labels.trendState[technical.trend],
    trend_strength: technical.trendStrength,
    ma_alignment: reasonOf('trend'),
    current_price: round(price, kept),
    ...figuresOf('averages', technical, kept),
    volume_status: reasonOf('volume'),
    support_ma5: support === 'support_both' || support === 'support_ma5',
    support_ma10: support === 'support_both' || support === 'support_ma10',
    ...levelMembers(facts),
    macd_status: reasonOf('macd'),
    rsi_status: reasonOf('rsi'),
    ...figuresOf('convergence', technical, kept),
    ...figuresOf('oscillators', technical),
    ...figuresOf('ranges', technical, kept),
    ...figuresOf('performance', technical),
    ...rangeFigures(technical, kept),
    buy_signal: labels.advice[technical.signal],
    signal_score: score.total,
    score_parts: score.parts.map((part, i) => storedPart(part, texts.partReasons[i] ?? '', language)),
    signal_reasons: texts.catalysts,
    risk_factors: texts.risks,
  }
}

/** Prices at which the course may turn; the kind of adjustment says what such a price means. */
function levelMembers({ nearby: { supports, resistances }, adjustment, language, decimals }: TrendFacts) {
  const rounded = (price: number) => round(price, keptDecimals(decimals))
  const priced = ({ price, basis }: NearbyLevels['supports'][number]) => {
    return { price: rounded(price), basis: basisText(basis, adjustment, language) }
  }
  return {
    support_levels: supports.map(({ price }) => rounded(price)),
    resistance_levels: resistances.map(({ price }) => rounded(price)),
    supports: supports.map(priced),
    resistances: resistances.map(priced),
    adjustment: { ...adjustment, label: adjustmentText(adjustment, language) },
  }
}

function storedPart({ key, points, max }: ScorePart, reason: string, language: ReportLanguage) {
  return { key, label: textsOf(language).report.scorePart[key], points, max, reason }
}

function figuresOf<Part extends ReportPart>(part: Part, { indicators }: Technical, kept?: number) {
  const lines = INDICATOR_LINES.filter((line) => line.part === part)
  const figures = lines.flatMap(({ name, field, isPercent }) =>
    field === null ? [] : [[field, figure(indicators[name], isPercent ? undefined : kept)]],
  )
  return Object.fromEntries(figures) as Record<IndicatorField<Part>, number | null>
}

function rangeFigures({ yearRange, pivots }: Technical, kept: number) {
  return {
    high_52w: figure(yearRange?.high, kept),
    low_52w: figure(yearRange?.low, kept),
    position_52w_pct: figure(yearRange?.positionPct ?? null),
    pivot_points: {
      pivot: round(pivots.pivot, kept),
      r1: round(pivots.r1, kept),
      r2: round(pivots.r2, kept),
      s1: round(pivots.s1, kept),
      s2: round(pivots.s2, kept),
    },
  }
}

/**
 * The bars of a report's chart, stored with the report: the chart of an old report is that of its day. As many as are
 * drawn, plus those that the longest average needs before them.
 */
const STORED = 180

export const ChartSeries = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.tuple([z.string(), z.number(), z.number(), z.number(), z.number(), z.number()])),
})
export type ChartSeries = z.infer<typeof ChartSeries>

export function chartSeries(bars: readonly Bar[], decimals: number): ChartSeries {
  const price = (value: number) => round(value, keptDecimals(decimals))
  return {
    columns: ['date', 'open', 'high', 'low', 'close', 'volume'],
    rows: bars.slice(-STORED).map(({ date, open, high, low, close, volume }) => {
      return [date, price(open), price(high), price(low), price(close), round(volume)]
    }),
  }
}

export function barsIn({ rows }: ChartSeries): Bar[] {
  return rows.map(([date, open, high, low, close, volume]) => ({ date, open, high, low, close, volume, amount: null }))
}
