// The shape of the texts about horizons, plans and what a listing did; `texts.ts` has the rest of the book's.

import type { Direction } from '../codes.ts'

export type HorizonKey = 'short' | 'medium' | 'long' | 'weekly' | 'monthly'

export type OutlookTexts = {
  heading: { horizons: string; plan: string; returns: string; risk: string; turnover: string }
  horizon: Record<HorizonKey, string>
  direction: Record<Direction, string>
  /** A verdict of the short averages: for how long it holds. */
  holds: string
  /** `{entry}`, `{ratio}`, `{reward}`, `{risk}`, `{cost}`, `{most}`. */
  plan: string
  /** `{budget}`, `{size}`. */
  size: string
  /** `{least}`. */
  noPlan: string
  noPlanOfSale: string
  /** Between parts, and between a name and what it is. */
  join: string
  colon: string
}
