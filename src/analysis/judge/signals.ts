import type { Bar } from '../../market/bars.ts'
import {
  columns,
  INDICATOR_LINES,
  type IndicatorRow,
  type IndicatorSeries,
  indicatorRow,
  indicatorSeries,
} from '../../market/indicators/index.ts'
import {
  type PivotPoints,
  pivotPoints,
  type SwingLevel,
  swingLevels,
  type YearRange,
  yearRange,
} from '../../market/indicators/levels.ts'
import { type Series, valueAt } from '../../market/indicators/series.ts'
import type { TrendState } from '../codes.ts'
import { type Horizons, horizonsAt, isAbove } from './horizons.ts'
import { type MacdPoint, type Score, score } from './score.ts'

export type Signal = 'strong_buy' | 'buy' | 'watch' | 'sell' | 'strong_sell'

/** The names of those that are percentages. */
export const PERCENT_INDICATORS: ReadonlySet<string> = new Set(
  INDICATOR_LINES.flatMap(({ name, isPercent }) => (isPercent ? [name] : [])),
)

/** Fewer bars than this allow no technical statement. */
export const MIN_BARS = 20

/** What the bars say about the last of them. */
export type Technical = {
  trend: TrendState
  horizons: Horizons
  trendStrength: number
  indicators: IndicatorRow
  score: Score
  signal: Signal
  yearRange: YearRange | null
  swings: SwingLevel[]
  /** Computed from the last bar, so for the session after it. */
  pivots: PivotPoints
  /** Extremes of the last 20 bars. */
  high20: number
  low20: number
  /** Extremes of the 20 bars before the last; null when there are fewer. */
  priorHigh20: number | null
  priorLow20: number | null
}

export type TechnicalOptions = {
  /** False when the last bar is built from a quote without a volume; its ratio is then unknown. */
  lastVolumeKnown: boolean
  /** The session of the last bar is still running. */
  partial?: boolean
  /** The volume so far divided by that of earlier sessions at this time; null or absent when no source has it. */
  sameTimeRatio?: number | null
}

/** The technical view of the last bar, or null when there are fewer than 20 bars. */
export function technicalView(
  bars: readonly Bar[],
  options: TechnicalOptions = { lastVolumeKnown: true },
): Technical | null {
  if (bars.length < MIN_BARS) return null
  const table = columns(bars)
  const whole = { series: indicatorSeries(table), closes: table.close, bars }
  return technicalAt(whole, bars.length - 1, options)
}

/** No statement needs more bars: 52 weeks are fewer sessions in every market. */
const MOST_BARS = 400

/** The technical view of one bar, without any later bar. */
export function technicalAt(
  whole: ScoredSeries & { bars: readonly Bar[] },
  index: number,
  options: TechnicalOptions = { lastVolumeKnown: true },
): Technical | null {
  const scored = scoredAt(whole, index, options)
  const bars = whole.bars.slice(Math.max(0, index + 1 - MOST_BARS), index + 1)
  const last = bars.at(-1)
  const before = index === 0 ? null : valueAt(whole.series.turnover20, index - 1)
  const indicators = withKnownVolumes(indicatorRow(whole.series, index), { bars, before }, options)
  const { ma20 } = indicators
  if (scored === null || ma20 === null || last === undefined || bars.length < MIN_BARS) return null
  const recent = bars.slice(-MIN_BARS)
  return {
    ...scored,
    trendStrength: TREND_STRENGTH[scored.trend],
    indicators,
    yearRange: yearRange(bars),
    swings: recentSwings(bars, indicators.atr ?? 0),
    pivots: pivotPoints(last),
    high20: Math.max(...recent.map((bar) => bar.high)),
    low20: Math.min(...recent.map((bar) => bar.low)),
    ...priorExtremes(bars),
  }
}

/** The values that the advice depends on. */
export type Scored = Pick<Technical, 'trend' | 'horizons' | 'score' | 'signal'>

type ScoredSeries = { series: IndicatorSeries; closes: Series }

/** Trend, score and signal at one bar. Later bars are not read, so the series may continue after it. */
export function scoredAt(
  { series, closes }: ScoredSeries,
  index: number,
  { lastVolumeKnown, partial = false, sameTimeRatio = null }: TechnicalOptions = { lastVolumeKnown: true },
): Scored | null {
  const at = (values: Series, back = 0) => (index < back ? null : valueAt(values, index - back))
  const [price, previousClose, trend] = [at(closes), at(closes, 1), trendState(series, index)]
  const [ma5, ma10, biasPct] = [at(series.ma5), at(series.ma10), at(series.bias5)]
  if (price === null || previousClose === null || trend === null) return null
  if (ma5 === null || ma10 === null || biasPct === null) return null
  const points = score({
    trend,
    price,
    previousClose,
    ma5,
    ma10,
    biasPct,
    volumeRatio: lastVolumeKnown ? ((partial ? sameTimeRatio : null) ?? at(series.volumeRatio)) : null,
    volumeIsPartial: partial && sameTimeRatio === null,
    macd: macdPair([at(series.dif), at(series.dea)], [at(series.dif, 1), at(series.dea, 1)]),
    rsi12: at(series.rsi12),
  })
  const horizons = horizonsAt({ closes, series }, index, trend)
  return { trend, horizons, score: points, signal: signalOf(points.total, trend) }
}

/**
 * Values that depend on unknown volumes are null. While a session runs, the ratio is that of the same time of earlier
 * sessions, or null: daily bars do not show what had been traded by then. The average turnover is that of the previous
 * sessions.
 */
function withKnownVolumes(
  row: IndicatorRow,
  { bars, before }: { bars: readonly Bar[]; before: number | null },
  options: TechnicalOptions,
): IndicatorRow {
  const obv = bars.some(({ volume }) => volume > 0) ? row.obv : null
  const { lastVolumeKnown, partial, sameTimeRatio = null } = options
  if (lastVolumeKnown && partial !== true) return { ...row, obv }
  return { ...row, obv, volumeRatio: lastVolumeKnown ? sameTimeRatio : null, turnover20: before }
}

function priorExtremes(bars: readonly Bar[]): Pick<Technical, 'priorHigh20' | 'priorLow20'> {
  const prior = bars.slice(-MIN_BARS - 1, -1)
  if (prior.length < MIN_BARS) return { priorHigh20: null, priorLow20: null }
  return {
    priorHigh20: Math.max(...prior.map((bar) => bar.high)),
    priorLow20: Math.min(...prior.map((bar) => bar.low)),
  }
}

type Gap = readonly [dif: number | null, dea: number | null]

function macdPair([dif, dea]: Gap, [difBefore, deaBefore]: Gap): { now: MacdPoint; before: MacdPoint } | null {
  if (dif === null || dea === null || difBefore === null || deaBefore === null) return null
  return { now: { dif, dea }, before: { dif: difBefore, dea: deaBefore } }
}

const SWING_LOOKBACK = 120
const SWING_TOLERANCE_ATR = 0.5

function recentSwings(bars: readonly Bar[], atr: number): SwingLevel[] {
  const { high, low } = columns(bars.slice(-SWING_LOOKBACK))
  return swingLevels(high, low, atr * SWING_TOLERANCE_ATR)
}

const BULL: readonly TrendState[] = ['strong_bull', 'bull']
const ANY_BULL: readonly TrendState[] = [...BULL, 'weak_bull']
const UNDECIDED: readonly TrendState[] = ['consolidation', 'weak_bear']
const BEAR: readonly TrendState[] = ['bear', 'strong_bear']

/**
 * The signal of a score in a trend. The order of the tests matters: a high score in a falling market still results in a
 * sale.
 */
export function signalOf(total: number, trend: TrendState): Signal {
  if (total >= 80 && BULL.includes(trend)) return 'strong_buy'
  if (total >= 60 && ANY_BULL.includes(trend)) return 'buy'
  if (total >= 60 && UNDECIDED.includes(trend)) return 'watch'
  if (total >= 40 && total < 60) return 'watch'
  return total < 20 && BEAR.includes(trend) ? 'strong_sell' : 'sell'
}

export const TREND_STRENGTH: Record<TrendState, number> = {
  strong_bull: 90,
  bull: 75,
  weak_bull: 55,
  consolidation: 50,
  weak_bear: 40,
  bear: 25,
  strong_bear: 10,
}

export type Averages = { ma5: Series; ma10: Series; ma20: Series; atr: Series }

const WIDE_SPREAD_PCT = 5
const SPREAD_LOOKBACK = 5

/**
 * The trend at a bar, by default the last one; null before the 20th. A spread is *widening* when it is wider than four
 * bars before; while that bar has no MA20, nothing is widening. Averages within a tenth of an ATR are level.
 */
export function trendState(averages: Averages, index = averages.ma5.length - 1): TrendState | null {
  const now = averagesAt(averages, index)
  if (now === null) return null
  const { ma5, ma10, ma20 } = now
  const atr = valueAt(averages.atr, index)
  const above = (a: number, b: number) => isAbove(a, b, atr)
  if (above(ma5, ma10)) {
    if (!above(ma10, ma20)) return 'weak_bull'
    return isOpening(averages, index, bullSpreadPct) ? 'strong_bull' : 'bull'
  }
  if (above(ma10, ma5)) {
    if (!above(ma20, ma10)) return 'weak_bear'
    return isOpening(averages, index, bearSpreadPct) ? 'strong_bear' : 'bear'
  }
  return 'consolidation'
}

type Point = { ma5: number; ma10: number; ma20: number }

const bullSpreadPct = ({ ma5, ma20 }: Point) => ((ma5 - ma20) / ma20) * 100
const bearSpreadPct = ({ ma5, ma20 }: Point) => ((ma20 - ma5) / ma5) * 100

function isOpening(averages: Averages, index: number, spreadPct: (point: Point) => number): boolean {
  const now = averagesAt(averages, index)
  const before = averagesAt(averages, index + 1 - SPREAD_LOOKBACK)
  if (now === null || before === null) return false
  return spreadPct(now) > WIDE_SPREAD_PCT && spreadPct(now) > spreadPct(before)
}

function averagesAt({ ma5, ma10, ma20 }: Averages, index: number): Point | null {
  if (index < 0) return null
  const [short, middle, long] = [valueAt(ma5, index), valueAt(ma10, index), valueAt(ma20, index)]
  return short === null || middle === null || long === null ? null : { ma5: short, ma10: middle, ma20: long }
}
