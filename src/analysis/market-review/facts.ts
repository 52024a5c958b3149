// What a review knows of a region before anything is written about it. Percentages in percent; null is "not told".

import type { Provenance, ProviderRun } from '../../market/bars.ts'
import type { BoardRankings } from '../../market/company.ts'
import type { GapKind } from '../codes.ts'
import type { ReportLanguage } from '../schemas.ts'
import type { Region } from './regions.ts'

export type IndexFact = {
  code: string
  key: string
  name: string
  current: number
  change: number
  changePct: number
  open: number | null
  high: number | null
  low: number | null
  volume: number | null
  /** In the region's currency. */
  amount: number | null
  /** High less low, of the close before, in percent. */
  amplitude: number | null
  /** The session that the figures are of. */
  date: string
  provenance: Provenance | null
  /** What a check warns of, in words; null where none does. */
  checks: string | null
  /** Closing prices of the last sessions, oldest first. */
  closes: number[]
}

export type Breadth = {
  up: number
  down: number
  flat: number
  limitUp: number
  limitDown: number
  /** In the region's unit of turnover. */
  totalAmount: number
}

export type ReviewNews = { title: string; snippet: string; source: string; publishedDate: string | null; url: string }

export type FlowFact = { name: string; mainNet: number }

/** What the review would say more about. */
export type Gap = { what: GapKind; detail: string | null }

export type RegionFacts = {
  region: Region
  language: ReportLanguage
  /** The session under review. */
  date: string
  indices: IndexFact[]
  breadth: Breadth | null
  boards: BoardRankings | null
  /** Net money of the main players, by industry, the strongest first; empty when nobody told. */
  flows: FlowFact[]
  overnight: IndexFact[]
  news: ReviewNews[]
  gaps: Gap[]
  provenance: Provenance | null
  /** The session is not over, so the figures still change. */
  isPartial: boolean
  runs: ProviderRun[]
}
