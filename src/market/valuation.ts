// The valuation of a company. A quote's own ratios belong to its price; if it has none, the stored ratios of the company are
// used, all of one day: figures of two days are never combined.

import type { Quote } from './bars.ts'
import type { Fundamentals } from './company.ts'

export type CompanyValue = {
  peRatio: number | null
  pbRatio: number | null
  totalMarketValue: number | null
  circulatingMarketValue: number | null
  /** The money of the market values. */
  currency: string | null
  /** The day of the figures when they are not the quote's. */
  asOf: string | null
}

/** Older figures say nothing about today's price. */
const MOST_DAYS = 31
const DAY_MS = 86_400_000

/** Null when no source has any; `asOf` is the day of the report's price. */
export function companyValue(
  quote: Quote | null,
  fundamentals: Fundamentals | null,
  asOf: string | null,
): CompanyValue | null {
  if (quote !== null && [quote.peRatio, quote.pbRatio, quote.totalMarketValue].some((figure) => figure !== null)) {
    const { peRatio, pbRatio, totalMarketValue, circulatingMarketValue, currency } = quote
    return { peRatio, pbRatio, totalMarketValue, circulatingMarketValue, currency, asOf: null }
  }
  const told = fundamentals?.valuation ?? null
  if (told === null || (asOf !== null && isOld(told.asOf, asOf))) return null
  const { peRatio, pbRatio, marketValue, currency } = told
  if (peRatio === null && pbRatio === null && marketValue === null) return null
  return { peRatio, pbRatio, totalMarketValue: marketValue, circulatingMarketValue: null, currency, asOf: told.asOf }
}

const isOld = (told: string, asOf: string): boolean => Date.parse(asOf) - Date.parse(told) > MOST_DAYS * DAY_MS
