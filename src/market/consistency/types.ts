// What the gate between sources and judgement says of the figures. Findings travel with a report: everything that quotes a
// figure can look up whether a check touches it.

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

/** How prices of the past were adjusted for splits and dividends, and by whom. */
export type Adjustment = { kind: AdjustmentKind; source: string | null }
export type AdjustmentKind = 'forward' | 'none' | 'synthetic' | 'not_needed' | 'unknown'

export type Verdict = 'pass' | 'warn' | 'fail' | 'not_possible'

/** The groups of figures that a report quotes. */
export const TOUCHES = ['price', 'change', 'averages', 'range', 'levels', 'volume', 'valuation'] as const
export type Touch = (typeof TOUCHES)[number]

/** What exactly was found; each has its sentence in every language. */
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
  /** Which quoted figures it touches; empty for a pass. What is not possible names the figures that are quoted unchecked, if any. */
  touches: Touch[]
  detail: DetailCode | null
  /** Of the bar or quote that it speaks of. */
  date: string | null
  expected: number | string | null
  found: number | string | null
  /** How many bars or sessions it speaks of. */
  count: number | null
}

/** All that the checks look at. */
export type Evidence = {
  instrument: Instrument
  bars: readonly Bar[]
  quote: Quote | null
  barsSource: string | null
  quoteSource: string | null
  /** What another source says of the price; null where none could be asked, absent where there was no reason to ask. */
  second?: { source: string; quote: Quote } | null
  adjustment: Adjustment
  /** Figures of a bundled sample are compared with each other, never with the clock. */
  isSample: boolean
  /** Epoch ms. */
  now: number
  /** Null while nobody tells them. */
  dividends: readonly Dividend[] | null
}

/** What one check leaves behind: what it found, and bars and quote where it repaired them. */
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

/** What a bar at that place touches: the newest two make the price and its change. */
export const touchesAt = (index: number, count: number): Touch[] => (index >= count - 2 ? PRICES : HISTORY)

/** The findings that a reader must see, the worst first. */
export function alarms({ findings }: { findings: readonly Finding[] }): Finding[] {
  const of = (verdict: Finding['verdict']) => findings.filter((one) => one.verdict === verdict)
  return [...of('fail'), ...of('warn')]
}
