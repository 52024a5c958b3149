// The shape of the texts about what the method was worth in the past; `texts.ts` has the rest of the book's.

import type { Market } from '../../market/instruments.ts'
import type { DecisionType } from '../codes.ts'

export type EvidenceTexts = {
  heading: string
  /** Nothing was computed for this market. */
  none: string
  group: Record<DecisionType, string>
  market: Record<Market | 'all', string>
  regime: Record<'all' | 'bull' | 'bear' | 'sideways' | 'unknown', string>
  /** `{group}`, `{market}`, `{regime}`, `{count}`, `{effective}`, `{sessions}`, `{mean}`, `{random}`. */
  cases: string
  /** `{excess}`, `{low}`, `{high}`. */
  edge: string
  noEdge: string
  /** `{least}`. */
  tooFew: string
  noClaim: string
  /** `{probability}`, `{base}`, `{skill}`. */
  probability: string
  /** Between sentences. */
  join: string
}
