// The series above and below the candles. Everything is computed from all known bars and cut to the visible ones, so
// that an average has a value from the first candle on; the formulas are those of the report.

import { sma } from '../../market/indicators/averages.ts'
import { kdj, macd, rsi } from '../../market/indicators/momentum.ts'
import type { DailyBar } from '../wire.ts'

export type Level = { label: string; price: number; kind: 'buy' | 'stop' | 'target' }

/** NaN if there is no value. */
export type Line = { name: string; values: Float64Array }

const AVERAGES = [5, 20, 60] as const
/** The longest average needs this many bars before the first visible one. */
export const WARM_UP = 60

export const PANES = ['volume', 'macd', 'rsi', 'kdj'] as const
export type Pane = (typeof PANES)[number]

export type ChartSeries = {
  bars: readonly DailyBar[]
  /** The close before the first bar; null if it is unknown. */
  closeBefore: number | null
  averages: Line[]
  /** The histogram of MACD is the first. */
  macd: Line[]
  rsi: Line[]
  kdj: Line[]
}

/** The last `count` bars with their lines. */
export function drawnOf(bars: readonly DailyBar[], count: number): ChartSeries {
  const column = (name: 'high' | 'low' | 'close') => Float64Array.from(bars, (bar) => bar[name])
  const [high, low, close] = [column('high'), column('low'), column('close')]
  const first = Math.max(0, bars.length - count)
  const cut = (name: string, values: Float64Array): Line => ({ name, values: values.slice(first) })
  const moves = macd(close)
  const swings = kdj(high, low, close)
  return {
    bars: bars.slice(first),
    closeBefore: bars[first - 1]?.close ?? null,
    averages: AVERAGES.map((length) => cut(`MA${length}`, sma(close, length))),
    macd: [cut('MACD', moves.histogram), cut('DIF', moves.dif), cut('DEA', moves.dea)],
    rsi: [cut('RSI6', rsi(close, 6)), cut('RSI12', rsi(close, 12))],
    kdj: [cut('K', swings.k), cut('D', swings.d), cut('J', swings.j)],
  }
}

/** A level further from the bars than this share of their range would compress them: it is listed, not drawn. */
const LEVEL_REACH = 0.6

export function levelsInReach(bars: readonly DailyBar[], levels: readonly Level[]): Level[] {
  const top = Math.max(...bars.map(({ high }) => high))
  const bottom = Math.min(...bars.map(({ low }) => low))
  const reach = (top - bottom) * LEVEL_REACH
  return levels.filter(({ price }) => price <= top + reach && price >= bottom - reach)
}

/** The sign is the same as in the texts. */
function percent(value: number): string {
  const size = Math.abs(value).toFixed(2)
  return `${value < 0 && Number(size) !== 0 ? '−' : ''}${size} %`
}

/** Two decimals, and more for prices below one. */
export function priceFormat(bars: readonly DailyBar[]) {
  const close = bars.at(-1)?.close ?? 1
  const precision = close >= 1 ? 2 : close >= 0.01 ? 4 : 6
  return { type: 'price' as const, precision, minMove: 10 ** -precision }
}

/** The library's own percentages are rounded to a half and show 8.5 as 8.1. */
export const PERCENT_FORMAT = { type: 'custom' as const, formatter: percent, minMove: 0.01 }

/** For values without a unit, whatever the price of the stock. */
export const PLAIN_FORMAT = { type: 'price' as const, precision: 2, minMove: 0.01 }

type Priced = { drawn: ChartSeries; levels: readonly Level[]; beside: Line }

/**
 * In percent of the first visible close, the other listing in percent of its own. Averages and levels use the stock's
 * close too: with a first value of their own, as in a chart's percent scale, they would move relative to the candles.
 */
export function inPercent<P extends Priced>({ drawn, levels, beside, ...rest }: P) {
  const by = (base: number) => (value: number) => (value / base - 1) * 100
  const own = by(drawn.bars[0]?.close ?? Number.NaN)
  const line = ({ name, values }: Line, percent = own): Line => ({ name, values: values.map(percent) })
  const bars = drawn.bars.map((bar) => ({
    ...bar,
    open: own(bar.open),
    high: own(bar.high),
    low: own(bar.low),
    close: own(bar.close),
  }))
  return {
    ...rest,
    drawn: { ...drawn, bars, averages: drawn.averages.map((average) => line(average)) },
    levels: levels.map((level) => ({ ...level, price: own(level.price) })),
    beside: line(beside, by(beside.values.find((value) => !Number.isNaN(value)) ?? Number.NaN)),
  }
}

/** The closes of another listing on the days of these bars; NaN on a day without one. */
export function alongside(bars: readonly DailyBar[], others: readonly DailyBar[]): Float64Array {
  const closes = new Map(others.map(({ date, close }) => [date, close]))
  return Float64Array.from(bars, ({ date }) => closes.get(date) ?? Number.NaN)
}
