// The trend of whole weeks and months: where the last close stands to the average of ten of them, and where that average goes.

import type { Bar } from '../../market/bars.ts'
import { sma } from '../../market/indicators/averages.ts'
import type { Direction } from '../codes.ts'
import { isAbove } from './horizons.ts'

export type PeriodTrends = { weekly: Direction; monthly: Direction }

const AVERAGED = 10

export function periodTrends(bars: readonly Bar[], atr: number | null): PeriodTrends {
  return { weekly: directionOf(closesBy(bars, weekOf), atr), monthly: directionOf(closesBy(bars, monthOf), atr) }
}

const DAY_MS = 86_400_000
// 1 January 1970 was a Thursday; weeks begin on Monday.
const weekOf = ({ date }: Bar): number => Math.floor((Date.parse(date) / DAY_MS + 3) / 7)
const monthOf = ({ date }: Bar): string => date.slice(0, 7)

/** The last close of each period; of one that still runs, the newest. */
function closesBy(bars: readonly Bar[], periodOf: (bar: Bar) => number | string): number[] {
  return [...new Map(bars.map((bar) => [periodOf(bar), bar.close])).values()]
}

/** Up above an average that rises, down below one that falls, else sideways; unknown before there are two averages. */
function directionOf(closes: readonly number[], atr: number | null): Direction {
  if (closes.length <= AVERAGED) return 'unknown'
  const averages = sma(closes, AVERAGED)
  const [close, now, before] = [closes.at(-1) ?? 0, averages.at(-1) ?? 0, averages.at(-2) ?? 0]
  if (close > now && isAbove(now, before, atr)) return 'up'
  return close < now && isAbove(before, now, atr) ? 'down' : 'sideways'
}
