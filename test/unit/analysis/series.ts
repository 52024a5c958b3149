import fc from 'fast-check'
import type { Bar } from '../../../src/market/bars.ts'
import { addDays, isTradingDay } from '../../../src/market/calendar.ts'
import type { Market } from '../../../src/market/instruments.ts'

/** Bars of a market's sessions that end on a date, one a close, each opening at the close before it. */
export function barsOf(
  closes: readonly number[],
  { endsOn = '2026-03-20', volume = 1_000_000, market = 'cn' as Market } = {},
): Bar[] {
  const dates: string[] = []
  for (let day = endsOn; dates.length < closes.length; day = addDays(day, -1))
    if (isTradingDay(market, day)) dates.unshift(day)
  return closes.map((close, i) => {
    const open = closes[i - 1] ?? close
    const [high, low] = [Math.max(open, close) * 1.01, Math.min(open, close) * 0.99]
    return { date: dates[i] ?? endsOn, open, high, low, close, volume: volume + i, amount: null }
  })
}

/** Closes that drift by a fixed share a day around a wave, so that every test sees the same figures. */
export function wave(count: number, driftPct: number, start = 100): number[] {
  return Array.from({ length: count }, (_, i) => start * (1 + driftPct / 100) ** i * (1 + 0.01 * Math.sin(i)))
}

/** A long fall, then a bounce that puts the short averages in order while the price is still far below its high. */
export function bounce(): number[] {
  const fall = Array.from({ length: 320 }, (_, i) => 200 * 0.9965 ** i)
  const low = fall.at(-1) ?? 0
  return [...fall, ...Array.from({ length: 9 }, (_, i) => low * 1.008 ** (i + 1))]
}

/** Random walks of any price level, wildness and length, with days without volume. */
export const anyBars: fc.Arbitrary<Bar[]> = fc
  .record({
    start: fc.double({ min: 0.02, max: 5000, noNaN: true }),
    steps: fc.array(fc.double({ min: -0.11, max: 0.11, noNaN: true }), { maxLength: 90, size: 'max' }),
    volume: fc.constantFrom(0, 1_000_000),
  })
  .map(({ start, steps, volume }) => {
    const closes = [start]
    for (const step of steps) closes.push((closes.at(-1) ?? start) * (1 + step))
    return barsOf(closes, { volume })
  })
