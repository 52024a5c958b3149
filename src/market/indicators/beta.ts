// A listing against an index: how much it moves with it, and how much more or less it gained. Both are of sessions that both have.

import type { Bar } from '../bars.ts'

/** Closes of the same days, the oldest first. */
export type Paired = { dates: string[]; own: number[]; index: number[] }

/** The days of both series. Each is in order, without a day twice. */
export function paired(own: readonly Bar[], index: readonly Bar[]): Paired {
  const closes = new Map(index.map(({ date, close }) => [date, close]))
  const out: Paired = { dates: [], own: [], index: [] }
  for (const { date, close } of own) {
    const beside = closes.get(date)
    if (beside === undefined || !(close > 0) || !(beside > 0)) continue
    out.dates.push(date)
    out.own.push(close)
    out.index.push(beside)
  }
  return out
}

export type Beta = {
  beta: number
  /** The share of the listing's variance that goes with the index, 0 to 1. */
  rSquared: number
  /** How many returns it is of. */
  returns: number
}

const MOST_RETURNS = 250
/** A slope of fewer returns is mostly chance. */
const LEAST_RETURNS = 60

/**
 * Beta: covariance of the daily returns of listing and index / variance of those of the index, of the last 250 returns, 60 at least.
 * Null also while the index does not move.
 */
export function betaOf({ own, index }: Paired): Beta | null {
  const [x, y] = [returnsOf(index), returnsOf(own)]
  const returns = x.length
  if (returns < LEAST_RETURNS) return null
  const [meanX, meanY] = [mean(x), mean(y)]
  let [xx, xy, yy] = [0, 0, 0]
  for (let i = 0; i < returns; i++) {
    const [dx, dy] = [(x[i] as number) - meanX, (y[i] as number) - meanY]
    xx += dx * dx
    xy += dx * dy
    yy += dy * dy
  }
  if (xx <= 0) return null
  return { beta: xy / xx, rSquared: yy <= 0 ? 0 : (xy * xy) / (xx * yy), returns }
}

/** Relative strength over n sessions: (close / close of n sessions before) / (the same of the index) − 1, in percent. */
export function relativeStrengthPct({ own, index }: Paired, sessions: number): number | null {
  const gain = (closes: readonly number[]) => {
    const [before, last] = [closes.at(-1 - sessions), closes.at(-1)]
    return before === undefined || last === undefined ? null : last / before
  }
  const [gained, beside] = [gain(own), gain(index)]
  return gained === null || beside === null ? null : (gained / beside - 1) * 100
}

function returnsOf(closes: readonly number[]): number[] {
  const recent = closes.slice(-1 - MOST_RETURNS)
  return recent.slice(1).map((close, i) => close / (recent[i] as number) - 1)
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
