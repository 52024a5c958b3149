import type { Bar } from '../market/bars.ts'
import { columns, type IndicatorRow, indicatorRow, indicatorSeries } from '../market/indicators/index.ts'
import {
  type PivotPoints,
  pivotPoints,
  type SwingLevel,
  swingLevels,
  type YearRange,
  yearRange,
} from '../market/indicators/levels.ts'
import { type MacdPoint, type Score, score } from './score.ts'
import { TREND_STRENGTH, type TrendState, trendState } from './trend.ts'

export type Signal = 'strong_buy' | 'buy' | 'watch' | 'sell' | 'strong_sell'

/** Fewer bars than this carry no technical statement. */
export const MIN_BARS = 20

/** What the bars say about the last of them. */
export type Technical = {
  trend: TrendState
  trendStrength: number
  indicators: IndicatorRow
  /** MA60, or MA20 where there are not 60 bars yet. */
  longAverage: number
  score: Score
  signal: Signal
  yearRange: YearRange | null
  swings: SwingLevel[]
  /** Of the last bar, so for the session after it. */
  pivots: PivotPoints
  /** Extremes of the last 20 bars. */
  high20: number
  low20: number
  /** Extremes of the 20 bars before the last; null when there are not so many. */
  priorHigh20: number | null
  priorLow20: number | null
}

export type TechnicalOptions = {
  /** False when the last bar is built from a quote without a volume; its ratio is then unknown. */
  lastVolumeKnown: boolean
}

/** The technical view of the last bar, or null when there are fewer than 20 bars. */
export function technicalView(
  bars: readonly Bar[],
  { lastVolumeKnown }: TechnicalOptions = { lastVolumeKnown: true },
): Technical | null {
  const [last, previous] = [bars.at(-1), bars.at(-2)]
  if (bars.length < MIN_BARS || last === undefined || previous === undefined) return null
  const table = columns(bars)
  const series = indicatorSeries(table)
  const now = indicatorRow(series, -1)
  const indicators = lastVolumeKnown ? now : { ...now, volumeRatio: null }
  const trend = trendState(series)
  const { ma5, ma10, ma20, bias5 } = indicators
  if (trend === null || ma5 === null || ma10 === null || ma20 === null || bias5 === null) return null
  const points = score({
    trend,
    price: last.close,
    previousClose: previous.close,
    ma5,
    ma10,
    biasPct: bias5,
    volumeRatio: indicators.volumeRatio,
    macd: macdPair(indicators, indicatorRow(series, -2)),
    rsi12: indicators.rsi12,
  })
  const recent = bars.slice(-MIN_BARS)
  return {
    trend,
    trendStrength: TREND_STRENGTH[trend],
    indicators,
    longAverage: indicators.ma60 ?? ma20,
    score: points,
    signal: signalOf(points.total, trend),
    yearRange: yearRange(bars),
    swings: recentSwings(bars, indicators.atr ?? 0),
    pivots: pivotPoints(last),
    high20: Math.max(...recent.map((bar) => bar.high)),
    low20: Math.min(...recent.map((bar) => bar.low)),
    ...priorExtremes(bars),
  }
}

function priorExtremes(bars: readonly Bar[]): Pick<Technical, 'priorHigh20' | 'priorLow20'> {
  const prior = bars.slice(-MIN_BARS - 1, -1)
  if (prior.length < MIN_BARS) return { priorHigh20: null, priorLow20: null }
  return {
    priorHigh20: Math.max(...prior.map((bar) => bar.high)),
    priorLow20: Math.min(...prior.map((bar) => bar.low)),
  }
}

function macdPair(now: IndicatorRow, before: IndicatorRow): { now: MacdPoint; before: MacdPoint } | null {
  if (now.dif === null || now.dea === null || before.dif === null || before.dea === null) return null
  return { now: { dif: now.dif, dea: now.dea }, before: { dif: before.dif, dea: before.dea } }
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

/** The signal of a score in a trend. The order of the tests is the rule: a high score in a falling market still ends as a sale. */
export function signalOf(total: number, trend: TrendState): Signal {
  if (total >= 80 && BULL.includes(trend)) return 'strong_buy'
  if (total >= 60 && ANY_BULL.includes(trend)) return 'buy'
  if (total >= 60 && UNDECIDED.includes(trend)) return 'watch'
  if (total >= 40 && total < 60) return 'watch'
  return total < 20 || BEAR.includes(trend) ? 'strong_sell' : 'sell'
}
