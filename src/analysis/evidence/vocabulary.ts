// The terms of the evidence table. This file imports nothing else of ours, so that reading the table does not load the
// code that computes it.

import { z } from 'zod'

/** The holding period in sessions; a plan holds at most 20. */
export const MEASURES = ['sessions_5', 'sessions_20', 'plan'] as const
export type Measure = (typeof MEASURES)[number]

export const HORIZON: Record<Measure, number> = { sessions_5: 5, sessions_20: 20, plan: 20 }

export const STANCES = ['buy', 'hold', 'sell'] as const

export const REGIMES = ['bull', 'bear', 'sideways', 'unknown'] as const
export type Regime = (typeof REGIMES)[number]

/** Must be raised with each change of how advice is made or measured. */
export const METHOD_VERSION = '3'

/** Rows with fewer independent observations show nothing. */
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

// A row of the evidence as it is stored and sent.

const percent = (about: string) => z.number().nullable().describe(about)

export const EvidenceRow = z.object({
  measure: z.enum(MEASURES).describe('Held for 5 or 20 sessions from the next open, or as the plan says'),
  group: z.enum(GROUPS).describe('What was advised, or the band of the score'),
  market: z.enum(['all', 'cn', 'hk', 'us', 'jp', 'kr', 'tw']),
  regime: z.enum(['all', ...REGIMES]).describe("By the listing's own 250-day average"),
  count: z.int().describe('Observations; they overlap'),
  effective_size: z.number().describe('As many independent observations would say as much'),
  mean_return_pct: z.number().describe('After costs'),
  return_low_pct: percent('Lower end of the 95 % interval (Newey and West)'),
  return_high_pct: percent('Upper end of it'),
  random_entry_pct: z.number().describe('What a random entry of the same exposure earned, after costs'),
  buy_and_hold_pct: z.number().describe('What holding all the time earned in as many sessions'),
  excess_pct: percent('Better than a random entry by; of a sale, what was avoided. Null where nothing is claimed'),
  excess_low_pct: percent('Lower end of the 95 % interval'),
  excess_high_pct: percent('Upper end of it'),
  chance: percent('How likely so much is by chance alone'),
  adjusted_chance: percent('The same, allowing for all rows that were looked at (Holm)'),
  random_sets_beaten: percent('The share of 200 drawn sets of random entries that earned less'),
  hit_rate: z.number().describe('How often it came out as advised, before costs'),
  base_rate: percent('How often any day came out so'),
  confidence_probability: percent('The hit rate drawn towards the base rate; null below 30 independent observations'),
  brier_skill: percent('Above 0: such probabilities, made as time went on, were better than the base rate'),
  verdict: z.enum(VERDICTS).describe('An edge, none shown, too few cases to tell, or a group that claims none'),
})
export type EvidenceRow = z.infer<typeof EvidenceRow>
