// Statistics of past advice; they are shown only when there are enough cases.

import type { Action } from '../schemas.ts'
import { BAND_PCT, type Followed } from './followed.ts'

/** Fewer cases give no rate and no mean. */
export const LEAST_SAMPLE = 20
export type SignalOutcome = 'hit' | 'miss' | 'neutral'
export type ExpectedOfSignal = 'up' | 'not_down' | 'not_up'

const OF_SIGNALS: Record<Action, ExpectedOfSignal | null> = {
  ...{ buy: 'up', add: 'up', hold: 'not_down', reduce: 'not_up', sell: 'not_up', avoid: 'not_up' },
  // Advice to wait claims nothing.
  ...{ watch: null, alert: null },
}

export const expectedOfSignal = (action: Action): ExpectedOfSignal | null => OF_SIGNALS[action]

/**
 * Null for advice that claims nothing. The thresholds for right and wrong are equally far from zero, so that random
 * advice is right as often as it is wrong.
 */
export function signalOutcome(action: Action, returnPct: number): SignalOutcome | null {
  const expected = OF_SIGNALS[action]
  if (expected === null) return null
  const gain = expected === 'not_up' ? -returnPct : returnPct
  if (Math.abs(gain) < BAND_PCT) return 'neutral'
  return gain > 0 ? 'hit' : 'miss'
}

type BacktestVerdict = {
  expected: 'up' | 'down' | 'not_down' | 'flat'
  outcome: 'win' | 'loss' | 'neutral'
  isCorrect: boolean | null
}

const DIRECTIONS: Record<Action, BacktestVerdict['expected']> = {
  ...{
    buy: 'up',
    add: 'up',
    hold: 'not_down',
    reduce: 'down',
    sell: 'down',
    avoid: 'down',
    watch: 'flat',
    alert: 'flat',
  },
}

export const directionOf = (action: Action): BacktestVerdict['expected'] => DIRECTIONS[action]

export function backtestVerdict(action: Action, returnPct: number): BacktestVerdict {
  const expected = DIRECTIONS[action]
  if (expected === 'flat') return { expected, outcome: 'neutral', isCorrect: null }
  const gain = expected === 'down' ? -returnPct : returnPct
  const outcome = Math.abs(gain) < BAND_PCT ? 'neutral' : gain > 0 ? 'win' : 'loss'
  return { expected, outcome, isCorrect: expected === 'not_down' ? gain >= 0 : gain > 0 }
}

/** In percent; null below the least sample. */
export const shareOf = (part: number, whole: number): number | null =>
  whole < LEAST_SAMPLE ? null : rounded((part / whole) * 100)

/** Null below the least sample. */
export function meanOf(values: readonly number[]): number | null {
  if (values.length < LEAST_SAMPLE) return null
  return rounded(values.reduce((sum, value) => sum + value, 0) / values.length)
}

/** Two decimals; the zero added keeps a minus zero out of JSON. */
export const rounded = (value: number): number => Math.round(value * 100) / 100 + 0

export type FollowedAction = { action: Action; followed: Followed }

/**
 * Values to compare with every rate: how often the same advice would have been right on any day of the same listings,
 * the return after costs, and the returns of the index and of holding the listings for as many sessions.
 */
export function besideOf(advices: readonly FollowedAction[]) {
  const followed = advices.map((advice) => advice.followed)
  const trades = followed.flatMap(({ trade }) => (trade === null ? [] : [trade]))
  const index = followed.flatMap(({ indexPct }) => (indexPct === null ? [] : [indexPct]))
  const held = followed.flatMap(({ heldPct }) => (heldPct === null ? [] : [heldPct]))
  return {
    least_sample: LEAST_SAMPLE,
    sample: followed.length,
    base_rate_pct: baseRate(advices),
    purchases: trades.length,
    purchases_net_return_pct: meanOf(trades.map(({ netPct }) => netPct)),
    cost_pct: meanOf(trades.map(({ costPct }) => costPct)),
    index_sample: index.length,
    index_return_pct: meanOf(index),
    buy_and_hold_sample: held.length,
    buy_and_hold_pct: meanOf(held),
  }
}

/** Null below the minimum number of cases that claim a direction. */
function baseRate(advices: readonly FollowedAction[]): number | null {
  const claims = advices.flatMap(({ action, followed: { anyDay } }) => {
    const expected = OF_SIGNALS[action]
    if (expected === null) return []
    return [
      expected === 'not_up' ? { right: anyDay.fell, wrong: anyDay.rose } : { right: anyDay.rose, wrong: anyDay.fell },
    ]
  })
  const right = claims.reduce((sum, claim) => sum + claim.right, 0)
  const all = claims.reduce((sum, claim) => sum + claim.right + claim.wrong, 0)
  return claims.length < LEAST_SAMPLE || all === 0 ? null : rounded((right / all) * 100)
}
