// The indicators of one instrument: takes bars, returns one typed array for each series, and the row of one bar with
// null in the warm-up. Every other list of indicators, in the report and for the model, is derived from these.

import type { Bar } from '../bars.ts'
import { biases, movingAverages } from './averages.ts'
import { convergence, relativeStrength, stochastic } from './momentum.ts'
import { liquidity, returns, risk } from './performance.ts'
import {
  type Columns,
  type FieldsOf,
  type Indicator,
  type IndicatorLine,
  type NamesOf,
  type ReportPart,
  type Series,
  valueAt,
} from './series.ts'
import { averageTrueRange, bollingerBands } from './volatility.ts'
import { onBalanceVolume, relativeVolume } from './volume.ts'

export const INDICATORS = [
  movingAverages,
  relativeStrength,
  biases,
  convergence,
  stochastic,
  bollingerBands,
  averageTrueRange,
  onBalanceVolume,
  relativeVolume,
  returns,
  risk,
  liquidity,
] as const

export type IndicatorName = NamesOf<(typeof INDICATORS)[number]>
export type IndicatorField<Part extends ReportPart = ReportPart> = FieldsOf<(typeof INDICATORS)[number], Part>
export type IndicatorSeries = Record<IndicatorName, Series>
export type IndicatorRow = Record<IndicatorName, number | null>

/** Every series with its properties, in the order of the row. */
export const INDICATOR_LINES = INDICATORS.flatMap(({ part, lines }: Indicator) =>
  Object.entries(lines).map(([name, line]) => ({ name: name as IndicatorName, part, ...line })),
) as readonly (IndicatorLine & { name: IndicatorName; part: ReportPart; field: IndicatorField | null })[]

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

export function indicatorSeries(table: Columns): IndicatorSeries {
  const computed = Object.assign({}, ...INDICATORS.map(({ compute }) => compute(table))) as IndicatorSeries
  for (const { name, warmUp } of INDICATOR_LINES)
    computed[name].fill(Number.NaN, 0, Math.min(warmUp, computed[name].length))
  return computed
}

/** All indicators at one bar; a negative index counts from the end. */
export function indicatorRow(series: IndicatorSeries, index: number): IndicatorRow {
  const row = Object.entries(series).map(([name, values]) => [name, valueAt(values, index)])
  return Object.fromEntries(row) as IndicatorRow
}
