// What followed many advices, in numbers that are told only from a size on that says something.

import type { Action } from '../schemas.ts'
import type { Followed } from './followed.ts'

/** Fewer of them make no rate and no mean. */
export const LEAST_SAMPLE = 20
/** A move that is smaller went nowhere. */
const BAND_PCT = 2

export type SignalOutcome = 'hit' | 'miss' | 'neutral'
export type ExpectedOfSignal = 'up' | 'not_down' | 'not_up'

const OF_SIGNALS: Record<Action, ExpectedOfSignal | null> = {
  ...{ buy: 'up', add: 'up', hold: 'not_down', reduce: 'not_up', sell: 'not_up', avoid: 'not_up' },
  // Advice to wait claims nothing.
  ...{ watch: null, alert: null },
}

export const expectedOfSignal = (action: Action): ExpectedOfSignal | null => OF_SIGNALS[action]

/** Null of an advice that claims nothing. */
export function signalOutcome(action: Action, returnPct: number): SignalOutcome | null {
  const expected = OF_SIGNALS[action]
  if (expected === null) return null
  const gain = expected === 'not_up' ? -returnPct : returnPct
  if (gain <= -BAND_PCT) return 'miss'
  return gain >= (expected === 'up' ? BAND_PCT : 0) ? 'hit' : 'neutral'
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
  const least = expected === 'not_down' ? 0 : BAND_PCT
  const outcome = gain >= least ? 'win' : gain <= -BAND_PCT ? 'loss' : 'neutral'
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

/** What stands beside every rate: what was earned after costs, and what the index and holding the listings earned in as many sessions. */
export function besideOf(followed: readonly Followed[]) {
  const trades = followed.flatMap(({ trade }) => (trade === null ? [] : [trade]))
  const index = followed.flatMap(({ indexPct }) => (indexPct === null ? [] : [indexPct]))
  const held = followed.flatMap(({ heldPct }) => (heldPct === null ? [] : [heldPct]))
  return {
    least_sample: LEAST_SAMPLE,
    sample: followed.length,
    purchases: trades.length,
    purchases_net_return_pct: meanOf(trades.map(({ netPct }) => netPct)),
    cost_pct: meanOf(trades.map(({ costPct }) => costPct)),
    index_sample: index.length,
    index_return_pct: meanOf(index),
    buy_and_hold_sample: held.length,
    buy_and_hold_pct: meanOf(held),
  }
}
