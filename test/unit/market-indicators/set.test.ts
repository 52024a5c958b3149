import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bar } from '../../../src/market/bars.ts'
import { sma } from '../../../src/market/indicators/averages.ts'
import {
  columns,
  INDICATOR_LINES,
  INDICATORS,
  indicatorRow,
  indicatorSeries,
} from '../../../src/market/indicators/index.ts'
import { nullable, rollingMax, rollingMin, valueAt } from '../../../src/market/indicators/series.ts'
import { bollinger } from '../../../src/market/indicators/volatility.ts'

const prices = fc.array(fc.double({ min: 0.01, max: 5000, noNaN: true }), { minLength: 1, maxLength: 120 })
const window = fc.integer({ min: 1, max: 30 })

/** What the definition says, taken from each window afresh. */
function slowly(values: number[], period: number, of: (window: number[]) => number): (number | null)[] {
  return values.map((_, i) => (i < period - 1 ? null : of(values.slice(i - period + 1, i + 1))))
}

function expectClose(actual: (number | null)[], wanted: (number | null)[], scale: number): void {
  expect(actual.map((value) => value === null)).toEqual(wanted.map((value) => value === null))
  actual.forEach((value, i) => {
    expect(Math.abs((value ?? 0) - (wanted[i] ?? 0))).toBeLessThanOrEqual(scale)
  })
}

test('one-pass windows equal the definition for any series and period', () => {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const deviation = (values: number[]) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)))
  fc.assert(
    fc.property(prices, window, (values, period) => {
      expect(nullable(rollingMax(values, period))).toEqual(slowly(values, period, (part) => Math.max(...part)))
      expect(nullable(rollingMin(values, period))).toEqual(slowly(values, period, (part) => Math.min(...part)))
      expectClose(nullable(sma(values, period)), slowly(values, period, mean), 1e-9)
      const upper = slowly(values, period, (part) => mean(part) + 2 * deviation(part))
      expectClose(nullable(bollinger(values, period).upper), upper, 1e-9)
    }),
  )
})

test('the row of the last bar holds every indicator, null where it has not warmed up', () => {
  const bars: Bar[] = Array.from({ length: 30 }, (_, i) => {
    const close = 100 + Math.sin(i) * 5
    return { date: '2026-01-01', open: close, high: close + 2, low: close - 2, close, volume: 1000 + i, amount: null }
  })
  const series = indicatorSeries(columns(bars))
  const row = indicatorRow(series, -1)
  expect(Object.entries(row).flatMap(([name, value]) => (value === null ? [name] : []))).toEqual([
    'ma60',
    'ma120',
    'ma250',
    'dea',
    'histogram',
    'return60',
    'return250',
    'volatility60',
    'maxDrawdown250',
  ])
  expect(row.bias5).toBeCloseTo((((bars[29]?.close ?? 0) - (row.ma5 ?? 0)) / (row.ma5 ?? 1)) * 100, 9)
  expect(indicatorRow(series, 3).ma5).toBeNull()
  expect(indicatorRow(series, 3).obv).not.toBeNull()
  expect(valueAt(series.ma5, 30)).toBeNull()
})

test('every series begins where it says, no bar sooner and no bar later', () => {
  const bars: Bar[] = Array.from({ length: 260 }, (_, i) => {
    const close = 100 + Math.sin(i) * 5 + i / 10
    return { date: '2026-01-01', open: close, high: close + 2, low: close - 2, close, volume: 1000 + i, amount: null }
  })
  const table = columns(bars)
  const said = INDICATORS.flatMap(({ lines }) => Object.entries(lines).map(([name, { warmUp }]) => [name, warmUp]))
  const computed = INDICATORS.flatMap(({ compute }) => {
    return Object.entries(compute(table)).map(([name, series]) => [
      name,
      series.findIndex((value) => !Number.isNaN(value)),
    ])
  })
  const fields = INDICATOR_LINES.flatMap(({ field }) => field ?? [])
  expect([new Set(computed.map(([name]) => name)).size, new Set(fields).size]).toEqual([said.length, fields.length])
  expect(Object.fromEntries(computed)).toEqual(Object.fromEntries(said))
})
