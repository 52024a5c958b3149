import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReasonCode, TrendState } from '../../../src/analysis/codes.ts'
import { type MacdPoint, type ScoreInput, score, upsideDown } from '../../../src/analysis/judge/score.ts'
import { type Signal, signalOf, TREND_STRENGTH, trendState } from '../../../src/analysis/judge/signals.ts'

const NEUTRAL: ScoreInput = {
  trend: 'consolidation',
  price: 100,
  previousClose: 100,
  ma5: 100,
  ma10: 100,
  biasPct: 0,
  volumeRatio: 1,
  macd: null,
  rsi12: null,
}

const cross = (before: [number, number], now: [number, number]): { before: MacdPoint; now: MacdPoint } => ({
  before: { dif: before[0], dea: before[1] },
  now: { dif: now[0], dea: now[1] },
})

const up = { price: 101, previousClose: 100 }
const down = { price: 99, previousClose: 100 }

// Every branch of the six tables, its edges included: the part, what changes, the reason, the points.
const CASES: [key: string, change: Partial<ScoreInput>, reason: ReasonCode, points: number][] = [
  ['trend', { trend: 'strong_bull' }, 'trend_strong_bull', 30],
  ['trend', { trend: 'bull' }, 'trend_bull', 26],
  ['trend', { trend: 'weak_bull' }, 'trend_weak_bull', 20],
  ['trend', { trend: 'consolidation' }, 'trend_consolidation', 15],
  ['trend', { trend: 'weak_bear' }, 'trend_weak_bear', 10],
  ['trend', { trend: 'bear' }, 'trend_bear', 4],
  ['trend', { trend: 'strong_bear' }, 'trend_strong_bear', 0],
  ['bias', { biasPct: -5.01 }, 'bias_broken', 12],
  ['bias', { biasPct: -5 }, 'bias_deep_pullback', 11],
  ['bias', { biasPct: -3.01 }, 'bias_deep_pullback', 11],
  ['bias', { biasPct: -3 }, 'bias_pullback', 13],
  ['bias', { biasPct: -0.5 }, 'bias_pullback', 11],
  ['bias', { biasPct: -1e-12 }, 'bias_close', 10],
  ['bias', { biasPct: 1.99 }, 'bias_close', 9],
  ['bias', { biasPct: 2 }, 'bias_high', 7],
  ['bias', { biasPct: 5 }, 'bias_high', 9],
  ['bias', { biasPct: 5.01 }, 'bias_chasing', 8],
  ['bias', { biasPct: 5.01, trend: 'strong_bull' }, 'bias_stretched', 11],
  ['bias', { biasPct: 7.5, trend: 'strong_bull' }, 'bias_stretched', 11],
  ['bias', { biasPct: 7.51, trend: 'strong_bull' }, 'bias_chasing', 8],
  ['volume', { ...down, volumeRatio: 0.7 }, 'volume_shrinking_down', 11],
  ['volume', { ...up, volumeRatio: 1.5 }, 'volume_heavy_up', 13],
  ['volume', { ...up, volumeRatio: 1.49 }, 'volume_normal', 7],
  ['volume', { ...down, volumeRatio: 0.71 }, 'volume_normal', 7],
  ['volume', { volumeRatio: 3 }, 'volume_normal', 7],
  ['volume', { ...up, volumeRatio: 0.5 }, 'volume_shrinking_up', 3],
  ['volume', { ...down, volumeRatio: 2 }, 'volume_heavy_down', 1],
  ['volume', { ...down, volumeRatio: null }, 'volume_unknown', 7],
  ['support', { price: 100, ma5: 99, ma10: 98.1 }, 'support_both', 10],
  ['support', { price: 100, ma5: 101, ma10: 90 }, 'support_none', 3],
  ['support', { price: 100, ma5: 90, ma10: 102 }, 'support_none', 5],
  ['support', { price: 100, ma5: 97, ma10: 104 }, 'support_none', 5],
  ['macd', { macd: cross([0.1, 0.2], [0.3, 0.2]) }, 'macd_golden_above_zero', 15],
  ['macd', { macd: cross([-0.1, -0.2], [0.1, -0.1]) }, 'macd_zero_up', 13],
  ['macd', { macd: cross([-0.3, -0.2], [-0.1, -0.2]) }, 'macd_golden', 14],
  ['macd', { macd: cross([0.3, 0.2], [0.1, 0.2]) }, 'macd_dead', 2],
  ['macd', { macd: cross([0.1, 0.2], [-0.1, 0.1]) }, 'macd_zero_down', 3],
  ['macd', { macd: cross([0.3, 0.2], [0.4, 0.2]) }, 'macd_bull', 11],
  ['macd', { macd: cross([-0.3, -0.2], [-0.4, -0.2]) }, 'macd_bear', 5],
  ['macd', { macd: cross([0.2, -0.2], [0.3, -0.1]) }, 'macd_mixed', 8],
  ['macd', { macd: cross([0, 0], [1e-12, 0]) }, 'macd_mixed', 8],
  ['macd', { macd: null }, 'macd_unknown', 8],
  ['rsi', { rsi12: 29.9 }, 'rsi_oversold', 10],
  ['rsi', { rsi12: 30 }, 'rsi_weak', 3],
  ['rsi', { rsi12: 40 }, 'rsi_neutral', 4],
  ['rsi', { rsi12: 60 }, 'rsi_strong', 6],
  ['rsi', { rsi12: 70 }, 'rsi_strong', 7],
  ['rsi', { rsi12: 70.1 }, 'rsi_overbought', 0],
  ['rsi', { rsi12: null }, 'rsi_unknown', 5],
]

test('every branch of every part gives its points and its reason', () => {
  const got = CASES.map(([key, change]) => {
    const part = score({ ...NEUTRAL, ...change }).parts.find((each) => each.key === key)
    return [key, change, part?.reason, part?.points]
  })
  expect(got).toEqual(CASES)
})

test('for any input the parts stay within their maxima, sum to the total, and the total lies within 0 and 100', () => {
  const ratio = fc.option(fc.double({ min: 0, max: 50, noNaN: true }))
  const point = fc.record({
    dif: fc.double({ min: -50, max: 50, noNaN: true }),
    dea: fc.double({ min: -50, max: 50, noNaN: true }),
  })
  const price = fc.double({ min: 0.001, max: 1e6, noNaN: true })
  const input = fc.record<ScoreInput>({
    trend: fc.constantFrom(...(Object.keys(TREND_STRENGTH) as TrendState[])),
    price,
    previousClose: price,
    ma5: price,
    ma10: price,
    biasPct: fc.double({ min: -90, max: 900, noNaN: true }),
    volumeRatio: ratio,
    macd: fc.option(fc.record({ now: point, before: point })),
    rsi12: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
  })
  fc.assert(
    fc.property(input, (values) => {
      const { total, parts } = score(values)
      expect(parts.map(({ max }) => max)).toEqual([30, 20, 15, 10, 15, 10])
      expect(parts.every(({ points, max }) => points >= 0 && points <= max)).toBe(true)
      expect(parts.reduce((sum, { points }) => sum + points, 0)).toBe(total)
      // A chart and the same chart upside down: what speaks for one speaks against the other.
      expect(score(upsideDown(values)).total).toBe(100 - total)
      expect(total).toBeGreaterThanOrEqual(0)
      expect(total).toBeLessThanOrEqual(100)
    }),
  )
})

test('the signal follows the score, and the trend decides where the score alone may not', () => {
  const table: [number, TrendState, Signal][] = [
    [80, 'strong_bull', 'strong_buy'],
    [80, 'bull', 'strong_buy'],
    [80, 'weak_bull', 'buy'],
    [79, 'bull', 'buy'],
    [60, 'weak_bull', 'buy'],
    [60, 'consolidation', 'watch'],
    [75, 'weak_bear', 'watch'],
    [60, 'bear', 'sell'],
    [59, 'bull', 'watch'],
    [40, 'strong_bear', 'watch'],
    [39, 'bull', 'sell'],
    [39, 'consolidation', 'sell'],
    [20, 'weak_bear', 'sell'],
    [39, 'bear', 'sell'],
    [19, 'bear', 'strong_sell'],
    [20, 'strong_bear', 'sell'],
    [19, 'strong_bear', 'strong_sell'],
    [19, 'bull', 'sell'],
    [0, 'consolidation', 'sell'],
  ]
  expect(table.map(([total, trend]) => [total, trend, signalOf(total, trend)])).toEqual(table)
})

test('the trend is read off the averages and the way their spread goes', () => {
  // Six bars of constant averages, the fifth from the end given apart.
  const lines = (now: number[], before: number[] = now, range = 0) => {
    const [ma5, ma10, ma20] = now.map((value, i) =>
      Float64Array.from([value, before[i] ?? value, ...Array(4).fill(value)]),
    )
    const none = new Float64Array()
    return { ma5: ma5 ?? none, ma10: ma10 ?? none, ma20: ma20 ?? none, atr: new Float64Array(6).fill(range) }
  }
  const table: [number[], number[] | undefined, TrendState][] = [
    [[106, 103, 100], [104, 102, 100], 'strong_bull'],
    [[106, 103, 100], [107, 103, 100], 'bull'],
    [[105, 103, 100], [101, 100.5, 100], 'bull'],
    [[104, 103, 100], undefined, 'bull'],
    [[104, 100, 103], undefined, 'weak_bull'],
    [[104, 100, 100], undefined, 'weak_bull'],
    [[100, 100, 90], undefined, 'consolidation'],
    [[100, 100 + 1e-10, 90], undefined, 'consolidation'],
    [[99, 100, 95], undefined, 'weak_bear'],
    [[99, 100, 100], undefined, 'weak_bear'],
    [[97, 98, 100], undefined, 'bear'],
    [[94, 97, 100], [98, 99, 100], 'strong_bear'],
    [[94, 97, 100], [90, 97, 100], 'bear'],
    [[106, 103, 100], [Number.NaN, Number.NaN, Number.NaN], 'bull'],
  ]
  expect(table.map(([now, before]) => [now, before, trendState(lines(now, before))])).toEqual(table)
  expect(trendState(lines([106, 103, Number.NaN]))).toBeNull()
  // Averages within a tenth of an ATR are level: of the same three, the order is one for a quiet share and none for a lively one.
  const close = [100.5, 100.2, 100]
  const byRange = [1, 2.5, 4].map((range) => trendState(lines(close, close, range)))
  expect(byRange).toEqual(['bull', 'weak_bull', 'consolidation'])
  const upsideDown = [1, 2.5, 4].map((range) => trendState(lines([99.5, 99.8, 100], [99.5, 99.8, 100], range)))
  expect(upsideDown).toEqual(['bear', 'weak_bear', 'consolidation'])
})
