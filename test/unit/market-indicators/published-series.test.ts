import { expect, test } from 'vitest'
import { ema, sma } from '../../../src/market/indicators/averages.ts'
import { kdj, macd, rsi } from '../../../src/market/indicators/momentum.ts'
import { nullable } from '../../../src/market/indicators/series.ts'
import { atr, bollinger } from '../../../src/market/indicators/volatility.ts'
import { obv, volumeRatio } from '../../../src/market/indicators/volume.ts'

const numbers = (text: string) => text.trim().split(/\s+/).map(Number)
const rounded = (values: ArrayLike<number>, digits: number) =>
  nullable(values).map((value) => (value === null ? null : Number(value.toFixed(digits))))
const warmUp = (length: number): null[] => Array.from({ length }, () => null)

// The worked examples of StockCharts' ChartSchool, as printed there: QQQQ and QQQ daily figures of 2009 and 2010.
const RSI_CLOSES = numbers(`44.3389 44.0902 44.1497 43.6124 44.3278 44.8264 45.0955 45.4245 45.8433 46.0826 45.8931
  46.0328 45.6140 46.2820 46.2820 46.0028 46.0328 46.4116 46.2222 45.6439 46.2122 46.2521 45.7137 46.4515 45.7835
  45.3548 44.0288 44.1783 44.2181 44.5672 43.4205 42.6628 43.1314`)
const RSI_14 = numbers(`70.53 66.32 66.55 69.41 66.36 57.97 62.93 63.26 56.06 62.38 54.71 50.42 39.99 41.46 41.87 45.46
  37.30 33.08 37.77`)
const MA_CLOSES = numbers(`22.27 22.19 22.08 22.17 22.18 22.13 22.23 22.43 22.24 22.29 22.15 22.39 22.38 22.61 23.36
  24.05 23.75 23.83 23.95 23.63 23.82 23.87 23.65 23.19 23.10 23.33 22.68 23.10 22.40 22.17`)
const SMA_10 = numbers(`22.22 22.21 22.23 22.26 22.31 22.42 22.61 22.77 22.91 23.08 23.21 23.38 23.53 23.65 23.71 23.69
  23.61 23.51 23.43 23.28 23.13`)
const HIGHS = numbers(`48.70 48.72 48.90 48.87 48.82 49.05 49.20 49.35 49.92 50.19 50.12 49.66 49.88 50.19 50.36 50.57
  50.65 50.43 49.63 50.33 50.29 50.17 49.32 48.50 48.32 46.80 47.80 48.39 48.66 48.79`)
const LOWS = numbers(`47.79 48.14 48.39 48.37 48.24 48.64 48.94 48.86 49.50 49.87 49.20 48.90 49.43 49.73 49.26 50.09
  50.30 49.21 48.98 49.61 49.20 49.43 48.08 47.64 41.55 44.28 47.31 47.20 47.90 47.73`)
const CLOSES = numbers(`48.16 48.61 48.75 48.63 48.74 49.03 49.07 49.32 49.91 50.13 49.53 49.50 49.75 50.03 50.31 50.52
  50.41 49.34 49.37 50.23 49.24 49.93 48.43 48.18 46.57 45.41 47.77 47.72 48.62 47.85`)
const ATR_14 = numbers('0.55 0.59 0.59 0.57 0.61 0.62 0.64 0.67 0.69 0.77 0.78 1.21 1.30 1.38 1.37 1.34 1.32')

test('RSI, SMA and ATR give the published figures, with null for every bar of the warm-up', () => {
  expect(rounded(rsi(RSI_CLOSES, 14), 2)).toEqual([...warmUp(14), ...RSI_14])
  expect(rounded(atr(HIGHS, LOWS, CLOSES, 14), 2)).toEqual([...warmUp(13), ...ATR_14])
  const average = nullable(sma(MA_CLOSES, 10))
  expect(average.slice(0, 9)).toEqual(warmUp(9))
  // The source averages closes with four decimals and prints two.
  average.slice(9).forEach((value, i) => {
    expect(Math.abs((value ?? 0) - (SMA_10[i] ?? 0))).toBeLessThan(0.01)
  })
})

test('EMA starts at the first close, is 2/(n+1) of the way to each next one, and meets the SMA-started published series', () => {
  // n = 3, weight 1/2: 10, then 10+½(12−10) = 11, 11+½(11−11) = 11, 11+½(15−11) = 13, 13+½(9−13) = 11.
  expect(nullable(ema([10, 12, 11, 15, 9], 3))).toEqual([null, null, 11, 13, 11])
  // The last five published EMA10 values; the two seeds differ by less than half a cent by then.
  const last = Array.from(ema(MA_CLOSES, 10).slice(-5))
  numbers('23.39 23.26 23.23 23.08 22.92').forEach((value, i) => {
    expect(Math.abs((last[i] ?? 0) - value)).toBeLessThan(0.01)
  })
})

test('MACD of a steady climb follows the closed form, and its histogram is twice the distance of DIF and DEA', () => {
  const climb = Array.from({ length: 80 }, (_, i) => 100 + i)
  // EMA_n of a ramp of slope 1 lags by (n−1)/2 · (1 − (1−w)^i).
  const dif = (i: number) => 12.5 * (1 - (25 / 27) ** i) - 5.5 * (1 - (11 / 13) ** i)
  const result = macd(climb)
  expect(nullable(result.dif).slice(0, 25)).toEqual(warmUp(25))
  expect(nullable(result.dea).slice(0, 33)).toEqual(warmUp(33))
  expect(nullable(result.histogram).slice(0, 33)).toEqual(warmUp(33))
  let dea = 0
  for (let i = 1; i < climb.length; i++) {
    dea += 0.2 * (dif(i) - dea)
    if (i >= 25) expect(result.dif[i]).toBeCloseTo(dif(i), 9)
    if (i < 33) continue
    expect(result.dea[i]).toBeCloseTo(dea, 9)
    expect(result.histogram[i]).toBeCloseTo(2 * (dif(i) - dea), 9)
  }
})

test('KDJ, Bollinger bands, OBV and volume ratio give the hand-computed figures', () => {
  const highs = Array.from({ length: 10 }, () => 10)
  const lows = Array.from({ length: 10 }, () => 0)
  // RSV 80: K = 50+30/3 = 60, D = 50+10/3, J = 180 − 2D. RSV 20: K = 60−40/3, D = 53⅓ + (46⅔−53⅓)/3.
  const stochastic = kdj(highs, lows, [5, 5, 5, 5, 5, 5, 5, 5, 8, 2])
  expect(nullable(stochastic.k).slice(0, 8)).toEqual(warmUp(8))
  expect(rounded(stochastic.k, 3).slice(8)).toEqual([60, 46.667])
  expect(rounded(stochastic.d, 3).slice(8)).toEqual([53.333, 51.111])
  expect(rounded(stochastic.j, 3).slice(8)).toEqual([73.333, 37.778])

  // The textbook sample 2 4 4 4 5 5 7 9: mean 5, population deviation 2.
  const bands = bollinger([2, 4, 4, 4, 5, 5, 7, 9, 2], 8)
  expect(rounded(bands.upper, 9)).toEqual([...warmUp(7), 9, 9])
  expect(rounded(bands.middle, 9)).toEqual([...warmUp(7), 5, 5])
  expect(rounded(bands.lower, 9)).toEqual([...warmUp(7), 1, 1])

  expect(nullable(obv([10, 11, 11, 9, 12], [5, 6, 7, 8, 9]))).toEqual([0, 6, 6, -2, 7])
  expect(nullable(volumeRatio([10, 20, 30, 40, 50, 60, 0]))).toEqual([null, null, null, null, null, 2, 0])
  expect(nullable(volumeRatio([0, 0, 0, 0, 0, 60])).at(-1)).toBeNull()
})

test('a series shorter than the period, a flat one and an empty one have no invented values', () => {
  expect(nullable(sma([1, 2], 5))).toEqual([null, null])
  expect(nullable(rsi([1, 2], 6))).toEqual([null, null])
  expect(nullable(macd([1, 2]).dif)).toEqual([null, null])
  expect(nullable(bollinger([], 20).upper)).toEqual([])
  const flat = Array.from({ length: 60 }, () => 0.1)
  expect(nullable(sma(flat, 20)).at(-1)).toBe(0.1)
  expect(nullable(rsi(flat, 12)).at(-1)).toBe(50)
  expect(nullable(macd(flat).histogram).at(-1)).toBe(0)
  expect(nullable(bollinger(flat).upper).at(-1)).toBe(0.1)
  expect(nullable(kdj(flat, flat, flat).j).at(-1)).toBe(50)
})
