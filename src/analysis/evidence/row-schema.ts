// A row of the evidence as it is stored and sent.

import { z } from 'zod'
import { GROUPS, type EvidenceRow as Made, MEASURES, REGIMES, VERDICTS } from './vocabulary.ts'

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
}) satisfies z.ZodType<Made>
