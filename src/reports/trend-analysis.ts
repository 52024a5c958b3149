// The technical view in its stored form: written when a report is built, read back when one is rendered.

import { z } from 'zod'
import type { NearbyLevels } from '../analysis/levels.ts'
import type { ScorePart, ScorePartKey } from '../analysis/score.ts'
import type { Technical } from '../analysis/signals.ts'
import { labelsOf } from './labels.ts'
import type { ReportLanguage } from './report.ts'

const Figure = z.number().nullable()
const PricedLevel = z.object({ price: z.number(), basis: z.string() })

export const TrendAnalysis = z.object({
  trend_state: z.string(),
  trend_status: z.string(),
  trend_strength: z.number(),
  ma_alignment: z.string(),
  current_price: z.number(),
  ma5: Figure,
  ma10: Figure,
  ma20: Figure,
  /** MA20 where there are not 60 bars, which `ma60_is_ma20` tells. */
  ma60: Figure,
  ma60_is_ma20: z.boolean(),
  ma120: Figure,
  ma250: Figure,
  bias_ma5: Figure,
  bias_ma10: Figure,
  bias_ma20: Figure,
  volume_ratio_5d: Figure,
  volume_status: z.string(),
  support_ma5: z.boolean(),
  support_ma10: z.boolean(),
  support_levels: z.array(z.number()),
  resistance_levels: z.array(z.number()),
  supports: z.array(PricedLevel),
  resistances: z.array(PricedLevel),
  macd_dif: Figure,
  macd_dea: Figure,
  macd_bar: Figure,
  macd_status: z.string(),
  rsi_6: Figure,
  rsi_12: Figure,
  rsi_24: Figure,
  rsi_status: z.string(),
  kdj_k: Figure,
  kdj_d: Figure,
  kdj_j: Figure,
  boll_upper: Figure,
  boll_middle: Figure,
  boll_lower: Figure,
  atr_14: Figure,
  obv: Figure,
  high_52w: Figure,
  low_52w: Figure,
  position_52w_pct: Figure,
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

/** The words that go with a technical view; `partReasons` in the order of the parts. */
export type TrendTexts = { partReasons: string[]; catalysts: string[]; risks: string[] }

export type TrendFacts = {
  technical: Technical
  price: number
  nearby: NearbyLevels
  texts: TrendTexts
  language: ReportLanguage
}

export function trendAnalysisOf({ technical, price, nearby, texts, language }: TrendFacts): TrendAnalysis {
  const { indicators, longAverage, score } = technical
  const labels = labelsOf(language)
  const reasonOf = (key: ScorePartKey) => texts.partReasons[score.parts.findIndex((part) => part.key === key)] ?? ''
  const support = score.parts.find((part) => part.key === 'support')?.reason
  return {
    trend_state: technical.trend,
    trend_status: labels.trendState[technical.trend],
    trend_strength: technical.trendStrength,
    ma_alignment: reasonOf('trend'),
    current_price: price,
    ...averageFigures(technical),
    ma60: figure(longAverage),
    ma60_is_ma20: indicators.ma60 === null,
    volume_status: reasonOf('volume'),
    support_ma5: support === 'support_both' || support === 'support_ma5',
    support_ma10: support === 'support_both' || support === 'support_ma10',
    support_levels: nearby.supports.map((level) => round(level.price)),
    resistance_levels: nearby.resistances.map((level) => round(level.price)),
    supports: nearby.supports.map(({ price: at, basis }) => ({ price: round(at), basis: labels.basis[basis] })),
    resistances: nearby.resistances.map(({ price: at, basis }) => ({ price: round(at), basis: labels.basis[basis] })),
    macd_status: reasonOf('macd'),
    rsi_status: reasonOf('rsi'),
    ...oscillatorFigures(technical),
    ...rangeFigures(technical),
    buy_signal: labels.advice[technical.signal],
    signal_score: score.total,
    score_parts: score.parts.map((part, i) => storedPart(part, texts.partReasons[i] ?? '', language)),
    signal_reasons: texts.catalysts,
    risk_factors: texts.risks,
  }
}

function storedPart({ key, points, max }: ScorePart, reason: string, language: ReportLanguage) {
  return { key, label: labelsOf(language).scorePart[key], points, max, reason }
}

function averageFigures({ indicators }: Technical) {
  return {
    ma5: figure(indicators.ma5),
    ma10: figure(indicators.ma10),
    ma20: figure(indicators.ma20),
    ma120: figure(indicators.ma120),
    ma250: figure(indicators.ma250),
    bias_ma5: figure(indicators.bias5),
    bias_ma10: figure(indicators.bias10),
    bias_ma20: figure(indicators.bias20),
    volume_ratio_5d: figure(indicators.volumeRatio),
  }
}

function oscillatorFigures({ indicators }: Technical) {
  return {
    macd_dif: figure(indicators.dif),
    macd_dea: figure(indicators.dea),
    macd_bar: figure(indicators.histogram),
    rsi_6: figure(indicators.rsi6),
    rsi_12: figure(indicators.rsi12),
    rsi_24: figure(indicators.rsi24),
    kdj_k: figure(indicators.k),
    kdj_d: figure(indicators.d),
    kdj_j: figure(indicators.j),
  }
}

function rangeFigures({ indicators, yearRange, pivots }: Technical) {
  return {
    boll_upper: figure(indicators.bollUpper),
    boll_middle: figure(indicators.bollMiddle),
    boll_lower: figure(indicators.bollLower),
    atr_14: figure(indicators.atr),
    obv: figure(indicators.obv),
    high_52w: figure(yearRange?.high ?? null),
    low_52w: figure(yearRange?.low ?? null),
    position_52w_pct: figure(yearRange?.positionPct ?? null),
    pivot_points: {
      pivot: round(pivots.pivot),
      r1: round(pivots.r1),
      r2: round(pivots.r2),
      s1: round(pivots.s1),
      s2: round(pivots.s2),
    },
  }
}

/** A rounded figure; what is not known stays null. */
export function figure(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : round(value)
}

/** Four decimals: finer than any exchange's price step, free of binary tails and of the minus zero that JSON cannot carry. */
export function round(value: number): number {
  return Math.round(value * 1e4) / 1e4 + 0
}
