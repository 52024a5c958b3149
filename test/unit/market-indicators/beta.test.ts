// Beta and relative strength against formulas of their own: the slope as the mean of the slopes of all pairs of days, each counted by the
// square of its distance; the strength as a sum of logarithms.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { betaOf, paired, relativeStrengthPct } from '../../../src/market/benchmarks.ts'
import { barsOf } from '../analysis/series.ts'

const steps = fc.array(
  fc.record({
    index: fc.double({ min: -0.05, max: 0.05, noNaN: true }),
    own: fc.double({ min: -0.09, max: 0.09, noNaN: true }),
  }),
  { minLength: 255, maxLength: 290 },
)

function closesOf(moves: readonly number[]): number[] {
  const closes = [100]
  for (const move of moves) closes.push((closes.at(-1) ?? 100) * (1 + move))
  return closes
}

test('beta and its share of the variance are those of the pairwise slopes of the last 250 returns', () => {
  fc.assert(
    fc.property(steps, (moves) => {
      const own = barsOf(closesOf(moves.map((move) => move.own + 0.8 * move.index)))
      const index = barsOf(closesOf(moves.map((move) => move.index)))
      const recent = moves.slice(-250)
      let [weights, slopes, spread] = [0, 0, 0]
      for (const [i, a] of recent.entries())
        for (const b of recent.slice(0, i)) {
          const [x, y] = [a.index - b.index, a.own + 0.8 * a.index - b.own - 0.8 * b.index]
          weights += x * x
          slopes += x * y
          spread += y * y
        }
      const told = betaOf(paired(own, index))
      expect(told?.returns).toBe(250)
      expect(told?.beta).toBeCloseTo(slopes / weights, 8)
      expect(told?.rSquared).toBeCloseTo(slopes ** 2 / weights / spread, 8)
      const pair = paired(own, index)
      for (const sessions of [20, 60, 250]) {
        const logs = moves
          .slice(-sessions)
          .map((move) => Math.log1p(move.own + 0.8 * move.index) - Math.log1p(move.index))
        const sum = logs.reduce((total, value) => total + value, 0)
        expect(relativeStrengthPct(pair, sessions)).toBeCloseTo(100 * Math.expm1(sum), 6)
      }
    }),
    { numRuns: 25, seed: 11 },
  )
})

test('a listing that is the index has a beta of one, twice its moves a beta of two, and against it one of minus one', () => {
  const moves = Array.from({ length: 100 }, (_, i) => 0.01 * Math.sin(i * 2.1))
  const index = barsOf(closesOf(moves))
  const of = (factor: number) => betaOf(paired(barsOf(closesOf(moves.map((move) => factor * move))), index))
  for (const factor of [1, 2, -1]) {
    expect(of(factor)?.beta).toBeCloseTo(factor, 10)
    expect(of(factor)?.rSquared).toBeCloseTo(1, 10)
  }
})

test('fewer than 60 returns, or an index that stands still, have no beta; too few sessions no strength', () => {
  const closes = closesOf(Array.from({ length: 60 }, (_, i) => 0.01 * Math.sin(i)))
  const still = barsOf(closes.map(() => 3000))
  expect(betaOf(paired(barsOf(closes), barsOf(closes)))?.returns).toBe(60)
  expect(betaOf(paired(barsOf(closes.slice(1)), barsOf(closes.slice(1))))).toBeNull()
  expect(betaOf(paired(barsOf(closes), still))).toBeNull()
  const pair = paired(barsOf(closes), still)
  expect([relativeStrengthPct(pair, 60), relativeStrengthPct(pair, 61)]).toEqual([expect.any(Number), null])
})

test('only days that both have are compared, each with its own', () => {
  const bars = barsOf(closesOf(Array.from({ length: 90 }, (_, i) => 0.02 * Math.sin(i * 1.3))))
  const suspended = bars.filter((_, i) => i % 7 !== 3)
  const listed = bars.slice(10)
  const pair = paired(suspended, listed)
  expect(pair.dates).toEqual(suspended.filter(({ date }) => date >= (listed[0]?.date ?? '')).map(({ date }) => date))
  expect(pair.own).toEqual(pair.index)
  expect(betaOf(pair)?.beta).toBeCloseTo(1, 10)
})
