// A row of evidence that shows no edge.

import type { EvidenceRow } from '../../../src/analysis/evidence/vocabulary.ts'

export const ROW: EvidenceRow = {
  measure: 'sessions_20',
  group: 'buy',
  market: 'cn',
  regime: 'all',
  count: 1234,
  effective_size: 210.4,
  mean_return_pct: 1.2,
  return_low_pct: -0.4,
  return_high_pct: 2.8,
  random_entry_pct: 0.9,
  buy_and_hold_pct: 1,
  excess_pct: 0.3,
  excess_low_pct: -1.1,
  excess_high_pct: 1.7,
  chance: 0.3,
  adjusted_chance: 1,
  random_sets_beaten: null,
  hit_rate: 0.55,
  base_rate: 0.52,
  confidence_probability: 0.546,
  brier_skill: -0.0012,
  verdict: 'no_edge_shown',
}
