// The score: six parts, at most 100 points, each with the reason for its points. `docs/analysis-method.md` has the
// tables. A part without its indicator gets the points of its neutral case and says so.
//
// A chart and its inverted chart get points that add up to the maximum: what the tables say in favour of a purchase for
// the inverted chart counts against it. Without this rule, a random walk scored 54 on average and was bought four times
// as often as sold.

import type { ReasonCode, ScorePartKey, TrendState } from '../codes.ts'

/** `value` is the figure that decided, if there was one. */
export type ScorePart = { key: ScorePartKey; points: number; max: number; reason: ReasonCode; value: number | null }

export type Score = { total: number; parts: ScorePart[] }

export type MacdPoint = { dif: number; dea: number }

export type ScoreInput = {
  trend: TrendState
  price: number
  previousClose: number
  ma5: number
  ma10: number
  biasPct: number
  /** Null when today's or the earlier volume is unknown. */
  volumeRatio: number | null
  /** The session is still running, so its volume grows. */
  volumeIsPartial?: boolean
  /** Null until MACD has warmed up on both bars. */
  macd: { now: MacdPoint; before: MacdPoint } | null
  rsi12: number | null
}

export function score(input: ScoreInput): Score {
  const against = partsOf(upsideDown(input))
  const parts = partsOf(input).map((part, i) => balanced(part, against[i]?.points ?? 0))
  return { total: parts.reduce((sum, part) => sum + part.points, 0), parts }
}

const partsOf = (input: ScoreInput): ScorePart[] => [
  trendPart(input),
  biasPart(input),
  volumePart(input),
  supportPart(input),
  macdPart(input),
  rsiPart(input),
]

/** The points of a part that is neutral about a purchase; together they are 50. */
const MIDDLE: Record<ScorePartKey, number> = { trend: 15, bias: 10, volume: 7, support: 5, macd: 8, rsi: 5 }

/** Whether a part is in favour of a purchase. */
export const isInFavour = ({ key, points }: ScorePart): boolean => points > MIDDLE[key]

/** Half of the difference between the points for and against, in whole points. */
function balanced(part: ScorePart, against: number): ScorePart {
  return { ...part, points: MIDDLE[part.key] + Math.trunc((part.points - against) / 2) }
}

const OPPOSITE: Record<TrendState, TrendState> = {
  strong_bull: 'strong_bear',
  bull: 'bear',
  weak_bull: 'weak_bear',
  consolidation: 'consolidation',
  weak_bear: 'weak_bull',
  bear: 'bull',
  strong_bear: 'strong_bull',
}

/** The input of the tables as if every rise had been a fall of the same size. */
export function upsideDown(input: ScoreInput): ScoreInput {
  const { price, previousClose, ma5, ma10, macd, rsi12 } = input
  const turned = ({ dif, dea }: MacdPoint): MacdPoint => ({ dif: -dif, dea: -dea })
  return {
    ...input,
    trend: OPPOSITE[input.trend],
    previousClose: price + (price - previousClose),
    ma5: price + (price - ma5),
    ma10: price + (price - ma10),
    biasPct: -input.biasPct,
    macd: macd && { now: turned(macd.now), before: turned(macd.before) },
    rsi12: rsi12 === null ? null : 100 - rsi12,
  }
}

const TREND_POINTS: Record<TrendState, number> = {
  strong_bull: 30,
  bull: 26,
  weak_bull: 18,
  consolidation: 12,
  weak_bear: 8,
  bear: 4,
  strong_bear: 0,
}

function trendPart({ trend }: ScoreInput): ScorePart {
  return { key: 'trend', points: TREND_POINTS[trend], max: 30, reason: `trend_${trend}`, value: null }
}

/** How far above MA5, in percent, a price may be before buying it is chasing. */
const BIAS_LIMIT_PCT = 5
const STRONG_TREND_FACTOR = 1.5
// A smaller difference is an effect of the arithmetic, not of the market.
const NOISE = 1e-9

function biasPart({ trend, biasPct }: ScoreInput): ScorePart {
  const bias = Math.abs(biasPct) < NOISE ? 0 : biasPct
  const limit = trend === 'strong_bull' ? BIAS_LIMIT_PCT * STRONG_TREND_FACTOR : BIAS_LIMIT_PCT
  const part = (points: number, reason: ReasonCode): ScorePart => ({
    key: 'bias',
    points,
    max: 20,
    reason,
    value: bias,
  })
  if (bias < -5) return part(8, 'bias_broken')
  if (bias < -3) return part(16, 'bias_deep_pullback')
  if (bias < 0) return part(20, 'bias_pullback')
  if (bias < 2) return part(18, 'bias_close')
  if (bias <= BIAS_LIMIT_PCT) return part(14, 'bias_high')
  return bias <= limit ? part(10, 'bias_stretched') : part(4, 'bias_chasing')
}

const HEAVY_RATIO = 1.5
const SHRINKING_RATIO = 0.7

function volumePart({ price, previousClose, volumeRatio, volumeIsPartial }: ScoreInput): ScorePart {
  const part = (points: number, reason: ReasonCode): ScorePart => {
    return { key: 'volume', points, max: 15, reason, value: volumeRatio }
  }
  if (volumeRatio === null) return part(10, 'volume_unknown')
  // The volume so far is a lower bound for the day: it may already be heavy, and says nothing else yet.
  if (volumeIsPartial && volumeRatio < HEAVY_RATIO) return part(10, 'volume_live_unfinished')
  const [up, down] = [price > previousClose, price < previousClose]
  // Compared with whole days it is not a volume ratio, and is not called one.
  if (volumeIsPartial && up) return part(12, 'volume_live_heavy_up')
  if (volumeIsPartial && down) return part(0, 'volume_live_heavy_down')
  if (volumeIsPartial) return part(10, 'volume_live_unfinished')
  if (volumeRatio >= HEAVY_RATIO && up) return part(12, 'volume_heavy_up')
  if (volumeRatio >= HEAVY_RATIO && down) return part(0, 'volume_heavy_down')
  if (volumeRatio <= SHRINKING_RATIO && up) return part(6, 'volume_shrinking_up')
  if (volumeRatio <= SHRINKING_RATIO && down) return part(15, 'volume_shrinking_down')
  return part(10, 'volume_normal')
}

const NEAR_FRACTION = 0.02

/** Whether the price is within 2 % of an average. */
function isNear(price: number, average: number): boolean {
  return Math.abs(price - average) / average <= NEAR_FRACTION
}

function supportPart({ price, ma5, ma10 }: ScoreInput): ScorePart {
  const part = (points: number, reason: ReasonCode): ScorePart => {
    return { key: 'support', points, max: 10, reason, value: null }
  }
  // An average above the price is not a support.
  const [near5, near10] = [ma5, ma10].map((average) => price >= average && isNear(price, average))
  if (near5 && near10) return part(10, 'support_both')
  if (near5) return part(5, 'support_ma5')
  return near10 ? part(5, 'support_ma10') : part(0, 'support_none')
}

function macdPart({ macd, price }: ScoreInput): ScorePart {
  const part = (points: number, reason: ReasonCode): ScorePart => {
    return { key: 'macd', points, max: 15, reason, value: macd?.now.dif ?? null }
  }
  if (macd === null) return part(8, 'macd_unknown')
  const sign = (value: number) => (Math.abs(value) < NOISE * price ? 0 : Math.sign(value))
  const [dif, dea, gap] = [sign(macd.now.dif), sign(macd.now.dea), sign(macd.now.dif - macd.now.dea)]
  const [difBefore, gapBefore] = [sign(macd.before.dif), sign(macd.before.dif - macd.before.dea)]
  const goldenCross = gapBefore <= 0 && gap > 0
  if (goldenCross && dif > 0) return part(15, 'macd_golden_above_zero')
  if (difBefore <= 0 && dif > 0) return part(10, 'macd_zero_up')
  if (goldenCross) return part(12, 'macd_golden')
  if (gapBefore >= 0 && gap < 0) return part(0, 'macd_dead')
  if (difBefore >= 0 && dif < 0) return part(0, 'macd_zero_down')
  if (dif > 0 && dea > 0) return part(8, 'macd_bull')
  return dif < 0 && dea < 0 ? part(2, 'macd_bear') : part(8, 'macd_mixed')
}

function rsiPart({ rsi12 }: ScoreInput): ScorePart {
  const part = (points: number, reason: ReasonCode): ScorePart => {
    return { key: 'rsi', points, max: 10, reason, value: rsi12 }
  }
  if (rsi12 === null) return part(5, 'rsi_unknown')
  if (rsi12 < 30) return part(10, 'rsi_oversold')
  if (rsi12 < 40) return part(3, 'rsi_weak')
  if (rsi12 < 60) return part(5, 'rsi_neutral')
  return rsi12 <= 70 ? part(8, 'rsi_strong') : part(0, 'rsi_overbought')
}
