import { expect, test } from 'vitest'
import type { Bar } from '../../../src/market/bars.ts'
import { pivotPoints, swingLevels, yearRange } from '../../../src/market/indicators/levels.ts'

const DAY_MS = 86_400_000

function daily(days: number, price: (i: number) => number): Bar[] {
  const start = Date.parse('2024-01-01')
  return Array.from({ length: days }, (_, i) => {
    const close = price(i)
    const date = new Date(start + i * DAY_MS).toISOString().slice(0, 10)
    return { date, open: close, high: close + 1, low: close - 1, close, volume: 100, amount: null }
  })
}

test('the 52-week range is told only once the bars reach back that far, and forgets what is older', () => {
  expect(yearRange([])).toBeNull()
  expect(yearRange(daily(364, () => 50))).toBeNull()
  const bars = daily(400, (i) => (i < 10 ? 500 : 100 + (i % 50)))
  const range = yearRange(bars)
  expect(range).toEqual({ high: 150, low: 99, positionPct: ((149 - 99) / 51) * 100 })
  expect(yearRange(daily(366, () => 50))?.positionPct).toBe(50)
})

test('pivot points are those of the floor-trader formula', () => {
  expect(pivotPoints({ high: 110, low: 95, close: 104 })).toEqual({ pivot: 103, r1: 111, r2: 118, s1: 96, s2: 88 })
})

test('swing levels are turns with three bars on either side, and turns at nearly one price are one level', () => {
  //                0  1  2  3  4  5  6  7  8   9  10 11 12 13
  const highs = [10, 11, 12, 15, 12, 11, 10, 11, 13, 15.2, 13, 12, 11, 99]
  const lows = highs.map((high) => high - 4)
  const levels = swingLevels(highs, lows, 0.5)
  expect(levels).toEqual([
    { price: 6, touches: 1, lastIndex: 6 },
    { price: 15.1, touches: 2, lastIndex: 9 },
  ])
  expect(swingLevels(highs, lows, 0.1).map((level) => level.price)).toEqual([6, 15, 15.2])
  expect(swingLevels([1, 2, 3], [0, 1, 2], 1)).toEqual([])
  const plateau = [1, 2, 3, 5, 5, 3, 2, 1, 1]
  expect(swingLevels(plateau, plateau, 0.1).map((level) => level.lastIndex)).toEqual([3])
})
