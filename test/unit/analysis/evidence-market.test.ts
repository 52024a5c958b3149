import { expect, test } from 'vitest'
import { normalOf, seededRandom } from '../../../src/analysis/evidence/observations.ts'
import { planTrades, tapeOf } from '../../../src/analysis/evidence/plan.ts'
import type { Judged } from '../../../src/analysis/evidence/replay.ts'
import { chanceOfMore, estimate, holm, interval, studentQuantile } from '../../../src/analysis/evidence/statistics.ts'
import { STANCES } from '../../../src/analysis/evidence/vocabulary.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { costShare, netReturn } from '../../../src/market/costs.ts'
import { type Instrument, parseCode } from '../../../src/market/instruments.ts'
import { barsOf, wave } from './series.ts'

function instrumentOf(code: string): Instrument {
  const parsed = parseCode(code)
  if (!parsed.ok) throw new Error(code)
  return parsed.instrument
}

const [MOUTAI, APPLE, TENCENT, FUND] = ['600519', 'AAPL', 'HK00700', '510300'].map(instrumentOf) as [
  Instrument,
  Instrument,
  Instrument,
  Instrument,
]

test('taxes are those of the day, and funds pay none in the mainland', () => {
  const before = costShare(MOUTAI, 'sell', '2023-08-25')
  expect(before - costShare(MOUTAI, 'sell', '2023-08-28')).toBeCloseTo(0.0005, 10)
  expect(costShare(MOUTAI, 'sell', '2024-01-02') - costShare(MOUTAI, 'buy', '2024-01-02')).toBeCloseTo(0.0005, 10)
  expect(costShare(TENCENT, 'buy', '2024-01-02')).toBe(costShare(TENCENT, 'sell', '2024-01-02'))
  expect(costShare(FUND, 'sell', '2024-01-02')).toBe(costShare(FUND, 'buy', '2024-01-02'))
  const flat = { bought: { price: 10, date: '2024-01-02' }, sold: { price: 10, date: '2024-01-03' } }
  expect(netReturn(MOUTAI, flat)).toBeLessThan(-0.0015)
  expect(netReturn(APPLE, flat)).toBeGreaterThan(-0.001)
})

/** Bars whose one session is changed. */
const withBar = (bars: readonly Bar[], at: number, change: Partial<Bar>): Bar[] =>
  bars.map((bar, i) => (i === at ? { ...bar, ...change } : bar))

test('nothing is bought at the upper limit, sold at the lower one, or traded in a suspension', () => {
  const bars = barsOf(wave(80, 0))
  const close = bars[69]?.close ?? 0
  const top = { open: close * 1.1, high: close * 1.1, low: close * 1.1, close: close * 1.1 }
  const bottom = { open: close * 0.9, high: close * 0.9, low: close * 0.9, close: close * 0.9 }
  const at = (some: Bar[], instrument = MOUTAI) => {
    const { buyable, sellable, idle } = tapeOf(instrument, some)
    return [buyable[70], sellable[70], idle[70]]
  }
  expect(at(bars)).toEqual([1, 1, 0])
  expect(at(withBar(bars, 70, top))).toEqual([0, 1, 0])
  expect(at(withBar(bars, 70, bottom))).toEqual([1, 0, 0])
  expect(at(withBar(bars, 70, top), APPLE)).toEqual([1, 1, 0])
  expect(at(withBar(bars, 70, { open: close, high: close, low: close, close, volume: 0 }))).toEqual([0, 0, 1])
  // The session after the advice is missing: its order is gone.
  expect(at(bars.filter((_, i) => i !== 69))).toEqual([1, 1, 0])
  expect(
    tapeOf(
      MOUTAI,
      bars.filter((_, i) => i !== 69),
    ).buyable[69],
  ).toBe(0)
})

const BUY_AT = (day: number, length: number): Judged => {
  const stances = new Uint8Array(length).fill(STANCES.indexOf('hold'))
  stances[day] = STANCES.indexOf('buy')
  return { stances, scores: new Uint8Array(length).fill(70) }
}

test('a plan is bought at the next open and ends at its stop, its target, an advice to sell, or its time', () => {
  // It opens low enough to win one and a half times what it risks.
  const bars = withBar(barsOf(Array.from({ length: 120 }, () => 100)), 81, { open: 98.5 })
  const plan = (some: Bar[], judged = BUY_AT(80, some.length), instrument = APPLE) =>
    planTrades(tapeOf(instrument, some), judged)
  const [timed] = plan(bars).trades
  expect(timed).toMatchObject({ signal: 80, entry: 81, exit: 101, reason: 'time' })
  const fall = withBar(bars, 85, { low: 1 })
  expect(plan(fall).trades[0]).toMatchObject({ exit: 85, reason: 'stop' })
  expect(plan(withBar(bars, 85, { high: 1000 })).trades[0]).toMatchObject({ exit: 85, reason: 'target' })
  // Both in one bar: nobody knows which was first.
  expect(plan(withBar(bars, 85, { high: 1000, low: 1 })).trades[0]).toMatchObject({ exit: 85, reason: 'stop' })
  // A gap below the stop is sold where the market opens.
  const gap = plan(withBar(bars, 85, { open: 50, high: 51, low: 49, close: 50 })).trades[0]
  expect(gap?.reason).toBe('stop')
  expect(gap?.net).toBeLessThan(-0.45)
  const sold = BUY_AT(80, bars.length)
  sold.stances[90] = STANCES.indexOf('sell')
  expect(plan(bars, sold).trades[0]).toMatchObject({ exit: 91, reason: 'advice' })
  // What is bought in the mainland cannot be sold on the same day.
  const sameDay = withBar(bars, 81, { low: 1 })
  expect(plan(sameDay).trades[0]).toMatchObject({ exit: 81, reason: 'stop' })
  expect(plan(sameDay, BUY_AT(80, bars.length), MOUTAI).trades[0]?.exit).toBeGreaterThan(81)
  // Beyond its own levels there is no plan, and late advices are not counted at all.
  expect(plan(withBar(bars, 81, { open: 1, low: 0.9 }))).toMatchObject({ trades: [], void: 1 })
  expect(plan(withBar(bars, 81, { open: 100 }))).toMatchObject({ trades: [], void: 1 })
  expect(plan(bars, BUY_AT(110, bars.length))).toEqual({ trades: [], unfilled: 0, void: 0, unfinished: 0 })
})

test("quantiles, Holm's adjustment and intervals are those of the books", () => {
  // Tables of Student's distribution.
  expect(studentQuantile(0.975, 10)).toBeCloseTo(2.228, 3)
  expect(studentQuantile(0.975, 1)).toBeCloseTo(12.706, 2)
  expect(studentQuantile(0.95, 30)).toBeCloseTo(1.697, 3)
  expect(studentQuantile(0.975, 1e6)).toBeCloseTo(1.96, 2)
  expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06])
  expect(holm([0.5, 0.9])).toEqual([1, 1])
})

test('overlapping observations count for as many as they are worth, and the interval holds the truth as often as it says', () => {
  const random = seededRandom(4)
  const [days, horizon] = [800, 10]
  let held = 0
  let worth = 0
  const runs = 200
  for (let run = 0; run < runs; run++) {
    const steps = Float64Array.from({ length: days + horizon }, () => normalOf(random))
    const sums = Float64Array.from({ length: days }, (_, day) =>
      steps.subarray(day, day + horizon).reduce((a, b) => a + b, 0),
    )
    const found = estimate(
      { counts: new Float64Array(days).fill(1), sums, squares: sums.map((x) => x * x) },
      2 * horizon,
    )
    if (found === null) throw new Error('no estimate')
    const { low, high } = interval(found)
    held += low <= 0 && high >= 0 ? 1 : 0
    worth += found.effectiveSize / runs
    expect(chanceOfMore(found) + chanceOfMore({ ...found, mean: -found.mean })).toBeCloseTo(1, 9)
  }
  expect(held / runs).toBeGreaterThan(0.92)
  expect(worth).toBeGreaterThan(days / horizon / 2)
  expect(worth).toBeLessThan((days / horizon) * 2)
  expect(estimate({ counts: Float64Array.of(1), sums: Float64Array.of(1), squares: Float64Array.of(1) }, 10)).toBeNull()
})
