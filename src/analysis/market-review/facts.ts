// The facts about a region before anything is written. Percentages are in percent; null means unknown.

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
  /** High minus low, in percent of the previous close. */
  amplitude: number | null
  /** The session of the figures. */
  date: string
  provenance: Provenance | null
  /** The warnings of checks as text; null when there are none. */
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

/** Missing data, because of which the review says less. */
export type Gap = { what: GapKind; detail: string | null }

export type RegionFacts = {
  region: Region
  language: ReportLanguage
  /** The reviewed session. */
  date: string
  indices: IndexFact[]
  breadth: Breadth | null
  boards: BoardRankings | null
  /** Net flow of the main money by industry, the strongest first; empty when no source has it. */
  flows: FlowFact[]
  overnight: IndexFact[]
  news: ReviewNews[]
  gaps: Gap[]
  provenance: Provenance | null
  /** The session is not over, so the figures still change. */
  isPartial: boolean
  runs: ProviderRun[]
}
