// The shape of the texts about consistency; `texts.ts` has the rest of the book's.

import type { AdjustmentKind } from '../../market/consistency/adjustment.ts'
import type { CheckKey, DetailCode } from '../../market/consistency/types.ts'

export type ConsistencyTexts = {
  check: Record<CheckKey, string>
  /** What was found; `{date}`, `{expected}`, `{found}`, `{count}`, `{ratio}`, `{change}`. */
  detail: Record<DetailCode, string>
  /** Stands for the date of a finding about the quote. */
  unknownDate: string
  /** `{checks}` are names with their figures. */
  failed: string
  failedVolume: string
  /** Of prices that stand alone. */
  failedPrices: string
  warned: string
  /** Beside a figure; `{checks}` are names. */
  mark: string
  noScore: string
  noAdvice: string
  withheldSentence: string
  quality: string
  notPossible: string
  /** `{source}` made the prices. */
  adjustment: Record<AdjustmentKind, string>
  /** What stands before the adjustment. */
  basis: string
  adjustedYear: Record<'year_low' | 'year_high', string>
  adjustedRange: string
  adjustedRangeText: string
  nearAdjustedHigh: string
  nearAdjustedLow: string
}
