import { type Series, valueAt } from '../market/indicators/series.ts'

/** How the short averages stand to each other, from the strongest rise to the strongest fall. */
export type TrendState = 'strong_bull' | 'bull' | 'weak_bull' | 'consolidation' | 'weak_bear' | 'bear' | 'strong_bear'

export const TREND_STRENGTH: Record<TrendState, number> = {
  strong_bull: 90,
  bull: 75,
  weak_bull: 55,
  consolidation: 50,
  weak_bear: 40,
  bear: 25,
  strong_bear: 10,
}

export type Averages = { ma5: Series; ma10: Series; ma20: Series }

const WIDE_SPREAD_PCT = 5
const SPREAD_LOOKBACK = 5
// Averages of equal prices differ in their last digits; that is not an order.
const NOISE = 1e-9

/**
 * The trend at the last bar; null before the 20th. A spread is *widening* when it is wider than at the fifth bar from the
 * end; while that bar has no MA20 nothing can be said to widen.
 */
export function trendState(averages: Averages): TrendState | null {
  const now = averagesAt(averages, -1)
  if (now === null) return null
  const { ma5, ma10, ma20 } = now
  if (above(ma5, ma10)) {
    if (!above(ma10, ma20)) return 'weak_bull'
    return isOpening(averages, bullSpreadPct) ? 'strong_bull' : 'bull'
  }
  if (above(ma10, ma5)) {
    if (!above(ma20, ma10)) return 'weak_bear'
    return isOpening(averages, bearSpreadPct) ? 'strong_bear' : 'bear'
  }
  return 'consolidation'
}

type Point = { ma5: number; ma10: number; ma20: number }

const bullSpreadPct = ({ ma5, ma20 }: Point) => ((ma5 - ma20) / ma20) * 100
const bearSpreadPct = ({ ma5, ma20 }: Point) => ((ma20 - ma5) / ma5) * 100

function isOpening(averages: Averages, spreadPct: (point: Point) => number): boolean {
  const now = averagesAt(averages, -1)
  const before = averagesAt(averages, -SPREAD_LOOKBACK)
  if (now === null || before === null) return false
  return spreadPct(now) > WIDE_SPREAD_PCT && spreadPct(now) > spreadPct(before)
}

function averagesAt({ ma5, ma10, ma20 }: Averages, index: number): Point | null {
  const [short, middle, long] = [valueAt(ma5, index), valueAt(ma10, index), valueAt(ma20, index)]
  return short === null || middle === null || long === null ? null : { ma5: short, ma10: middle, ma20: long }
}

function above(a: number, b: number): boolean {
  return a - b > NOISE * Math.abs(b)
}
