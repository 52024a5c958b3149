import type { EvidenceTexts } from '../evidence.ts'

export const evidence: EvidenceTexts = {
  heading: 'Evidence',
  none: 'the method has not been replayed over bars of this market yet',
  group: { buy: 'advice to buy', hold: 'advice to wait', sell: 'advice to sell' },
  market: {
    all: 'all markets',
    cn: 'mainland China',
    hk: 'Hong Kong',
    us: 'the United States',
    jp: 'Japan',
    kr: 'Korea',
    tw: 'Taiwan',
  },
  regime: {
    all: 'in any phase',
    bull: 'above a rising 250-day average',
    bear: 'below a falling 250-day average',
    sideways: 'with the 250-day average undecided',
    unknown: 'without a 250-day average',
  },
  cases:
    '{count} earlier cases of {group} in {market}, {regime} (worth {effective} independent ones): {mean} % after {sessions} sessions and costs, against {random} % for a random entry',
  edge: 'an edge was shown: {excess} points better than a random day (95 %: {low} to {high})',
  noEdge: 'no edge shown: {excess} points better than a random day (95 %: {low} to {high})',
  tooFew: 'too few to show anything (fewer than {least} independent cases)',
  noClaim: 'waiting claims no edge',
  probability: 'it came out as advised with {probability} % (any day: {base} %; Brier skill {skill})',
  join: '; ',
}
