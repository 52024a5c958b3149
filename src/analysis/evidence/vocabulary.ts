// The words of the evidence: what its table is made of. It loads nothing, so that whoever reads the table need not load what makes it.

import type { Market } from '../../market/instruments.ts'

/** How long something is held, in sessions; a plan at most 20. */
export const MEASURES = ['sessions_5', 'sessions_20', 'plan'] as const
export type Measure = (typeof MEASURES)[number]

export const HORIZON: Record<Measure, number> = { sessions_5: 5, sessions_20: 20, plan: 20 }

export const STANCES = ['buy', 'hold', 'sell'] as const
export type Stance = (typeof STANCES)[number]

export const REGIMES = ['bull', 'bear', 'sideways', 'unknown'] as const
export type Regime = (typeof REGIMES)[number]

/** With each change of how advice is made or measured. */
export const METHOD_VERSION = '2'

/** Fewer independent observations than this show nothing. */
export const LEAST_SIZE = 30

export const GROUPS = [
  'buy',
  'hold',
  'sell',
  'score_0_19',
  'score_20_39',
  'score_40_59',
  'score_60_79',
  'score_80_100',
] as const
export type Group = (typeof GROUPS)[number]

export const VERDICTS = ['edge', 'no_edge_shown', 'too_few', 'no_claim'] as const
export type Verdict = (typeof VERDICTS)[number]

export type EvidenceRow = {
  measure: Measure
  group: Group
  market: Market | 'all'
  regime: Regime | 'all'
  /** Observations; they overlap, so as many independent ones as `effective_size` say as much. */
  count: number
  effective_size: number
  /** Percent, after costs. */
  mean_return_pct: number
  return_low_pct: number | null
  return_high_pct: number | null
  random_entry_pct: number
  buy_and_hold_pct: number
  /** By how much the advice was better than a random entry: of a sale, what was avoided. Null where nothing is claimed. */
  excess_pct: number | null
  excess_low_pct: number | null
  excess_high_pct: number | null
  chance: number | null
  /** The same, allowing for all rows that were looked at (Holm). */
  adjusted_chance: number | null
  /** The share of the drawn sets of random entries that earned less than the plan. */
  random_sets_beaten: number | null
  hit_rate: number
  /** How often any day came out so; null of a plan, which ends when it ends. */
  base_rate: number | null
  confidence_probability: number | null
  brier_skill: number | null
  verdict: Verdict
}
