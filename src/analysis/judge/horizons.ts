// How long a verdict is valid. There are three directions, each from averages of its own length: the short averages for
// days to weeks, MA60 for weeks to months, MA250 for months to years. A short rise inside a long fall is described as
// such, and is not bought.

import type { Bar } from '../../market/bars.ts'
import { sma } from '../../market/indicators/averages.ts'
import { type Series, valueAt } from '../../market/indicators/series.ts'
import type { Direction, TrendState } from '../codes.ts'

export type Horizons = { short: Direction; medium: Direction; long: Direction }

/** The minimum distance of two averages, in ATRs, to be in an order: below it they are level. */
const TIE_ATR = 0.1
// Without movement, averages of equal prices still differ in their last digits; that is not an order.
const NOISE = 1e-9

/** Whether one is above the other by more than the noise of the market. */
export function isAbove(a: number, b: number, atr: number | null): boolean {
  return a - b > Math.max(NOISE * Math.abs(b), TIE_ATR * (atr ?? 0))
}

type Lines = { closes: Series; series: { ma60: Series; ma250: Series; atr: Series } }

/** The number of sessions over which the slope of an average is measured. */
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

type TrendSeries = { closes: Series; index: number; atr: number | null }

/** Up above a rising average, down below a falling one, else sideways. */
function directionOf(average: Series, { closes, index, atr }: TrendSeries): Direction {
  const before = index < SLOPE_SESSIONS ? null : valueAt(average, index - SLOPE_SESSIONS)
  const [price, now] = [valueAt(closes, index), valueAt(average, index)]
  if (price === null || now === null || before === null) return 'unknown'
  if (price > now && isAbove(now, before, atr)) return 'up'
  return price < now && isAbove(before, now, atr) ? 'down' : 'sideways'
}

/** Compared with the longer horizons: `against`: one of them opposes and none agrees. `mixed`: one opposes, one agrees. */
export function standing({ medium, long }: Horizons, side: 'buy' | 'sell'): 'along' | 'mixed' | 'against' {
  const [along, other] = side === 'buy' ? (['up', 'down'] as const) : (['down', 'up'] as const)
  if (medium !== other && long !== other) return 'along'
  return medium === along || long === along ? 'mixed' : 'against'
}

// The trend of whole weeks and months: the last close compared with the average of ten closes, and the slope of that
// average.

export type PeriodTrends = { weekly: Direction; monthly: Direction }

const AVERAGED = 10

export function periodTrends(bars: readonly Bar[], atr: number | null): PeriodTrends {
  return {
    weekly: periodDirection(closesBy(bars, weekOf), atr),
    monthly: periodDirection(closesBy(bars, monthOf), atr),
  }
}

const DAY_MS = 86_400_000
// 1 January 1970 was a Thursday; weeks begin on Monday.
const weekOf = ({ date }: Bar): number => Math.floor((Date.parse(date) / DAY_MS + 3) / 7)
const monthOf = ({ date }: Bar): string => date.slice(0, 7)

/** The last close of each period; the newest one for a period that is still running. */
function closesBy(bars: readonly Bar[], periodOf: (bar: Bar) => number | string): number[] {
  return [...new Map(bars.map((bar) => [periodOf(bar), bar.close])).values()]
}

/** Up above a rising average, down below a falling one, else sideways; unknown before there are two averages. */
function periodDirection(closes: readonly number[], atr: number | null): Direction {
  if (closes.length <= AVERAGED) return 'unknown'
  const averages = sma(closes, AVERAGED)
  const [close, now, before] = [closes.at(-1) ?? 0, averages.at(-1) ?? 0, averages.at(-2) ?? 0]
  if (close > now && isAbove(now, before, atr)) return 'up'
  return close < now && isAbove(before, now, atr) ? 'down' : 'sideways'
}
