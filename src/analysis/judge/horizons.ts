// For how long a verdict holds. Three directions, each of averages that answer for a time of its own: the short averages for days to
// weeks, MA60 for weeks to months, MA250 for months to years. A short rise inside a long fall is told as that, and is not bought.

import { type Series, valueAt } from '../../market/indicators/series.ts'
import type { Direction, TrendState } from '../codes.ts'

export type Horizons = { short: Direction; medium: Direction; long: Direction }

/** How far apart two averages are at least, in ATRs, to be in an order: below it they are level. */
export const TIE_ATR = 0.1
// Where nothing moves, averages of equal prices still differ in their last digits; that is no order.
const NOISE = 1e-9

/** Whether one is above the other by more than the market's own noise. */
export function isAbove(a: number, b: number, atr: number | null): boolean {
  return a - b > Math.max(NOISE * Math.abs(b), TIE_ATR * (atr ?? 0))
}

type Lines = { closes: Series; series: { ma60: Series; ma250: Series; atr: Series } }

/** Over so many sessions an average rises or falls. */
const SLOPE_SESSIONS = 20

export function horizonsAt({ closes, series }: Lines, index: number, trend: TrendState): Horizons {
  const about = { closes, index, atr: valueAt(series.atr, index) }
  return { short: SHORT[trend], medium: directionOf(series.ma60, about), long: directionOf(series.ma250, about) }
}

const SHORT: Record<TrendState, Direction> = {
  strong_bull: 'up',
  bull: 'up',
  weak_bull: 'up',
  consolidation: 'sideways',
  weak_bear: 'down',
  bear: 'down',
  strong_bear: 'down',
}

type About = { closes: Series; index: number; atr: number | null }

/** Up above an average that rises, down below one that falls, else sideways. */
function directionOf(average: Series, { closes, index, atr }: About): Direction {
  const before = index < SLOPE_SESSIONS ? null : valueAt(average, index - SLOPE_SESSIONS)
  const [price, now] = [valueAt(closes, index), valueAt(average, index)]
  if (price === null || now === null || before === null) return 'unknown'
  if (price > now && isAbove(now, before, atr)) return 'up'
  return price < now && isAbove(before, now, atr) ? 'down' : 'sideways'
}

/** Against the longer horizons: one of them goes the other way, and none goes along. `mixed`: one goes the other way, one along. */
export function standing({ medium, long }: Horizons, side: 'buy' | 'sell'): 'along' | 'mixed' | 'against' {
  const [along, other] = side === 'buy' ? (['up', 'down'] as const) : (['down', 'up'] as const)
  if (medium !== other && long !== other) return 'along'
  return medium === along || long === along ? 'mixed' : 'against'
}
