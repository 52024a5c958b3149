// The result of the gate between sources and judgement. Findings are stored with a report, so all code that quotes a
// figure can find out whether a check concerns it.

import type { Bar, Quote } from '../bars.ts'
import type { Dividend } from '../company.ts'
import type { Instrument } from '../instruments.ts'

export const CHECKS = [
  'duplicate_dates',
  'future_dates',
  'non_sessions',
  'magnitude',
  'price_order',
  'bad_tick',
  'price_limit',
  'corporate_action',
  'missing_sessions',
  'stale_bars',
  'stale_quote',
  'dividends',
  'volume_units',
  'currency',
  'quote_order',
  'quote_change',
  'quote_limit',
  'previous_close',
  'same_day_close',
  'second_source',
] as const
export type CheckKey = (typeof CHECKS)[number]

/** How past prices were adjusted for splits and dividends, and by whom. */
export type Adjustment = { kind: AdjustmentKind; source: string | null }
export type AdjustmentKind = 'forward' | 'none' | 'synthetic' | 'not_needed' | 'unknown'

export type Verdict = 'pass' | 'warn' | 'fail' | 'not_possible'

/** The groups of figures that a report quotes. */
export const TOUCHES = ['price', 'change', 'averages', 'range', 'levels', 'volume', 'valuation'] as const
export type Touch = (typeof TOUCHES)[number]

/** The exact finding; each has a sentence in every language. */
export type DetailCode =
  | 'dropped'
  | 'differs'
  | 'too_many'
  | 'unordered'
  | 'impossible'
  | 'impossible_volume'
  | 'impossible_value'
  | 'traded_value'
  | 'impossible_ratio'
  | 'out_of_order'
  | 'clipped'
  | 'spike'
  | 'beyond_limit'
  | 'jump'
  | 'large_move'
  | 'gap'
  | 'long_gap'
  | 'ended'
  | 'suspended'
  | 'idle'
  | 'not_used'
  | 'unadjusted'
  | 'lots'
  | 'amount'
  | 'volume_jump'
  | 'volume_lost'
  | 'no_trades'
  | 'other_money'
  | 'recomputed'
  | 'no_quote'
  | 'no_bars'
  | 'no_calendar'
  | 'no_limit'
  | 'no_volume'
  | 'not_told'
  | 'in_session'
  | 'same_source'
  | 'no_second'
  | 'second_bars'
  | 'second_quote'
  | 'second_neither'
  | 'confirmed_move'
  | 'wider_limit'
  | 'sample'

export type Finding = {
  check: CheckKey
  verdict: Verdict
  /**
   * The quoted figures that it concerns; empty for a pass. If the check was not possible, the figures that are quoted
   * unchecked, if any.
   */
  touches: Touch[]
  detail: DetailCode | null
  /** The date of the bar or quote that it concerns. */
  date: string | null
  expected: number | string | null
  found: number | string | null
  /** The number of bars or sessions that it concerns. */
  count: number | null
}

/** The input of the checks. */
export type Evidence = {
  instrument: Instrument
  bars: readonly Bar[]
  quote: Quote | null
  barsSource: string | null
  quoteSource: string | null
  /** The other source's quote; null when no source answered, absent when there was no reason to ask. */
  second?: { source: string; quote: Quote } | null
  adjustment: Adjustment
  /** Figures of a bundled sample are compared with each other, never with the clock. */
  isSample: boolean
  /** Epoch ms. */
  now: number
  /** Null when no source has them. */
  dividends: readonly Dividend[] | null
}

/** The result of one check: its findings, and bars and quote if it repaired them. */
export type Checked = { findings: Finding[]; bars?: readonly Bar[]; quote?: Quote | null }
export type Check = (evidence: Evidence) => Checked

export const PRICES: Touch[] = ['price', 'change', 'averages', 'range', 'levels', 'valuation']
export const HISTORY: Touch[] = ['averages', 'range', 'levels']
export const VOLUME: Touch[] = ['volume']

type FindingDetails = Partial<Omit<Finding, 'check' | 'verdict'>>

export function finding(check: CheckKey, verdict: Verdict, details: FindingDetails = {}): Finding {
  return { check, verdict, touches: [], detail: null, date: null, expected: null, found: null, count: null, ...details }
}

export const pass = (check: CheckKey): Checked => ({ findings: [finding(check, 'pass')] })
export const notPossible = (check: CheckKey, detail: DetailCode, touches: Touch[] = []): Checked => ({
  findings: [finding(check, 'not_possible', { detail, touches })],
})

/** The figures that a bar at this index concerns: the newest two determine the price and its change. */
export const touchesAt = (index: number, count: number): Touch[] => (index >= count - 2 ? PRICES : HISTORY)

/** The findings that a reader must see, the worst first. */
export function alarms({ findings }: { findings: readonly Finding[] }): Finding[] {
  const of = (verdict: Finding['verdict']) => findings.filter((one) => one.verdict === verdict)
  return [...of('fail'), ...of('warn')]
}
