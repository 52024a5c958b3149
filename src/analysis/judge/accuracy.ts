// The results of past advice, measured with the bars after it. A small sample is marked: a rate without its interval
// and count means nothing.

import type { Bar } from '../../market/bars.ts'
import { marketPhaseSummary } from '../../market/calendar.ts'
import { parseCode } from '../../market/instruments.ts'
import type { Action } from '../schemas.ts'

export const HORIZONS = [5, 10, 20] as const
export type Horizon = (typeof HORIZONS)[number]

/** One advice with the bars of its listing. */
export type Advised = {
  action: Action
  /** The session on which the advice was given. */
  date: string
  bars: readonly Bar[]
}

export type HorizonResult = {
  horizon: Horizon
  /** How many advices are old enough to be measured. */
  count: number
  hits: number
  hit_rate: number | null
  /** The 95 % interval of the true rate (Wilson); null without a count. */
  hit_rate_low: number | null
  hit_rate_high: number | null
  average_return_pct: number | null
  median_return_pct: number | null
}

export type ActionResult = { action: Action; horizons: HorizonResult[] }

export type Accuracy = {
  /** The number of advices, and of those that are too young for the shortest horizon. */
  total: number
  pending: number
  by_action: ActionResult[]
  overall: HorizonResult[]
}

type ExpectedMove = 'rise' | 'fall' | 'calm'

const WANTED: Record<Action, ExpectedMove> = {
  buy: 'rise',
  add: 'rise',
  hold: 'calm',
  watch: 'calm',
  alert: 'calm',
  reduce: 'fall',
  sell: 'fall',
  avoid: 'fall',
}

/** Advice to wait was right when the price moved by less than this. */
export const CALM_PCT = 5

export function accuracyOf(advised: readonly Advised[]): Accuracy {
  const measured = advised.map((one) => ({ action: one.action, returns: returnsAfter(one) }))
  const actions = [...new Set(measured.map(({ action }) => action))].sort()
  const results = (some: typeof measured) => HORIZONS.map((horizon) => resultOf(some, horizon))
  return {
    total: measured.length,
    pending: measured.filter(({ returns }) => returns[HORIZONS[0]] === null).length,
    by_action: actions.map((action) => {
      return { action, horizons: results(measured.filter((one) => one.action === action)) }
    }),
    overall: results(measured),
  }
}

/**
 * The session from which advice is measured: the running one if there was one, because its price had already moved,
 * else the last completed one. Measured from an earlier close, the advice would be credited with a move that it had
 * seen.
 */
export function advisedSession(key: string, createdAt: string, lastOver: string | null): string | null {
  const parsed = parseCode(key)
  if (!parsed.ok) return lastOver
  const clock = marketPhaseSummary({ market: parsed.instrument.market, epochMs: Date.parse(createdAt) })
  return clock.is_partial_bar === true ? clock.session_date : lastOver
}

type Returns = Record<Horizon, number | null>

/**
 * Returns in percent from the close of the advice's session. The base is read from the same series as the later closes:
 * prices are adjusted backwards, so after a split the price in the report has another scale.
 */
export function returnsAfter({ date, bars }: Advised): Returns {
  const at = bars.findLastIndex((bar) => bar.date <= date)
  const base = bars[at]?.close
  const after = (horizon: Horizon): number | null => {
    const later = at < 0 ? undefined : bars[at + horizon]?.close
    return base === undefined || later === undefined || base <= 0 ? null : (later / base - 1) * 100
  }
  return { 5: after(5), 10: after(10), 20: after(20) }
}

type Measured = { action: Action; returns: Returns }

function resultOf(measured: readonly Measured[], horizon: Horizon): HorizonResult {
  const told = measured.flatMap(({ action, returns }) => {
    const value = returns[horizon]
    return value === null ? [] : [{ action, value }]
  })
  const count = told.length
  const hits = told.filter(({ action, value }) => isHit(action, value)).length
  const values = told.map(({ value }) => value)
  const interval = wilson(hits, count)
  return {
    horizon,
    count,
    hits,
    hit_rate: count === 0 ? null : round(hits / count),
    hit_rate_low: interval && round(interval.low),
    hit_rate_high: interval && round(interval.high),
    average_return_pct: count === 0 ? null : round(values.reduce((sum, value) => sum + value, 0) / count),
    median_return_pct: count === 0 ? null : round(median(values)),
  }
}

/** Whether the price moved in the direction of the action. */
export function isHit(action: Action, returnPct: number): boolean {
  const wanted = WANTED[action]
  if (wanted === 'calm') return Math.abs(returnPct) < CALM_PCT
  return wanted === 'rise' ? returnPct > 0 : returnPct < 0
}

const Z = 1.96

/** Wilson's interval of a proportion. */
export function wilson(hits: number, count: number): { low: number; high: number } | null {
  if (count === 0) return null
  const share = hits / count
  const denominator = 1 + Z ** 2 / count
  const middle = (share + Z ** 2 / (2 * count)) / denominator
  const reach = (Z * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2))) / denominator
  return { low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2
}

/** Four decimals; adding zero avoids -0 in JSON. */
const round = (value: number): number => Math.round(value * 1e4) / 1e4 + 0
