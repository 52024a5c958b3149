// The input of an analysis, and its dependencies.

import type { Bar, Fetched, Quote } from '../../market/bars.ts'
import type { VolumePart } from '../../market/day-volumes.ts'
import type { Instrument } from '../../market/instruments.ts'
import type { NewsResult } from '../../news/search.ts'
import type { Mood } from '../codes.ts'
import type { EvidenceRow } from '../evidence/vocabulary.ts'
import type { Narrator } from '../narrator.ts'
import type { RunJob } from '../task.ts'
import type { CompanyQuestions } from './company.ts'
import type { PreviousReport } from './previous.ts'
import type { Names } from './stock-name.ts'

/** What to analyse, for which owner, under which id. */
export type AnalysisInput = RunJob & {
  instrument: Instrument
  /** The names of the listing in the stock index. Sources never change them. */
  names: Names
}

/** All dependencies of an analysis. */
export type Deps = {
  dailyBars(signal: AbortSignal): Promise<Fetched<Bar[]>>
  quote(signal: AbortSignal): Promise<Fetched<Quote>>
  /** A quote of a source other than the known ones, for doubtful prices. Null when there is no such source. */
  otherQuote: ((known: readonly string[], signal: AbortSignal) => Promise<Fetched<Quote>>) | null
  /** Intraday volumes of a running session. Null when they are not requested. */
  dayVolumes: ((signal: AbortSignal) => Promise<Fetched<VolumePart[]>>) | null
  /** Daily bars of the index of the listing's market. Null when they are not requested. */
  indexBars: ((index: Instrument, signal: AbortSignal) => Promise<Fetched<Bar[]>>) | null
  /** Null when company data is not requested. */
  company: CompanyQuestions | null
  /** Null when no search is possible. */
  news: { isConfigured: boolean; search(signal: AbortSignal): Promise<NewsResult> } | null
  /** The previous report. */
  previous(): Promise<PreviousReport | null>
  mood(): Promise<Mood | null>
  /** The method's results over bars of this market, or over the samples; null when they were not computed. */
  evidenceRows(isSample: boolean): Promise<EvidenceRow[] | null>
  /** Null: all texts are written by code. */
  narrator: Narrator | null
  deadlines: { dailyBarsMs: number; quoteMs: number; companyMs: number; newsMs: number; modelMs: number }
}
