// Data about a company besides its prices. Amounts are in their own currency, which may differ from the listing's;
// percentages are in percent; null means unknown. The types are schemas because the data is stored as JSON and read
// back.

import { z } from 'zod'
import type { Quote } from './bars.ts'

const figure = z.number().nullable()
const date = z.string().nullable()

export const FinancialReport = z.object({
  /** Last day of the period. */
  reportDate: z.string(),
  /** When it was published, if the source says so. */
  announcedOn: date.optional(),
  /**
   * The period of revenue, profit and cash flow: the fiscal year up to that day, the three months before it, or a whole
   * year.
   */
  period: z.enum(['year_to_date', 'quarter', 'year']),
  revenue: figure,
  netProfitParent: figure,
  operatingCashFlow: figure,
  /** For the period; with a quarter, for the twelve months that end with it. */
  roePct: figure,
  grossMarginPct: figure,
  revenueYoyPct: figure,
  netProfitYoyPct: figure,
  currency: z.string(),
})
export type FinancialReport = z.infer<typeof FinancialReport>

export const Dividend = z.object({
  exDate: date,
  recordDate: date,
  announcedOn: date,
  /** Before tax, per share. */
  cashPerShare: z.number(),
  currency: z.string(),
})
export type Dividend = z.infer<typeof Dividend>

/** Ratios and size of the company at the end of a day. */
export const Valuation = z.object({
  asOf: z.string(),
  peRatio: figure,
  pbRatio: figure,
  marketValue: figure,
  currency: z.string().nullable(),
})
export type Valuation = z.infer<typeof Valuation>

export const Fundamentals = z.object({
  /** The newest one. */
  report: FinancialReport.nullable(),
  /** The newest first; undecided plans are left out. */
  dividends: z.array(Dividend),
  /** For listings whose quote has no ratios. */
  valuation: Valuation.nullable(),
})
export type Fundamentals = z.infer<typeof Fundamentals>

/** Net money flows by order size; a negative amount is an outflow. */
export const FlowDay = z.object({
  date: z.string(),
  mainNet: z.number(),
  smallNet: z.number(),
  mediumNet: z.number(),
  largeNet: z.number(),
  superLargeNet: z.number(),
  mainNetPct: figure,
})
export type FlowDay = z.infer<typeof FlowDay>

export const Board = z.object({ code: z.string(), name: z.string(), changePct: figure })
export type Board = z.infer<typeof Board>

export const Peer = z.object({
  code: z.string(),
  name: z.string(),
  /** From the profit of the fiscal year so far, extrapolated to a whole year; negative for a loss. */
  peRatio: figure,
  pbRatio: figure,
  marketValue: figure,
})
export type Peer = z.infer<typeof Peer>

/** Companies of one industry. */
export const Peers = z.object({
  board: Board.pick({ code: true, name: true }),
  /** The total number; only the largest are listed, perhaps including the company itself. */
  total: z.number(),
  companies: z.array(Peer),
})
export type Peers = z.infer<typeof Peers>

export const RankedBoard = Board.extend({
  rank: z.number(),
  risingCount: figure,
  fallingCount: figure,
  leader: z.string().nullable(),
  mainNet: figure,
})
export type RankedBoard = z.infer<typeof RankedBoard>

export const RankedEnds = z.object({ top: z.array(RankedBoard), bottom: z.array(RankedBoard) })
export type RankedEnds = z.infer<typeof RankedEnds>

/** The strongest and the weakest boards of the day. */
export const BoardRankings = z.object({ industries: RankedEnds, concepts: RankedEnds })
export type BoardRankings = z.infer<typeof BoardRankings>

// The valuation of a company. A quote's own ratios belong to its price; if it has none, the stored ratios of the
// company are used, all from one day: figures of two days are never combined.

export type CompanyValue = {
  peRatio: number | null
  pbRatio: number | null
  totalMarketValue: number | null
  circulatingMarketValue: number | null
  /** The currency of the market values. */
  currency: string | null
  /** The day of the figures if it is not the quote's. */
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
