import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bar } from '../../../src/market/bars.ts'
import { chipDistribution, chipHealth, floatSharesOf } from '../../../src/market/indicators/chips.ts'
import { anyBars, barsOf } from '../analysis/series.ts'

const bar = (low: number, high: number, volume: number): Bar => ({
  date: '2026-03-20',
  open: (low + high) / 2,
  high,
  low,
  close: (low + high) / 2,
  volume,
  amount: null,
})

test('a float that changes hands in one session leaves only the costs of that session', () => {
  const old = Array.from({ length: 30 }, () => bar(10, 11, 100))
  const chips = chipDistribution([...old, bar(20, 21, 1_000)], 1_000)
  expect(chips?.cost90.low).toBeGreaterThanOrEqual(20)
  expect(chips?.cost90.high).toBeLessThanOrEqual(21)
  expect(chips?.averageCost).toBeCloseTo(20.5, 1)
  expect(chips?.profitRatio).toBeCloseTo(0.5, 1)
  expect(chips && chipHealth(chips)).toBe('healthy')
})

test('half the float at a low and half at a high cost: one half in profit, the costs wide apart', () => {
  const days = [...Array.from({ length: 20 }, () => bar(10, 10.2, 1_000)), bar(20, 20.2, 500)]
  const chips = chipDistribution([...days, { ...bar(15, 15.1, 0), close: 15 }], 1_000)
  expect(chips?.profitRatio).toBeCloseTo(0.5, 2)
  expect(chips?.cost90.low).toBeLessThan(10.3)
  expect(chips?.cost90.high).toBeGreaterThan(19.9)
  expect(chips?.cost90.concentration).toBeGreaterThan(0.3)
  expect(chips && chipHealth(chips)).toBe('alert')
})

test('too few bars, no float and no volume make no distribution, and a price that never moved makes a narrow one', () => {
  expect(chipDistribution(barsOf(Array(19).fill(10)), 1e6)).toBeNull()
  for (const float of [0, -1, Number.NaN]) expect(chipDistribution(barsOf(Array(30).fill(10)), float)).toBeNull()
  expect(
    chipDistribution(
      Array.from({ length: 30 }, () => bar(10, 11, 0)),
      1e6,
    ),
  ).toBeNull()
  const flat = chipDistribution(
    Array.from({ length: 30 }, () => bar(10, 10, 500)),
    1_000,
  )
  expect(flat).toMatchObject({ averageCost: 10, profitRatio: 1, cost90: { low: 10, high: 10, concentration: 0 } })
})

test('for any series the shares lie between none and all, and the ranges inside the prices', () => {
  fc.assert(
    fc.property(anyBars, fc.double({ min: 1e5, max: 1e9, noNaN: true }), (bars, float) => {
      const chips = chipDistribution(bars, float)
      if (chips === null) return
      const low = Math.min(...bars.slice(-120).map((one) => one.low))
      const high = Math.max(...bars.slice(-120).map((one) => one.high))
      expect(chips.profitRatio).toBeGreaterThanOrEqual(0)
      expect(chips.profitRatio).toBeLessThanOrEqual(1 + 1e-9)
      const order = [
        low - 1e-9,
        chips.cost90.low,
        chips.cost70.low,
        chips.averageCost,
        chips.cost70.high,
        chips.cost90.high,
      ]
      expect([...order, high + 1e-6]).toEqual([...order, high + 1e-6].toSorted((a, b) => a - b))
    }),
  )
})

test('the float comes from the market value, else from turnover, else from nowhere', () => {
  const quote = { price: 20, volume: 5_000, turnoverRatePct: 2, circulatingMarketValue: 2e6 }
  expect(floatSharesOf(quote)).toBe(1e5)
  expect(floatSharesOf({ ...quote, circulatingMarketValue: null })).toBe(250_000)
  expect(floatSharesOf({ ...quote, circulatingMarketValue: null, turnoverRatePct: 0 })).toBeNull()
})
