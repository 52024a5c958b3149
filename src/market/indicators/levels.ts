import type { Bar } from '../bars.ts'
import type { Numbers } from './series.ts'

export type YearRange = { high: number; low: number; positionPct: number }

const YEAR_MS = 364 * 86_400_000

/**
 * Highest high and lowest low of the 52 weeks that end with the last bar, and the position of its close between them;
 * null when there are not enough bars.
 */
export function yearRange(bars: readonly Bar[]): YearRange | null {
  const last = bars.at(-1)
  if (last === undefined) return null
  const cutoff = new Date(Date.parse(last.date) - YEAR_MS).toISOString().slice(0, 10)
  if ((bars[0] as Bar).date > cutoff) return null
  let high = last.high
  let low = last.low
  for (let i = bars.length - 1; i >= 0 && (bars[i] as Bar).date > cutoff; i--) {
    high = Math.max(high, (bars[i] as Bar).high)
    low = Math.min(low, (bars[i] as Bar).low)
  }
  return { high, low, positionPct: high === low ? 50 : ((last.close - low) / (high - low)) * 100 }
}

export type PivotPoints = { pivot: number; r1: number; r2: number; s1: number; s2: number }

/** Floor-trader pivots of one bar: P = (H+L+C)/3, R1 = 2P − L, S1 = 2P − H, R2 = P + (H − L), S2 = P − (H − L). */
export function pivotPoints(bar: Pick<Bar, 'high' | 'low' | 'close'>): PivotPoints {
  const pivot = (bar.high + bar.low + bar.close) / 3
  const range = bar.high - bar.low
  return { pivot, r1: 2 * pivot - bar.low, r2: pivot + range, s1: 2 * pivot - bar.high, s2: pivot - range }
}

/** A price at which the market turned, with how often it did. */
export type SwingLevel = { price: number; touches: number; lastIndex: number }

const WING = 3

/**
 * Swing levels (Williams' fractals with three bars on either side): lows that no neighbour is below and highs that none
 * is above; turning points within `tolerance` of each other are merged into one level at their mean. Low to high. A
 * turning point needs bars on its right, so the last three bars have none.
 */
export function swingLevels(highs: Numbers, lows: Numbers, tolerance: number): SwingLevel[] {
  const turns: { price: number; index: number }[] = []
  for (let i = WING; i < highs.length - WING; i++) {
    if (isPeak(highs, i, 1)) turns.push({ price: highs[i] as number, index: i })
    if (isPeak(lows, i, -1)) turns.push({ price: lows[i] as number, index: i })
  }
  return merge(
    turns.sort((a, b) => a.price - b.price),
    tolerance,
  )
}

/** Of equal neighbours only the first is the turn. */
function isPeak(values: Numbers, at: number, sign: 1 | -1): boolean {
  const peak = sign * (values[at] as number)
  for (let k = 1; k <= WING; k++) {
    if (sign * (values[at - k] as number) >= peak) return false
    if (sign * (values[at + k] as number) > peak) return false
  }
  return true
}

function merge(turns: { price: number; index: number }[], tolerance: number): SwingLevel[] {
  const levels: SwingLevel[] = []
  let start = Number.NEGATIVE_INFINITY
  for (const { price, index } of turns) {
    const level = levels.at(-1)
    if (level === undefined || price - start > tolerance) {
      levels.push({ price, touches: 1, lastIndex: index })
      start = price
      continue
    }
    level.price += (price - level.price) / (level.touches + 1)
    level.touches += 1
    level.lastIndex = Math.max(level.lastIndex, index)
  }
  return levels
}
