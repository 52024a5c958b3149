// The indicator set of one instrument: bars in, one typed array an indicator out, and the row of one bar with null where
// an indicator has not warmed up.

import type { Bar } from '../bars.ts'
import { biasPct, sma } from './averages.ts'
import { kdj, macd, rsi } from './momentum.ts'
import { type Series, valueAt } from './series.ts'
import { atr, bollinger } from './volatility.ts'
import { obv, volumeRatio } from './volume.ts'

export type Columns = { open: Series; high: Series; low: Series; close: Series; volume: Series }

export type IndicatorName =
  | `ma${5 | 10 | 20 | 60 | 120 | 250}`
  | `rsi${6 | 12 | 24}`
  | `bias${5 | 10 | 20}`
  | 'dif'
  | 'dea'
  | 'histogram'
  | 'k'
  | 'd'
  | 'j'
  | 'bollUpper'
  | 'bollMiddle'
  | 'bollLower'
  | 'atr'
  | 'obv'
  | 'volumeRatio'

export type IndicatorSeries = Record<IndicatorName, Series>
export type IndicatorRow = Record<IndicatorName, number | null>

export function columns(bars: readonly Bar[]): Columns {
  const size = bars.length
  const make = () => new Float64Array(size)
  const out = { open: make(), high: make(), low: make(), close: make(), volume: make() }
  bars.forEach((bar, i) => {
    out.open[i] = bar.open
    out.high[i] = bar.high
    out.low[i] = bar.low
    out.close[i] = bar.close
    out.volume[i] = bar.volume
  })
  return out
}

export function indicatorSeries({ high, low, close, volume }: Columns): IndicatorSeries {
  const [ma5, ma10, ma20] = [sma(close, 5), sma(close, 10), sma(close, 20)]
  const bands = bollinger(close)
  return {
    ma5,
    ma10,
    ma20,
    ma60: sma(close, 60),
    ma120: sma(close, 120),
    ma250: sma(close, 250),
    rsi6: rsi(close, 6),
    rsi12: rsi(close, 12),
    rsi24: rsi(close, 24),
    bias5: biasPct(close, ma5),
    bias10: biasPct(close, ma10),
    bias20: biasPct(close, ma20),
    ...macd(close),
    ...kdj(high, low, close),
    bollUpper: bands.upper,
    bollMiddle: bands.middle,
    bollLower: bands.lower,
    atr: atr(high, low, close),
    obv: obv(close, volume),
    volumeRatio: volumeRatio(volume),
  }
}

/** All indicators at one bar; a negative index counts from the end. */
export function indicatorRow(series: IndicatorSeries, index: number): IndicatorRow {
  const row = Object.entries(series).map(([name, values]) => [name, valueAt(values, index)])
  return Object.fromEntries(row) as IndicatorRow
}
